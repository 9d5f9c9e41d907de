// Feedback before, during and after a lookup: examples, spinner, results and errors.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, waitForResult, withTab, isInView, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const PHONE = { width: 360, height: 500, touch: true };
const FIRST_FIELDS = { "#number": "number-tn", "#area-code": "area-npa", "#carriers": "carriers-q", "#search": "search-q", "#changes": "changes-since", "#countries": "countries-country" };

const lookUp = async (tab, number) => {
  await tab.getByLabel("Phone number").fill(number);
  await tab.getByRole("button", { name: "Look up" }).click();
};

test("the form comes first, and has focus unless that would open an on-screen keyboard", async () => {
  for (const [options, isFocused] of [[{}, true], [PHONE, false]]) {
    await withTab("/", { key: null, ...options }, async (tab) => {
      for (const [view, field] of Object.entries(FIRST_FIELDS)) {
        await tab.goto(`${SERVICE_URL}/${view}`);
        await tab.reload();
        await tab.locator("#introduction").waitFor();
        const { y } = await tab.locator(`#${field}`).boundingBox();
        assert.ok(y < 160, `${view} starts at ${y}`);
        assert.equal(await tab.evaluate(() => document.activeElement.id) === field, isFocused, view);
      }
    });
  }
});

test("each view says what it is for without a request", () =>
  withTab("/", { key: null }, async (tab) => {
    const requested = [];
    tab.on("request", (request) => requested.push(new URL(request.url()).pathname));
    for (const view of Object.keys(FIRST_FIELDS)) {
      await tab.goto(`${SERVICE_URL}/${view}`);
      assert.match(await tab.locator("#about").innerText(), /^\w.+\.$/, view);
      const hasExample = view === "#number";
      for (const shown of ["#result .card", "#code", "#introduction .badge"]) {
        assert.equal(await tab.locator(shown).isVisible(), hasExample, `${view} ${shown}`);
      }
      assert.equal(await tab.locator("#announcement").innerText(), "");
    }
    const footer = ["/v1/stats", "/v1/sources"];
    assert.deepEqual(requested.filter((path) => path.startsWith("/v1/") && !footer.includes(path)), []);
  }));

test("a result scrolls into view on a small screen, and gets focus", () => withTab("/", PHONE, async (tab) => {
  await lookUp(tab, "305 234 5678");
  const heading = (await waitForResult(tab)).getByRole("heading", { name: "+1 305 234 5678" });
  await heading.waitFor();
  assert.ok(await isInView(heading));
  assert.ok(await heading.evaluate((shown) => shown === document.activeElement));
}));

test("a result that loads with the page does not take focus", () =>
  withTab("/#number?tn=%2B13052345678", {}, async (tab) => {
    await waitForResult(tab);
    assert.equal(await tab.evaluate(() => document.activeElement.tagName), "BODY");
  }));

test("a spinner appears only after 200 ms", () => withTab("/", {}, async (tab) => {
  let release;
  await tab.route("**/v1/format/**", async (route) => {
    await new Promise((released) => { release = released; });
    await route.continue();
  });
  await tab.clock.install();
  await tab.clock.pauseAt(Date.now() + 60_000);
  await lookUp(tab, "305 234 5678");
  await tab.locator("#result[aria-busy]").waitFor();
  const spinner = tab.locator("#result.slow");
  await tab.clock.runFor(199);
  assert.equal(await spinner.count(), 0);
  await tab.clock.runFor(1);
  assert.equal(await spinner.count(), 1);
  const { animationName, content } = await spinner.evaluate((shown) => {
    const { animationName: name, content: text } = getComputedStyle(shown, "::before");
    return { animationName: name, content: text };
  });
  assert.deepEqual([animationName, content], ["none", '"Loading…"'], "reduced motion shows a still spinner");
  release();
  await waitForResult(tab);
  assert.equal(await spinner.count(), 0);
}));

test("a validation error appears next to its field", () =>
  withTab("/#area-code", { ...PHONE, expected: /status of 400/ }, async (tab) => {
    await tab.locator("#area-npa").fill("41");
    await tab.getByRole("button", { name: "Look up" }).click();
    const error = tab.locator("#area-npa-error");
    await error.filter({ hasText: "Area code (NPA) must be exactly 3 digits, got '41'" }).waitFor();
    assert.ok(await isInView(error));
    assert.equal(await tab.evaluate(() => document.activeElement.id), "area-npa");
    assert.match(await tab.locator("#area-npa").getAttribute("aria-describedby"), /^area-npa-error area-hint$/);
    await tab.locator("#area-npa").fill("415");
    await tab.keyboard.press("Enter");
    await waitForResult(tab);
    assert.equal(await tab.locator("#area-npa").getAttribute("aria-describedby"), "area-hint");
  }));

const backgroundColor = (card) => card.evaluate((shown) => getComputedStyle(shown).backgroundColor);

