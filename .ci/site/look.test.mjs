// How the page looks and how it is reached: narrow screens, both colors, the keyboard, screen readers, errors.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { URL_OF_SERVICE, answer, inTab, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const STATES = [
  "/", "/#number?tn=%2B13052345678", "/#number?tn=hello", "/#area-code?npa=415", "/#area-code?npa=212&nxx=234",
  "/#carriers?q=sample", "/#carriers?ocn=908K", "/#search", "/#search?q=sample&status=ASSIGNED",
];

for (const [width, scheme] of [[360, "dark"], [1280, "light"]]) {
  test(`no rule of accessibility is broken and nothing is cut at ${width} px in ${scheme} colors`, () =>
    inTab("/", { width, scheme }, async (tab) => {
      const isCut = () => tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      for (const state of STATES) {
        await tab.goto(URL_OF_SERVICE + state);
        await tab.reload();
        await answer(tab);
        assert.deepEqual(await violations(tab), [], state);
        assert.equal(await isCut(), false, `${state} is scrolled sideways`);
      }
      await tab.getByRole("tab", { name: "Rust" }).click();
      assert.equal(await isCut(), false, "the longest snippet is scrolled sideways");
    }));
}

test("the page follows the colors of the system", async () => {
  const background = (scheme) => inTab("/", { scheme }, async (tab) => {
    const color = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
    assert.equal(color, scheme === "dark" ? "rgb(16, 18, 23)" : "rgb(255, 255, 255)");
  });
  await background("light");
  await background("dark");
});

test("the footer tells the version and the age of the data, and the version of the program", () =>
  inTab("/", { key: null }, async (tab) => {
    await tab.locator("#data-age time").waitFor();
    const stats = await fetch(`${URL_OF_SERVICE}/v1/stats`);
    const version = stats.headers.get("X-Data-Version");
    assert.match(version, /^\d{8}T\d{6}Z-\w{16}$/);
    const age = await tab.locator("#data-age").innerText();
    assert.ok(age.includes(` · Data ${version}, imported `), age);
    assert.match(age, /, imported (now|.* ago) \(.* UTC\)/);
    const health = await (await fetch(`${URL_OF_SERVICE}/v1/health`)).json();
    assert.equal(await tab.locator("footer .version").innerText(), `Program ${health.version}`);
  }));

test("everything can be done with the keyboard alone", () => inTab("/", {}, async (tab) => {
  const focused = () => tab.evaluate(() => {
    const { id, textContent } = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { name: id || textContent.trim(), isVisible: outlineStyle !== "none" && outlineWidth !== "0px" };
  });
  await tab.keyboard.press("Tab");
  assert.equal((await focused()).name, "Skip to the content");
  await tab.keyboard.press("Enter");
  assert.equal((await focused()).name, "lookup");
  await tab.keyboard.press("Tab");
  assert.deepEqual(await focused(), { name: "number-tn", isVisible: true });
  await tab.keyboard.type("305 234 5678");
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: "+1 305 234 5678" }).waitFor();

  const seen = [];
  for (let press = 0; press < 20 && seen.at(-1) !== "tab-response"; press += 1) {
    await tab.keyboard.press("Tab");
    const { name, isVisible } = await focused();
    assert.ok(isVisible, `the focus on ${name} is not visible`);
    seen.push(name);
  }
  assert.equal(seen.at(-1), "tab-response", String(seen));
  assert.ok(seen.includes("number-country") && seen.includes("Copy"));
  for (const [key, id] of [["ArrowRight", "tab-curl"], ["End", "tab-rust"], ["ArrowRight", "tab-response"],
    ["ArrowLeft", "tab-rust"], ["Home", "tab-response"], ["ArrowRight", "tab-curl"]]) {
    await tab.keyboard.press(key);
    assert.deepEqual(await focused(), { name: id, isVisible: true }, key);
    assert.equal(await tab.locator('[role="tab"][aria-selected="true"]').getAttribute("id"), id);
    assert.equal(await tab.locator("#code-panel").getAttribute("aria-labelledby"), id);
  }
  await tab.keyboard.press("Tab");
  assert.equal((await focused()).name, "copy-code");
  await tab.keyboard.press("Tab");
  assert.equal((await focused()).name, "code-panel");
}));

