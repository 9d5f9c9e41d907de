// Draws one flag's images: an SVG, and a PNG in each size.

import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";

// PNG sizes in pixels. All are 3:2, regardless of the flag.
export const SIZES = [[48, 32], [240, 160], [480, 320]];
// Maximum colors in a palette. A PNG with more loses the least visible ones; all others are exact.
const MAX_COLORS = 256;
// Decimal places in coordinates, fewest first.
const PRECISIONS = [0, 1, 2, 3];
// Maximum difference between a drawing with rounded coordinates or fewer colors and the original: the mean over all
// channels, and the share of pixels with a visibly different channel. A different flag differs by far more.
export const MAX_DIFFERENCE = { mean: 0.5, visible: 0.002 };
const VISIBLE = 64;

// Loads the libraries from the folder that `install` created. Returns functions that draw a flag's images and read an
// image's pixels.
export async function imageMaker(tools) {
  const require = createRequire(join(tools, "package.json"));
  const load = (name) => import(pathToFileURL(require.resolve(name)));
  const wasm = (name) => readFileSync(require.resolve(name));

  // WebAssembly, so every machine draws the same bytes.
  const { initWasm, Resvg } = require("@resvg/resvg-wasm");
  await initWasm(wasm("@resvg/resvg-wasm/index_bg.wasm"));
  const { default: optimizePng, init } = await load("@jsquash/oxipng/optimise.js");
  await init(await WebAssembly.compile(wasm("@jsquash/oxipng/codec/pkg/squoosh_oxipng_bg.wasm")));
  const { optimize } = await load("svgo");
  const UPNG = require("upng-js");

  const pixels = (svg, size) => {
    const drawing = new Resvg(fitToSize(svg, size));
    const image = drawing.render();
    const drawn = divideByOpacity(image.pixels).buffer;
    image.free();
    drawing.free();
    return drawn;
  };

  const pixelsOfPng = (bytes, size) => {
    const decoded = UPNG.decode(bytes);
    if (decoded.width !== size[0] || decoded.height !== size[1]) throw new Error("an image has the wrong size");
    return UPNG.toRGBA8(decoded)[0];
  };

  const shorten = (svg) => {
    const original = roundCoordinates(optimize, svg, 6);
    const drawing = pixels(original, SIZES[2]);
    const candidates = PRECISIONS.map((precision) => () => roundCoordinates(optimize, svg, precision));
    const fit = candidates.find((candidate) => isWithin(MAX_DIFFERENCE, difference(pixels(candidate(), SIZES[2]), drawing)));
    return fit ? fit() : original;
  };

  const png = async (svg, size) => {
    const drawing = pixels(svg, size);
    // With a limit, the encoder merges similar colors even when there are few; 0 prevents that.
    const encoded = UPNG.encode([drawing], ...size, fitsPalette(drawing) ? 0 : MAX_COLORS);
    return new Uint8Array(await optimizePng(encoded, { level: 2 }));
  };

  const images = async ({ path, svg }) => {
    const published = path.startsWith("states/") ? shorten(svg) : svg;
    assertIsDrawing(path, published);
    const files = [[`${path}.svg`, new TextEncoder().encode(published)]];
    for (const [width, height] of SIZES) {
      files.push([`${path}-${width}x${height}.png`, await png(published, [width, height])]);
    }
    return files;
  };

  return { images, pixels, pixelsOfPng };
}

// Rounds coordinates to `precision` decimals, and sets a viewBox instead of a size.
function roundCoordinates(optimize, svg, precision) {
  const overrides = {
    convertTransform: { floatPrecision: 5, transformPrecision: 7 },
    cleanupNumericValues: { floatPrecision: 3 },
    inlineStyles: { onlyMatchedOnce: false },
  };
  const plugins = [{ name: "preset-default", params: { overrides } }, "removeDimensions", "removeScripts"];
  return optimize(svg, { floatPrecision: precision, plugins }).data;
}

// Scales and centers the document in an image of this size, with its edges on whole pixels.
function fitToSize(svg, [width, height]) {
  const [root] = /<svg[^>]*>/.exec(svg);
  const attribute = (name) => new RegExp(`\\s${name}=["']([^"']*)`).exec(root)?.[1];
  const viewBox = attribute("viewBox") ?? `0 0 ${parseFloat(attribute("width"))} ${parseFloat(attribute("height"))}`;
  const [, , ownWidth, ownHeight] = viewBox.split(/[ ,]+/).map(Number);
  const scale = Math.min(width / ownWidth, height / ownHeight);
  const [w, h] = [Math.round(ownWidth * scale), Math.round(ownHeight * scale)];
  const place = `x="${(width - w) >> 1}" y="${(height - h) >> 1}" width="${w}" height="${h}"`;
  const strippedRoot = root.replace(/\s(x|y|width|height|viewBox|preserveAspectRatio)=(["']).*?\2/g, "");
  const inner = strippedRoot.replace("<svg", `<svg ${place} viewBox="${viewBox}" preserveAspectRatio="none"`);
  const document = svg.slice(svg.indexOf(root)).replace(root, () => inner);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}">${document}</svg>`;
}

// Converts to PNG pixels: in a drawing, each color is multiplied by its opacity.
function divideByOpacity(pixels) {
  for (let at = 0; at < pixels.length; at += 4) {
    const opacity = pixels[at + 3] / 255;
    if (opacity === 0 || opacity === 1) continue;
    for (let channel = at; channel < at + 3; channel += 1) pixels[channel] = Math.floor(pixels[channel] / opacity + 0.5);
  }
  return pixels;
}

// True if a PNG can keep all colors in this drawing.
export function fitsPalette(drawing) {
  const colors = new Set();
  for (const color of new Uint32Array(drawing)) {
    colors.add(color);
    if (colors.size > MAX_COLORS) return false;
  }
  return true;
}

// The difference between two drawings of the same size.
export function difference(drawing, original) {
  const [a, b] = [new Uint8Array(drawing), new Uint8Array(original)];
  let sum = 0;
  let visible = 0;
  for (let at = 0; at < a.length; at += 4) {
    let largest = 0;
    for (let channel = at; channel < at + 4; channel += 1) {
      const distance = Math.abs(a[channel] - b[channel]);
      sum += distance;
      largest = Math.max(largest, distance);
    }
    if (largest > VISIBLE) visible += 1;
  }
  return { mean: sum / a.length, visible: (visible * 4) / a.length };
}

export function isWithin(limit, { mean, visible }) {
  return mean < limit.mean && visible < limit.visible;
}

// Text would need a font, and a browser must not run or fetch anything for an image.
function assertIsDrawing(path, svg) {
  const found = /<(script|style|text|image|foreignObject|a)\b|\son\w+=|\bhref="(?!#)|url\((?!#)|<!ENTITY/i.exec(svg);
  if (found) throw new Error(`${path}.svg contains ${found[0]}`);
}
