// Draws the map of states. Usage: node draw.mjs TOOLS, from the root of the project

import { writeFileSync } from "node:fs";
import { resolve } from "node:path";

import { FILE, map } from "./map.mjs";

const text = map(resolve(process.argv[2]));
writeFileSync(FILE, text);
console.log(`${FILE}: ${text.length} bytes`);