test("a missing record shows a note, and an outage an error with a retry button", () =>
  withTab("/#area-code?npa=999", { expected: /status of 404|ERR_FAILED/ }, async (tab) => {
    const card = tab.locator(".failure");
    await card.getByRole("heading", { name: "Not found" }).waitFor();
    assert.match(await card.innerText(), /No data found for NPA 999/);
    const neutral = await backgroundColor(card);
    await tab.route("**/v1/npa/**", (route) => route.abort());
    await tab.locator("#area-npa").fill("415");
    await tab.keyboard.press("Enter");
    await card.getByRole("heading", { name: "Could not reach the service" }).waitFor();
    assert.notEqual(await backgroundColor(card), neutral);
    await tab.unrouteAll();
    await card.getByRole("button", { name: "Retry" }).click();
    await (await waitForResult(tab)).getByRole("heading", { name: "Area code 415" }).waitFor();
  }));

const mockResponse = (tab, status, body, headers = {}) =>
  tab.route("**/v1/format/**", (route) => route.fulfill({ status, headers, json: body }));

test("an exhausted quota shows when to retry", () =>
  withTab("/", { expected: /status of 429/ }, async (tab) => {
    const reset = Math.floor(Date.now() / 1000) + 42;
    const message = "Quota of 600 requests per minute exceeded; retry after 2026-11-21T07:01:00Z";
    const details = { limit_type: "minute", limit: 600, remaining: 0, reset };
    await mockResponse(tab, 429, { error: "rate_limited", message, details });
    await lookUp(tab, "1");
    await tab.getByRole("heading", { name: "Quota exceeded" }).waitFor();
    assert.match(await tab.locator("#result").innerText(), /600 requests per minute.*Retry at .*, in [34]\d seconds/s);
    // A firewall in front of the service responds without details.
    await tab.unrouteAll();
    await mockResponse(tab, 429, { error: "rate_limited", message: "Too many requests" }, { "Retry-After": "300" });
    await lookUp(tab, "2");
    await tab.locator("#result", { hasText: "in 5 minutes" }).waitFor();
  }));

test("a gateway failure shows its status", () => withTab("/", { expected: /status of 502/ }, async (tab) => {
  await tab.route("**/v1/format/**", (route) => route.fulfill({ status: 502, body: "<html>Bad Gateway" }));
  await lookUp(tab, "1");
  await tab.getByRole("heading", { name: "The service returned status 502" }).waitFor();
}));

test("the later of two requests is shown", () => withTab("/", {}, async (tab) => {
  await tab.route("**/v1/format/1111*", async (route) => {
    await new Promise((later) => setTimeout(later, 400));
    await route.continue().catch(() => undefined);
  });
  await tab.evaluate(() => { location.hash = "#number?tn=1111"; });
  await tab.evaluate(() => { location.hash = "#number?tn=%2B14152345678"; });
  await tab.getByRole("heading", { name: "+1 415 234 5678" }).waitFor();
  await tab.waitForTimeout(600);
  assert.ok((await tab.locator("#result").innerText()).includes("+1 415 234 5678"));
}));

test("only sample data is labeled as such", () => withTab("/", {}, async (tab) => {
  const note = tab.getByText("For real data, run tnr import --fetch");
  for (const isSample of [true, false]) {
    const response = await fetch(`${SERVICE_URL}/v1/stats`);
    const headers = Object.fromEntries(response.headers);
    delete headers["x-numbering-data"];
    if (isSample) headers["x-numbering-data"] = "sample";
    const json = await response.json();
    await tab.route("**/v1/stats", (route) => route.fulfill({ headers, json }));
    await tab.reload();
    await tab.locator("#data-age time").waitFor();
    assert.equal(await note.isVisible(), isSample);
    await tab.unrouteAll();
  }
}));

test("the last ten lookups lead back, and can be cleared", () => withTab("/", {}, async (tab) => {
  const recent = tab.locator("#recent");
  const names = () => recent.getByRole("link").allInnerTexts();
  for (let digit = 0; digit < 10; digit += 1) {
    await lookUp(tab, `305 555 014${digit}`);
    await tab.getByRole("heading", { name: `+1 305 555 014${digit}` }).waitFor();
  }
  // Lists, their pages and invalid numbers are not lookups. The same number in a different notation does not count again.
  for (const path of ["#carriers", "#area-code?npa=415&offset=25", "#number?tn=hello", "#number?tn=3055550149"]) {
    await tab.goto(`${SERVICE_URL}/${path}`);
    await waitForResult(tab);
  }
  await tab.goto(`${SERVICE_URL}/#carriers?ocn=5927`);
  await tab.getByRole("heading", { name: "Sample Mobile" }).waitFor();
  await tab.goto(`${SERVICE_URL}/#area-code?npa=305&nxx=234`);
  await tab.getByRole("heading", { name: "Exchange 305-234" }).waitFor();
  await tab.getByRole("link", { name: "Number", exact: true }).click();
  const numbers = [9, 8, 7, 6, 5, 4, 3, 2].map((digit) => `+1 305 555 014${digit}`);
  assert.deepEqual(await names(), ["Exchange 305-234", "Sample Mobile", ...numbers]);
  await recent.getByRole("link", { name: numbers[3] }).click();
  await tab.getByRole("heading", { name: numbers[3] }).waitFor();
  await tab.reload();
  await waitForResult(tab);
  assert.equal((await names()).length, 9, "the number shown is not offered");
  await recent.getByRole("button", { name: "Clear" }).click();
  await recent.waitFor({ state: "hidden" });
  assert.equal(await tab.evaluate(() => sessionStorage.getItem("tnr-lookups")), null);
}));
