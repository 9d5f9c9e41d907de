// The documentation: one task at a time, with every operation in the OpenAPI document, samples and a form that sends it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { KEY, SERVICE_URL, withTab, isInView, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

/** The maximum page height in pixels, at a width of 1280. */
const MAX_HEIGHT = 6000;
const TASKS = [
  "overview", "authentication", "numbers", "codes", "lists", "batches", "changes", "limits", "errors", "test-numbers", "status",
];

const ready = (tab) => tab.locator("#filter-form:not([hidden])").waitFor();
const operation = (tab, id) => tab.locator(`[id="${id}"]`);
const heading = (tab, name) => tab.getByRole("heading", { level: 1, name, exact: true });
const isScrolledSideways = (tab) => tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);

/** Follows a link to a part of the page. */
async function open(tab, name) {
  await tab.evaluate((hash) => { location.hash = hash; }, name);
  await tab.waitForFunction((id) => document.getElementById(id)?.closest(".task")?.hidden === false, name);
}

/** Expands all collapsed details, twice, since some are nested. */
async function unfold(tab) {
  for (const depth of [1, 2]) {
    await tab.evaluate(() => { for (const details of document.querySelectorAll(".task:not([hidden]) details")) details.open = true; });
    await tab.waitForFunction(() => [...document.querySelectorAll("details[open]")].every(({ children }) => children.length > 1), depth);
  }
}

/** Sends an operation, and returns the response's status and body. */
async function tryOut(tab, id) {
  const [response] = await Promise.all([
    tab.waitForResponse((received) => new URL(received.url()).pathname.startsWith("/v1/")),
    operation(tab, id).getByRole("button", { name: "Send request" }).click(),
  ]);
  await operation(tab, id).locator(".tried p").waitFor();
  return { status: response.status(), text: await response.text() };
}

for (const path of ["/docs", "/docs/"]) {
  test(`${path} has every operation in one task, and sends one with the tab's key`, () => withTab(`${path}#getCarrier`, {}, async (tab) => {
    await ready(tab);
    const { paths } = await (await fetch(`${SERVICE_URL}/openapi.json`)).json();
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    const shown = await tab.locator(".operation").evaluateAll((all) => all.map(({ id }) => id));
    assert.deepEqual(shown.sort(), ids.sort());
    const named = await tab.locator(".task").evaluateAll((all) => all.flatMap(({ dataset }) => dataset.operations?.split(" ") ?? []));
    assert.deepEqual(named.sort(), ids.sort(), "a task names each operation");
    const { status, text } = await tryOut(tab, "getCarrier");
    assert.equal(status, 200, text);
    assert.deepEqual(JSON.parse(await operation(tab, "getCarrier").locator(".tried pre").innerText()), JSON.parse(text));
    assert.equal(await tab.evaluate(() => localStorage.length), 0, "the key is stored nowhere else");
    assert.ok(!(await tab.content()).includes(KEY), "the key is shown");
  }));
}

test("the requests in the text work, the first has the response shown, and every link has a target", () =>
  withTab("/docs", {}, async (tab) => {
    await ready(tab);
    const paths = await tab.locator(".request").evaluateAll((all) => all.map(({ dataset }) => dataset.path));
    const [first, ...others] = await Promise.all(paths.map((path) =>
      fetch(SERVICE_URL + path, { headers: { Authorization: `Bearer ${KEY}` } })));
    assert.equal(await tab.getByLabel("Response", { exact: true }).innerText(), await first.text());
    assert.ok(others.length > 0 && others.every(({ ok }) => ok), paths.join());
    assert.deepEqual(await tab.locator("a[href^='#']").evaluateAll((all) => all.map(({ hash }) => hash)
      .filter((hash) => !document.getElementById(hash.slice(1)))), []);
  }));

test("one task is shown at a time, and every link to a part of it works", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  assert.equal(await tab.locator(".task:visible").count(), 1);
  assert.equal(await tab.title(), "Overview · API documentation");
  await tab.getByRole("link", { name: "Batches" }).first().click();
  await heading(tab, "Batches").waitFor();
  assert.equal(await tab.title(), "Batches · API documentation");
  assert.equal(await tab.locator(".task:visible").count(), 1);
  assert.equal(await tab.locator("#contents [aria-current=page]").innerText(), "Batches");
  assert.deepEqual(await tab.locator(".operation[open]").evaluateAll((all) => all.map(({ id }) => id)), ["formatNumbers"]);
  await tab.goBack();
  await heading(tab, "Overview").waitFor();
  for (const [name, id] of [
    ["findNumbers", "findNumbers"], ["get-/v1/format/{tn}", "formatNumber"], ["get-/v1/npa/%7Bnpa%7D", "getAreaCode"],
    ["listHolders-rate_center", "listHolders-rate_center"], ["rate_limited", "rate_limited"], ["error-not_found", "not_found"],
    ["area-codes", "codes"], ["common", "errors"],
  ]) {
    await tab.goto(`${SERVICE_URL}/docs#${name}`);
    await tab.reload();
    await ready(tab);
    assert.ok(await isInView(operation(tab, id)), name);
    assert.equal(await tab.locator(".task:visible").count(), 1, name);
  }
}));

