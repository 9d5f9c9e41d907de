// The list of flags, and the package each comes from.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Flags in the country package without phone numbers of their own: unions, regions and claims.
const EXCLUDED_FLAGS = ["EU", "IC", "XA", "XC", "XO"];
// US territories have their own country codes, with the same flag.
const TERRITORIES = ["AS", "GU", "MP", "PR", "VI"];
// States whose flag changed after the other package was released.
const NEW_FLAGS = ["MN", "MS", "UT"];

// All flags ordered by path, each as {path, source, svg}: the path without its extension, its source file and its text.
export function flags(tools) {
  const folder = (name) => dirname(createRequire(join(tools, "package.json")).resolve(`${name}/package.json`));
  const countries = join(folder("country-flag-icons"), "3x2");
  const states = join(tools, "node_modules", "region-flags", "svg");
  const newStates = join(tools, "node_modules", "us-state-flags", "src", "components", "flags");

  const country = (code) => read(join(countries, `${code}.svg`), code === "NP" ? removeBackground : unchanged);
  const state = (code) => {
    if (TERRITORIES.includes(code)) return country(code);
    if (NEW_FLAGS.includes(code)) return read(join(newStates, `Flag${code}.js`), svgFromComponent);
    return read(join(states, `US-${code}.svg`), unchanged);
  };
  const countryCodes = codes(countries, /^([A-Z]{2})\.svg$/).filter((code) => !EXCLUDED_FLAGS.includes(code));
  const stateCodes = [...codes(states, /^US-([A-Z]{2})\.svg$/), ...TERRITORIES].sort();
  return [
    ...countryCodes.map((code) => ({ path: `countries/${code}`, ...country(code) })),
    ...stateCodes.map((code) => ({ path: `states/${code}`, ...state(code) })),
  ];
}

function codes(folder, pattern) {
  return readdirSync(folder).flatMap((file) => pattern.exec(file)?.[1] ?? []).sort();
}

function read(source, toSvg) {
  return { source, svg: toSvg(readFileSync(source, "utf8")) };
}

function unchanged(text) {
  return text;
}

// Nepal's flag is not rectangular; the package draws it on white.
function removeBackground(text) {
  const background = '<path fill="#FFF" d="M0 0h513v342H0z"/>';
  if (!text.includes(`>${background}`)) throw new Error("the background of Nepal's flag is drawn differently");
  return text.replace(background, "");
}

// Converts a React component to an SVG document.
function svgFromComponent(text) {
  const [, viewBox] = /viewBox: '([^']*)'/.exec(text);
  const [, drawing] = /__html: `([^`]*)`/.exec(text);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${drawing}</svg>`;
}
