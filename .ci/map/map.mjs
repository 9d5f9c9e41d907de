// Draws the map: one path per state. Neighbors share their border, which is simplified once for both.

import { createRequire } from "node:module";
import { join } from "node:path";

import { area, crossings, linesOf } from "./lines.mjs";
import { BOX, BOXES, SIZE, projection } from "./layout.mjs";
import { states } from "./sources.mjs";

// Relative to the root of the project.
export const FILE = "functions/site/assets/page/map.svg";
// In square units: the smallest triangle of a border, and the smallest island.
const MIN_DETAIL = 1.6;
const MIN_ISLAND = 4;
// The smallest ring after simplification; DC is not much larger.
const MIN_RING = 2;
// Shares of MIN_DETAIL to try for lines that cross.
const OTHER_DETAILS = [2, 4, 0.5, 0.25];

const LABELS = 'font-size="38" text-anchor="middle" dominant-baseline="central" pointer-events="none" aria-hidden="true"';

// Returns the text of the SVG.
export function map(tools) {
  const outlines = simplify(tools, projectedStates(tools));
  const codes = [...new Set([...outlines.keys(), ...BOXES.map(({ code }) => code)])].sort();
  const paths = codes.map((code) => {
    const boxes = BOXES.filter((box) => box.code === code).map(boxData);
    return `<path id="${code}" d="${(outlines.get(code) ?? []).map(ringData).join("")}${boxes.join("")}"/>`;
  });
  const labels = BOXES.map(({ code, x, y }) => (
    `<text data-state="${code}" x="${x + BOX.width / 2}" y="${y + BOX.height / 2}">${code.slice(3)}</text>`
  ));
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${SIZE.join(" ")}">`,
    '<g class="map-states" fill="currentColor">',
    ...paths,
    "</g>",
    `<g class="map-labels" ${LABELS}>`,
    ...labels,
    "</g>",
    "</svg>\n",
  ].join("\n");
}

// All states with a shape, with coordinates in the viewBox that are not rounded.
export function projectedStates(tools) {
  return states(tools).map(({ code, polygons }) => {
    const project = projection(code);
    return { code, polygons: polygons.map((rings) => rings.map((ring) => ring.map(project))) };
  });
}

// Returns each state's rings by code, with whole coordinates.
function simplify(tools, projected) {
  const require = createRequire(join(tools, "package.json"));
  const { feature } = require("topojson-client");
  const { topology } = require("topojson-server");
  const { filter, filterAttachedWeight, planarRingArea, presimplify } = require("topojson-simplify");
  const objects = projected.map(({ code, polygons }) => [code, { type: "MultiPolygon", coordinates: polygons }]);
  const detailed = topology(Object.fromEntries(objects));
  const shown = filter(detailed, filterAttachedWeight(detailed, MIN_ISLAND, planarRingArea));
  const simple = presimplify(shown);
  simple.arcs = withoutCrossings(simple.arcs);
  return new Map(Object.entries(simple.objects).map(([code, object]) => {
    const { coordinates } = feature(simple, object).geometry;
    return [code, coordinates.flat().filter((ring) => area([ring]) >= MIN_RING)];
  }));
}

// Draws the arcs with less or more detail where they would cross.
function withoutCrossings(weighted) {
  const arcs = weighted.map((arc) => round(arc, MIN_DETAIL));
  for (const share of OTHER_DETAILS) {
    const crossing = crossings(arcs.flatMap((arc, index) => linesOf(arc).map((ends) => ({ ends, of: index }))));
    for (const index of new Set(crossing.flatMap(([line, other]) => [line.of, other.of]))) {
      arcs[index] = round(weighted[index], share * MIN_DETAIL);
    }
  }
  return arcs;
}

// Rounds the coordinates, and removes repeated points and those with less weight.
function round(arc, detail) {
  const points = arc.filter(([, , weight]) => weight >= detail).map(([x, y]) => [Math.round(x), Math.round(y)]);
  return points.filter(([x, y], index) => index === 0 || x !== points[index - 1][0] || y !== points[index - 1][1]);
}

function ringData(ring) {
  const steps = ring.slice(1, -1).flatMap(([x, y], index) => [x - ring[index][0], y - ring[index][1]]);
  return `M${numbers(ring[0])}l${numbers(steps)}z`;
}

function numbers(values) {
  return values.join(" ").replaceAll(" -", "-");
}

function boxData({ x, y }) {
  const { width, height, radius: r } = BOX;
  const corner = (dx, dy) => `a${r} ${r} 0 0 1 ${numbers([dx, dy])}`;
  return `M${x + r} ${y}h${width - 2 * r}${corner(r, r)}v${height - 2 * r}${corner(-r, r)}`
    + `h${2 * r - width}${corner(-r, -r)}v${2 * r - height}${corner(r, -r)}z`;
}
