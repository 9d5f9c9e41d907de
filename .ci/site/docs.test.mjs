// The documentation: RapiDoc on the description of the API.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { KEY, URL_OF_SERVICE, inTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

/** The ids that RapiDoc gives to operations, such as `post-/v1/format`. */
const operationIds = ({ paths }) => Object.entries(paths).flatMap(([path, methods]) =>
  Object.keys(methods).filter((name) => ["get", "post"].includes(name))
    .map((method) => `${method}-${path.replace(/[{}]/g, "-")}`));

/** Tries an operation, and gives status and body of the response. */
async function tryOut(tab, operation, path) {
  const [response] = await Promise.all([
    tab.waitForResponse((answered) => new URL(answered.url()).pathname.startsWith(path)),
    tab.locator(`[id="${operation}"]`).getByRole("button", { name: "Try" }).click(),
  ]);
  return { status: response.status(), body: await response.json() };
}

for (const at of ["/docs", "/docs/"]) {
  test(`${at} shows every operation, and tries one with the key of the tab`, () => inTab(at, {}, async (tab) => {
    await tab.getByText("/v1/carriers").first().waitFor();
    const description = await (await fetch(`${URL_OF_SERVICE}/openapi.json`)).json();
    const ids = await tab.locator("rapi-doc").evaluate((docs) =>
      [...docs.shadowRoot.querySelectorAll("[id]")].map(({ id }) => id));
    const missing = operationIds(description).filter((id) => !ids.includes(id));
    assert.deepEqual(missing, []);

    const { status, body } = await tryOut(tab, "get-/v1/carrier/-ocn-", "/v1/carrier/");
    assert.equal(status, 200, JSON.stringify(body));
    assert.match(body.ocn, /^\w{4}$/);
    assert.equal(await tab.evaluate(() => localStorage.length), 0, "the key is stored nowhere else");
    const shown = await tab.locator("rapi-doc").evaluate((docs) => {
      const fields = [...docs.shadowRoot.querySelectorAll("input, textarea")].map((field) => field.value);
      return docs.shadowRoot.innerHTML + fields.join();
    });
    assert.ok(!shown.includes(KEY), "the key is shown");
  }));
}

test("the documentation without a key is refused as any client is", () =>
  inTab("/docs#get-/v1/carriers", { key: null, expected: /status of 401/ }, async (tab) => {
    assert.equal((await tryOut(tab, "get-/v1/carriers", "/v1/carriers")).status, 401);
  }));

test("the documentation follows the colors of the system, and leads back", () =>
  inTab("/docs", { scheme: "dark" }, async (tab) => {
    await tab.getByText("/v1/carriers").first().waitFor();
    assert.equal(await tab.locator("rapi-doc").getAttribute("theme"), "dark");
    await tab.getByRole("link", { name: "Telephone numbers" }).click();
    await tab.getByRole("heading", { name: "Look up any phone number" }).waitFor();
    assert.equal(await tab.evaluate(() => sessionStorage.getItem("tnr-api-key")), KEY);
  }));

test("on a narrow screen the documentation is read without scrolling sideways", () =>
  inTab("/docs", { width: 360 }, async (tab) => {
    await tab.getByText("Look up a carrier").first().waitFor();
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }));