test("a key that nobody has is said to be unknown", () =>
  inTab("/#number?tn=1", { key: "tnr_live_NobodyHasThisKey", expected: /status of 401/ }, async (tab) => {
    await tab.getByRole("heading", { name: "The service does not know this key" }).waitFor();
    assert.equal(await tab.evaluate(() => document.activeElement.id), "key");
    assert.ok((await tab.locator("#announcement").innerText()).includes("Invalid API key"));
  }));

test("without a key the page asks for one", () =>
  inTab("/#number?tn=1", { key: null, expected: /status of 401/ }, async (tab) => {
    await tab.getByRole("heading", { name: "An API key is needed" }).waitFor();
    assert.equal(await tab.evaluate(() => document.activeElement.id), "key");
    assert.deepEqual(await violations(tab), []);
  }));

test("an error says which rule is broken or what was not found", () =>
  inTab("/#area-code?npa=41", { expected: /status of 40[04]/ }, async (tab) => {
    await tab.getByRole("heading", { name: "The request breaks a rule" }).waitFor();
    const text = await tab.locator("#answer").innerText();
    assert.ok(text.includes("npa must be exactly 3 digits, got '41'"), text);
    await tab.goto(`${URL_OF_SERVICE}/#area-code?npa=999`);
    await tab.getByRole("heading", { name: "Nothing found" }).waitFor();
    assert.match(await tab.locator("#answer").innerText(), /No data found for NPA 999/);
  }));

const answerInstead = (tab, status, body, headers = {}) =>
  tab.route("**/v1/format/**", (route) => route.fulfill({ status, headers, json: body }));

test("an exhausted quota says when the next request is admitted", () =>
  inTab("/", { expected: /status of 429/ }, async (tab) => {
    const reset = Math.floor(Date.now() / 1000) + 42;
    const message = "Quota of 600 requests per minute exceeded; retry after 2026-11-21T07:01:00Z";
    const details = { limit_type: "minute", limit: 600, remaining: 0, reset };
    await answerInstead(tab, 429, { error: "rate_limited", message, details });
    await tab.goto(`${URL_OF_SERVICE}/#number?tn=1`);
    await tab.getByRole("heading", { name: "A quota is exhausted" }).waitFor();
    assert.match(await tab.locator("#answer").innerText(), /600 requests per minute.*admitted at .*, in 4\d seconds/s);
    // A firewall before the service answers without details.
    await tab.unrouteAll();
    await answerInstead(tab, 429, { error: "rate_limited", message: "Too many requests" }, { "Retry-After": "300" });
    await tab.goto(`${URL_OF_SERVICE}/#number?tn=2`);
    await tab.locator("#answer", { hasText: "in 5 minutes" }).waitFor();
  }));

test("a gateway that fails and a network that is gone are told apart", () =>
  inTab("/", { expected: /status of 502|ERR_FAILED/ }, async (tab) => {
    await tab.route("**/v1/format/**", (route) => route.fulfill({ status: 502, body: "<html>Bad Gateway" }));
    await tab.goto(`${URL_OF_SERVICE}/#number?tn=1`);
    await tab.getByRole("heading", { name: "The service answered with status 502" }).waitFor();
    await tab.unrouteAll();
    await tab.route("**/v1/format/**", (route) => route.abort());
    await tab.goto(`${URL_OF_SERVICE}/#number?tn=2`);
    await tab.getByRole("heading", { name: "The service cannot be reached" }).waitFor();
  }));

test("of two requests the answer to the later one is shown", () => inTab("/", {}, async (tab) => {
  await tab.route("**/v1/format/1111", async (route) => {
    await new Promise((later) => setTimeout(later, 400));
    await route.continue().catch(() => undefined);
  });
  await tab.evaluate(() => { location.hash = "#number?tn=1111"; });
  await tab.evaluate(() => { location.hash = "#number?tn=%2B13052345678"; });
  await tab.getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
  await tab.waitForTimeout(600);
  assert.ok((await tab.locator("#answer").innerText()).includes("+1 305 234 5678"));
}));

for (const [scheme, name] of [["light", "page.png"], ["dark", "page-dark.png"]]) {
  test(`a picture of the page is made in ${scheme} colors`, () =>
    inTab("/#number?tn=%2B13052345678", { scheme, width: 1200, height: 1020, scale: 1.5 }, async (tab) => {
      const card = await answer(tab);
      for (const image of await card.locator("img").all()) await image.evaluate((flag) => flag.decode());
      await tab.screenshot({ path: `${process.env.SITE_PICTURES}/${name}` });
    }));
}