test("every task has a length that one reads", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  for (const task of TASKS) {
    await open(tab, task);
    const height = await tab.evaluate(() => document.documentElement.scrollHeight);
    assert.ok(height < MAX_HEIGHT, `${task}: ${height}`);
  }
}));

for (const [width, scheme] of [[360, "dark"], [1280, "light"]]) {
  test(`the documentation is accessible and not cut off at ${width} px in ${scheme} colors`, () =>
    withTab("/docs#formatNumbers", { width, scheme, key: null, expected: /status of 401/ }, async (tab) => {
      await ready(tab);
      await tryOut(tab, "formatNumbers");
      for (const task of TASKS) {
        await open(tab, task);
        await unfold(tab);
        assert.equal(await isScrolledSideways(tab), false, `${task} scrolls sideways`);
        // The others use the same components.
        if (["overview", "changes", "errors"].includes(task)) assert.deepEqual(await violations(tab), [], task);
      }
      assert.equal(await tab.getByLabel("Page", { exact: true }).isVisible(), width < 860);
    }));
}

test("the filter finds endpoints, parameters and errors from the keyboard", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  const names = () => tab.locator("#matches code").allInnerTexts();
  await tab.keyboard.press("/");
  await tab.keyboard.type("countryColumn");
  assert.deepEqual(await names(), ["countryColumn"]);
  await tab.keyboard.press("Enter");
  await heading(tab, "Batches").waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement.id), "formatNumbers-countryColumn");
  assert.equal(await tab.locator("#contents").isVisible(), true, "the filter is empty again");
  await operation(tab, "formatNumbers").locator("summary").first().focus();
  await tab.keyboard.press("/");
  await tab.keyboard.type("history exchange");
  assert.deepEqual((await names())[0], "GET /v1/npa/{npa}/nxx/{nxx}/history");
  await tab.keyboard.press("ControlOrMeta+A");
  await tab.keyboard.type("limit");
  assert.deepEqual((await names()).slice(0, 3), ["Limits", "429 rate_limited", "limit"]);
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("ArrowDown");
  await tab.keyboard.press("Enter");
  await heading(tab, "Errors").waitFor();
  await tab.keyboard.press("/");
  await tab.keyboard.type("no such thing");
  await tab.locator("#matches").getByText("No matches.").waitFor();
  await tab.keyboard.press("Escape");
  assert.equal(await tab.locator("#contents").isVisible(), true);
}));

test("the documentation's key field retries a rejected request", () =>
  withTab("/docs#listCarriers", { key: null, expected: /status of 401/ }, async (tab) => {
    await ready(tab);
    assert.ok(await isInView(operation(tab, "listCarriers")), "the URL scrolls to its operation");
    assert.equal(await tab.locator("input[type=password]").count(), 1);
    assert.equal((await tryOut(tab, "listCarriers")).status, 401);
    const error = tab.locator("#key-error");
    await error.filter({ hasText: "An API key is required." }).waitFor();
    assert.ok(await isInView(error));
    assert.equal(await tab.evaluate(() => document.activeElement.id), "key");
    await tab.keyboard.type(KEY);
    await tab.keyboard.press("Enter");
    await operation(tab, "listCarriers").getByText(/^200 in /).waitFor();
    assert.ok(await isInView(operation(tab, "listCarriers").locator(".tried")));
  }));

test("every request and response format works", () => withTab("/docs#formatNumbers", {}, async (tab) => {
  await ready(tab);
  const form = operation(tab, "formatNumbers");
  for (const type of ["application/json", "text/csv", "text/plain"]) {
    await form.getByLabel("Content-Type").selectOption(type);
    const { status, text } = await tryOut(tab, "formatNumbers");
    assert.equal(status, 200, text);
  }
  await form.getByLabel("Accept").selectOption("text/csv");
  assert.match((await tryOut(tab, "formatNumbers")).text, /^\w+,/);
}));

