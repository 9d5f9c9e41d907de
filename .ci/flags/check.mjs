// Compares the flag archive with its source packages: every image looks like its source, PNGs whose colors fit a
// palette are exact, and redrawing some flags gives the same bytes.
// Usage: node check.mjs TOOLS, from the root of the project

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";

import { MAX_DIFFERENCE, SIZES, difference, fitsPalette, imageMaker, isWithin } from "./images.mjs";
import { flags } from "./sources.mjs";

// One of each kind of source, and one with too many colors for a palette; redrawing all takes minutes.
const REDRAWN = ["countries/NP", "countries/XK", "states/CO", "states/MN", "states/PR", "states/RI"];

const tools = resolve(process.argv[2]);
const { images, pixels, pixelsOfPng } = await imageMaker(tools);
const { unzipSync } = createRequire(join(tools, "package.json"))("fflate");
const archive = unzipSync(readFileSync("shared/flags/src/images.zip"));
const failures = [];
let largest = { mean: 0, visible: 0 };

const expected = flags(tools);
const paths = expected.flatMap(({ path }) => [`${path}.svg`, ...SIZES.map((size) => `${path}-${size.join("x")}.png`)]);
for (const path of paths.filter((path) => !archive[path])) failures.push(`${path} is missing`);
for (const path of Object.keys(archive).filter((path) => !paths.includes(path))) failures.push(`${path} has no source`);

for (const flag of expected) {
  if (!archive[`${flag.path}.svg`]) continue;
  const svg = Buffer.from(archive[`${flag.path}.svg`]).toString();
  if (flag.path.startsWith("countries/") && svg !== flag.svg) failures.push(`${flag.path}.svg differs from its source`);
  // Compares an SVG with its source, and a PNG with the SVG.
  if (svg !== flag.svg) compare(`${flag.path}.svg`, pixels(svg, SIZES[2]), pixels(flag.svg, SIZES[2]));
  for (const size of SIZES) {
    const name = `${flag.path}-${size.join("x")}.png`;
    if (archive[name]) comparePng(name, pixelsOfPng(archive[name], size), pixels(svg, size));
  }
  if (!REDRAWN.includes(flag.path)) continue;
  for (const [path, bytes] of await images(flag)) {
    if (archive[path] && Buffer.compare(archive[path], bytes) !== 0) failures.push(`${path} has different bytes when it is redrawn`);
  }
}

function comparePng(name, found, expected) {
  if (Buffer.compare(new Uint8Array(found), new Uint8Array(expected)) === 0) return;
  if (fitsPalette(expected)) failures.push(`${name} has different pixels than its SVG`);
  else compare(name, found, expected);
}

function compare(name, found, expected) {
  const { mean, visible } = difference(found, expected);
  largest = { mean: Math.max(largest.mean, mean), visible: Math.max(largest.visible, visible) };
  if (!isWithin(MAX_DIFFERENCE, { mean, visible })) failures.push(`${name} looks different: ${mean} mean, ${visible} visible`);
}

if (failures.length > 0) {
  console.error(failures.join("\n"));
  process.exit(1);
}
console.log(`${paths.length} images match the output of .ci/flags/draw.mjs; they differ from their sources by at most`, largest);
