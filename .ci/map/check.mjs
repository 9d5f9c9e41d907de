// Checks the map of states: it is what draw.mjs draws, it is complete and small, every state keeps its area, neighbors
// keep a common border, and no lines cross. Usage: node check.mjs TOOLS, from the root of the project

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join, resolve } from "node:path";
import { gzipSync } from "node:zlib";

import { SIZE } from "./layout.mjs";
import { area, crossings, linesOf } from "./lines.mjs";
import { FILE, map, projectedStates } from "./map.mjs";

const MAX_BYTES = 45_000;
const MAX_COMPRESSED_BYTES = 20_000;
// The maximum change in a state's area, in square units plus a share of the area.
const MAX_AREA_CHANGE = { units: 11, share: 0.02 };
const CODES = {
  US: "AK AL AR AS AZ CA CO CT DC DE FL GA GU HI IA ID IL IN KS KY LA MA MD ME MI MN MO MP MS MT "
    + "NC ND NE NH NJ NM NV NY OH OK OR PA PR RI SC SD TN TX UT VA VI VT WA WI WV WY",
  CA: "AB BC MB NB NL NS NT NU ON PE QC SK YT",
};

const tools = resolve(process.argv[2]);
const text = readFileSync(FILE, "utf8");
const failures = [];
const expect = (condition, failure) => condition || failures.push(failure);

const compressed = gzipSync(text, { level: 9 }).length;
expect(text === map(tools), `${FILE} differs from what draw.mjs draws`);
expect(text.length <= MAX_BYTES, `${FILE} has ${text.length} bytes, over ${MAX_BYTES}`);
expect(compressed <= MAX_COMPRESSED_BYTES, `${FILE} has ${compressed} compressed bytes, over ${MAX_COMPRESSED_BYTES}`);
const [forbidden] = /<(script|style|image|foreignObject|a)\b|\son\w+=|\bhref=|url\(|<!ENTITY/i.exec(text) ?? [];
expect(!forbidden, `${FILE} contains ${forbidden}`);

const elements = [...text.matchAll(/<path id="([^"]*)" d="([^"]*)"\/>/g)];
const paths = elements.map(([, code, data]) => ({ code, rings: ringsOf(data) }));
const codes = Object.entries(CODES).flatMap(([country, list]) => list.split(" ").map((state) => `${country}-${state}`));
expect(paths.map(({ code }) => code).join() === codes.sort().join(), "the paths are not one per state, in order");
const outside = paths.filter(({ rings }) => rings.flat().some(([x, y]) => x < 0 || y < 0 || x > SIZE[0] || y > SIZE[1]));
expect(outside.length === 0, `outside the picture: ${outside.map(({ code }) => code)}`);

const outlines = new Map(paths.map(({ code, rings }) => [code, rings]));
const sources = projectedStates(tools);
for (const { code, polygons } of sources) {
  const [drawn, expected] = [area(outlines.get(code) ?? []), area(polygons.flat())];
  const allowed = MAX_AREA_CHANGE.units + MAX_AREA_CHANGE.share * expected;
  expect(Math.abs(drawn - expected) < allowed, `${code} has an area of ${drawn}, not ${expected}`);
}

// Each line of the map with the states on its sides, by its ends.
const found = borders([...outlines]);
const original = borders(sources.map(({ code, polygons }) => [code, polygons.flat()]));
const pairs = (lines) => new Set([...lines.values()].flatMap((sides) => (
  sides.flatMap((one) => sides.filter((other) => one < other).map((other) => `${one} ${other}`))
)));
const [neighbors, expectedNeighbors] = [pairs(found), pairs(original)];
for (const pair of expectedNeighbors) expect(neighbors.has(pair), `${pair} have no common border`);
for (const pair of neighbors) expect(expectedNeighbors.has(pair), `${pair} have a common border`);

const pointOf = (text) => text.split(",").map(Number);
const lines = [...found].map(([key, sides]) => ({ ends: key.split(" ").map(pointOf), sides }));
for (const [line, other] of crossings(lines)) failures.push(`${line.sides} and ${other.sides} cross at ${line.ends[0]}`);

if (failures.length > 0) {
  console.error(failures.join("\n"));
  process.exit(1);
}
console.log(`${paths.length} states match the output of .ci/map/draw.mjs, with ${lines.length} lines and `
  + `${neighbors.size} common borders, in ${text.length} bytes (${compressed} compressed)`);

// The rings of a path without its boxes, which have arcs.
function ringsOf(data) {
  return data.split("z").filter((ring) => ring && !ring.includes("a")).map((ring) => {
    const values = ring.match(/-?\d+/g).map(Number);
    let [x, y] = values;
    const points = [[x, y]];
    for (let at = 2; at < values.length; at += 2) points.push([(x += values[at]), (y += values[at + 1])]);
    return [...points, points[0]];
  });
}

function borders(states) {
  const lines = new Map();
  for (const [code, rings] of states) {
    for (const ring of rings) {
      for (const ends of linesOf(ring)) {
        const key = ends.map((end) => end.join()).sort().join(" ");
        lines.set(key, [...(lines.get(key) ?? []), code]);
      }
    }
  }
  return lines;
}
