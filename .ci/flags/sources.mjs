// Which flags there are, and from which package each comes.

import { readdirSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";

// Flags in the package of countries that no phone number can have: of unions, parts and claims.
const NO_COUNTRIES = ["EU", "IC", "XA", "XC", "XO"];
// The territories of the US have codes of their own as countries. Their flag is the same.
const TERRITORIES = ["AS", "GU", "MP", "PR", "VI"];
// The states whose flag has changed since the package of the others was made.
const NEW_FLAGS = ["MN", "MS", "UT"];

// All flags in the order of their paths, each as {path, source, svg}: the path without the ending, the file that
// it comes from, and its text.
export function flags(tools) {
  const folder = (name) => dirname(createRequire(join(tools, "package.json")).resolve(`${name}/package.json`));
  const countries = join(folder("country-flag-icons"), "3x2");
  const states = join(tools, "node_modules", "region-flags", "svg");
  const newStates = join(tools, "node_modules", "us-state-flags", "src", "components", "flags");

  const country = (code) => read(join(countries, `${code}.svg`), code === "NP" ? withoutGround : asItIs);
  const state = (code) => {
    if (TERRITORIES.includes(code)) return country(code);
    if (NEW_FLAGS.includes(code)) return read(join(newStates, `Flag${code}.js`), ofComponent);
    return read(join(states, `US-${code}.svg`), asItIs);
  };
  const countryCodes = codes(countries, /^([A-Z]{2})\.svg$/).filter((code) => !NO_COUNTRIES.includes(code));
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

function asItIs(text) {
  return text;
}

// The flag of Nepal is no rectangle; the package draws it on white paper.
function withoutGround(text) {
  const ground = '<path fill="#FFF" d="M0 0h513v342H0z"/>';
  if (!text.includes(`>${ground}`)) throw new Error("the ground of Nepal's flag is drawn in another way");
  return text.replace(ground, "");
}

// What a component of React draws, as a document.
function ofComponent(text) {
  const [, viewBox] = /viewBox: '([^']*)'/.exec(text);
  const [, drawing] = /__html: `([^`]*)`/.exec(text);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="${viewBox}">${drawing}</svg>`;
}