const run = promisify(execFile);
const OPERATIONS = ["searchExchanges", "formatNumbers", "findNumbers", "getHealth"];
const PROGRAMS = {
  curl: (code) => ["bash", ["-c", `${code} --silent --fail`]],
  Python: (code) => ["python3", ["-c", code]],
  TypeScript: (code) => ["node", ["--input-type=module", "-e", code]],
};

test("samples in the chosen language run as printed", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  for (const id of OPERATIONS) await open(tab, id);
  const sample = (id) => operation(tab, id).locator("pre").first().textContent();
  await open(tab, "searchExchanges");
  await operation(tab, "searchExchanges").getByLabel("q", { exact: true }).fill("o'sample `id` $(id) \"\\");
  await open(tab, "formatNumbers");
  await operation(tab, "formatNumbers").getByLabel("Content-Type").selectOption("text/csv");
  await operation(tab, "formatNumbers").getByLabel("Accept").selectOption("text/csv");
  for (const [language, program] of Object.entries(PROGRAMS)) {
    await operation(tab, "formatNumbers").getByLabel("Language of all samples").selectOption(language);
    const outputs = OPERATIONS.map(async (id) => {
      const { stdout } = await run(...program(await sample(id)), { env: { ...process.env, TNR_KEY: KEY } });
      return stdout;
    });
    const [search, csv, found, health] = await Promise.all(outputs);
    assert.match(search, /total['"]?: ?0/, language);
    assert.match(csv, /,tn_valid,/, language);
    assert.match(found, /\+13052345678/, language);
    assert.match(health, /healthy/, language);
  }
}));

test("the language of the samples is remembered", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  await tab.getByLabel("Language of all samples").filter({ visible: true }).selectOption("Go");
  await tab.goto(`${SERVICE_URL}/docs#formatNumbers`);
  await tab.reload();
  await ready(tab);
  const code = operation(tab, "formatNumbers").locator("pre").first();
  assert.match(await code.textContent(), /^package main\n[^]*http\.NewRequest\("POST", "http[^"]*\/v1\/format/);
  await tab.getByLabel("Language of all samples").filter({ visible: true }).selectOption("Rust");
  assert.match(await code.textContent(), /ureq::post\("http[^"]*\/v1\/format/);
}));

test("without JavaScript, or if the description fails to load, all text is there and says what is missing", () =>
  withTab("/docs", { expected: /status of 503/ }, async (tab) => {
    const context = await tab.context().browser().newContext({ javaScriptEnabled: false });
    const plain = await context.newPage();
    await plain.goto(`${SERVICE_URL}/docs`);
    assert.match(await plain.locator("noscript p").innerText(), /need JavaScript/);
    assert.equal(await plain.locator(".task:visible").count(), TASKS.length);
    await context.close();
    await tab.route("**/openapi.json", (route) => route.fulfill({ status: 503, json: { error: "service_unavailable" } }));
    await tab.goto(`${SERVICE_URL}/docs#batches`);
    await tab.reload();
    await tab.getByText("Could not load the endpoints (status 503).").filter({ visible: true }).waitFor();
    await open(tab, "errors");
  }));

/** The first cells of a document's table rows that are code, such as errors and test numbers. */
function documented(name) {
  const text = readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8");
  return [...text.matchAll(/^\| `([^`]+)` \|.*\n(?!\|---)/gm)].map(([, value]) => value).sort();
}

test("errors and test numbers are those in docs", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  const shown = (selector) => tab.locator(selector).evaluateAll((all) => all.map(({ textContent }) => textContent).sort());
  const errors = documented("ERRORS.md").filter((name) => !["type", "parameter", "request_id"].includes(name));
  assert.deepEqual(await shown("#error-codes td:first-child code"), errors);
  const anchors = await tab.locator("#error-codes tr[id]").evaluateAll((all) => all.map(({ id }) => id).sort());
  assert.deepEqual(anchors, errors.map((code) => code.toLowerCase().replace(" ", "_")).sort());
  assert.deepEqual(await shown("#test-numbers td:first-child code"), documented("TEST-NUMBERS.md"));
}));

test("the documentation follows the system colors, and links back", () =>
  withTab("/docs", { scheme: "dark" }, async (tab) => {
    await ready(tab);
    assert.equal(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(16, 18, 23)");
    await tab.getByRole("link", { name: "Telephone numbers" }).click();
    await tab.getByLabel("Phone number").waitFor();
    assert.equal(await tab.evaluate(() => sessionStorage.getItem("tnr-api-key")), KEY);
  }));
