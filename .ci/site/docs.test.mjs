// The documentation: every operation in the OpenAPI document, with a form that sends it.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { KEY, SERVICE_URL, withTab, isInView, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const ready = (tab) => tab.locator("#common").waitFor();
const operation = (tab, id) => tab.locator(`[id="${id}"]`);

/** Sends an operation, and returns the response's status and body. */
async function tryOut(tab, id) {
  const [response] = await Promise.all([
    tab.waitForResponse((received) => new URL(received.url()).pathname.startsWith("/v1/")),
    operation(tab, id).getByRole("button", { name: "Send" }).click(),
  ]);
  await operation(tab, id).locator(".tried p").waitFor();
  return { status: response.status(), text: await response.text() };
}

for (const path of ["/docs", "/docs/"]) {
  test(`${path} shows every operation, and sends one with the tab's key`, () => withTab(path, {}, async (tab) => {
    await ready(tab);
    const { paths } = await (await fetch(`${SERVICE_URL}/openapi.json`)).json();
    const ids = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ operationId }) => operationId));
    assert.deepEqual(await tab.locator(".operation").evaluateAll((all) => all.map(({ id }) => id)).then((all) => all.sort()),
      ids.sort());
    const { status, text } = await tryOut(tab, "getCarrier");
    assert.equal(status, 200, text);
    assert.deepEqual(JSON.parse(await operation(tab, "getCarrier").locator(".tried pre").innerText()), JSON.parse(text));
    assert.equal(await tab.evaluate(() => localStorage.length), 0, "the key is stored nowhere else");
    assert.ok(!(await tab.content()).includes(KEY), "the key is shown");
  }));
}

for (const [width, scheme] of [[360, "dark"], [1280, "light"]]) {
  test(`the documentation is accessible and not cut off at ${width} px in ${scheme} colors`, () =>
    withTab("/docs", { width, scheme, key: null, expected: /status of 401/ }, async (tab) => {
      await ready(tab);
      await tryOut(tab, "formatNumbers");
      await tab.evaluate(() => { for (const details of document.querySelectorAll("details")) details.open = true; });
      assert.deepEqual(await violations(tab), []);
      assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), "the page scrolls sideways");
    }));
}

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

test("every request and response format works", () => withTab("/docs", {}, async (tab) => {
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

test("an operation's curl command works", () => withTab("/docs", {}, async (tab) => {
  await ready(tab);
  await operation(tab, "searchExchanges").getByLabel("q", { exact: true }).fill("o'sample `id` $(id)");
  for (const id of ["searchExchanges", "formatNumbers", "getHealth"]) {
    const command = await operation(tab, id).locator(".try .code pre").innerText();
    const shell = promisify(execFile)("bash", ["-c", `${command} --silent --fail`], { env: { ...process.env, TNR_KEY: KEY } });
    assert.equal(typeof JSON.parse((await shell).stdout), "object", id);
  }
}));

test("the documentation follows the system colors, and links back", () =>
  withTab("/docs", { scheme: "dark" }, async (tab) => {
    await ready(tab);
    assert.equal(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor), "rgb(16, 18, 23)");
    await tab.getByRole("link", { name: "Telephone numbers" }).click();
    await tab.getByLabel("Phone number").waitFor();
    assert.equal(await tab.evaluate(() => sessionStorage.getItem("tnr-api-key")), KEY);
  }));
