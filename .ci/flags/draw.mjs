// Builds the archive of all flags, and its version. Usage: node draw.mjs TOOLS, from the root of the project

import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { availableParallelism } from "node:os";
import { join, resolve } from "node:path";
import { Worker, isMainThread, parentPort, workerData } from "node:worker_threads";

import { imageMaker } from "./images.mjs";
import { flags } from "./sources.mjs";

const FOLDER = "shared/flags/src";
// Makes the archive reproducible.
const TIME = "1980-01-01T00:00:00";

// Draws every flag's images, on all cores.
async function allImages(tools) {
  const threads = availableParallelism();
  const batches = Array.from({ length: threads }, (_, first) => new Promise((done, failed) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: { tools, first, threads } });
    worker.once("message", done).once("error", failed);
  }));
  return (await Promise.all(batches)).flat().sort(([a], [b]) => (a < b ? -1 : 1));
}

async function imagesForThread({ tools, first, threads }) {
  const { images } = await imageMaker(tools);
  const drawn = [];
  for (const flag of flags(tools).filter((_, index) => index % threads === first)) drawn.push(...(await images(flag)));
  return drawn;
}

// PNGs are already compressed.
function archive(tools, images) {
  const { zipSync } = createRequire(join(tools, "package.json"))("fflate");
  const entries = images.map(([path, bytes]) => [path, [bytes, { level: path.endsWith(".svg") ? 9 : 0, mtime: TIME }]]);
  return zipSync(Object.fromEntries(entries));
}

if (isMainThread) {
  const tools = resolve(process.argv[2]);
  const images = await allImages(tools);
  const zip = archive(tools, images);
  const version = createHash("sha256").update(zip).digest("hex").slice(0, 8);
  writeFileSync(join(FOLDER, "images.zip"), zip);
  writeFileSync(join(FOLDER, "version.txt"), version);
  console.log(`${images.length} images, ${zip.length} bytes, version ${version}`);
} else {
  parentPort.postMessage(await imagesForThread(workerData));
}
