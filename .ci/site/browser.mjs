// A browser that fails a test if a page contacts another host, breaks its content security policy, or logs an error.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";

const require = createRequire(`${process.env.SITE_TOOLS}/`);
const { chromium } = require("playwright-core");

export const SERVICE_URL = process.env.TNR_URL;
export const KEY = process.env.TNR_KEY;
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const ARGUMENTS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

let browser;

export async function startBrowser() {
  browser = await chromium.launch({ executablePath: "/usr/bin/chromium", args: ARGUMENTS });
}

export const stopBrowser = () => browser.close();

/**
 * Opens one of the service's pages in a tab with a new profile, and calls `test` with it. Appends `path` to the
 * service's URL. `expected` matches the errors that the test provokes.
 */
export async function withTab(path, options, test) {
  const { key = KEY, width = 1280, height = 900, scheme = "light", scale = 1, touch = false, expected = null } = options;
  const context = await browser.newContext({
    viewport: { width, height }, colorScheme: scheme, deviceScaleFactor: scale, hasTouch: touch,
    isMobile: touch, reducedMotion: "reduce",
    permissions: ["clipboard-read", "clipboard-write"],
  });
  const tab = await context.newPage();
  const errors = [];
  tab.on("console", (message) => {
    const isError = ["error", "warning"].includes(message.type());
    if (isError && !(expected && expected.test(message.text()))) errors.push(message.text());
  });
  tab.on("pageerror", (error) => errors.push(String(error)));
  tab.on("dialog", (dialog) => { errors.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  tab.on("request", (request) => {
    const { origin, protocol } = new URL(request.url());
    if (origin !== new URL(options.base ?? SERVICE_URL).origin && protocol !== "data:") {
      errors.push(`request to ${request.url()}`);
    }
  });
  await tab.addInitScript((stored) => {
    const isNew = sessionStorage.getItem("visited") === null;
    sessionStorage.setItem("visited", "yes");
    if (stored && isNew) sessionStorage.setItem("tnr-api-key", stored);
    addEventListener("securitypolicyviolation", (event) => {
      console.error(`the policy blocked ${event.blockedURI}: ${event.violatedDirective}`);
    });
  }, key);
  try {
    await tab.goto((options.base ?? SERVICE_URL) + path);
    await test(tab, context);
    assert.deepEqual(errors, []);
  } finally {
    await context.close();
  }
}

/** Opens a page from another site in a tab with a new profile, and calls `test` with it. */
export async function withForeignPage(url, test) {
  const context = await browser.newContext();
  try {
    const tab = await context.newPage();
    await tab.goto(url);
    await test(tab);
  } finally {
    await context.close();
  }
}

/** Waits for a result other than an example. */
export async function waitForResult(tab) {
  await tab.locator("#introduction[hidden] ~ .output #result:not([aria-busy]) > *").first().waitFor();
  return tab.locator("#result");
}

/** Returns true if the top of an element is in the window. */
export const isInView = (element) => element.evaluate((shown) => {
  const { top, height } = shown.getBoundingClientRect();
  return top >= 0 && top + Math.min(height, 40) <= innerHeight;
});

/** Returns the serious accessibility violations. */
export async function violations(tab) {
  // Runs outside the page, whose policy would forbid it.
  const session = await tab.context().newCDPSession(tab);
  await session.send("Runtime.evaluate", { expression: AXE });
  const evaluated = await session.send("Runtime.evaluate", {
    expression: "axe.run(document, { resultTypes: ['violations'] }).then((found) => JSON.stringify(found.violations))",
    awaitPromise: true, returnByValue: true,
  });
  const found = JSON.parse(evaluated.result.value);
  const serious = found.filter(({ impact }) => ["serious", "critical", "moderate"].includes(impact));
  return serious.map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.html).join(", ").slice(0, 300)}`);
}
