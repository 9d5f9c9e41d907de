// The key: where it is entered and stored, and which tabs have it.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, waitForResult, withTab, isInView, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const NUMBER = "/#number?tn=%2B13052345678";
const REJECTED = /status of 401/;
const stored = (tab) => tab.evaluate(() => sessionStorage.getItem("tnr-api-key"));

test("a key that cannot be sent in a header is rejected in its field", () => withTab("/", { key: null, expected: REJECTED }, async (tab) => {
  await tab.getByLabel("API key", { exact: true }).last().fill("tnr_live_é漢");
  await tab.getByRole("button", { name: "Use key" }).click();
  assert.equal(await tab.locator("#key").evaluate((input) => input.validity.patternMismatch), true);
  await tab.getByLabel("Phone number").fill("305 234 5678");
  await tab.keyboard.press("Enter");
  await tab.locator("#key-error", { hasText: "A key has no spaces or accented letters" }).waitFor();
  assert.equal(await tab.locator("#key").inputValue(), "tnr_live_é漢");
  assert.equal(await stored(tab), null);
}));

test("the key stays in its tab until it is forgotten", () => withTab(NUMBER, {}, async (tab, context) => {
  await waitForResult(tab);
  assert.ok((await tab.locator("#key-present").innerText()).includes("tnr_live_Sample…"));
  for (const language of ["curl", "Python", "TypeScript", "Go", "Rust"]) {
    await tab.getByRole("tab", { name: language }).click();
    assert.ok((await tab.locator("#code-text").textContent()).match(/\bTNR_KEY\b/), language);
  }
  assert.ok(!(await tab.content()).includes(KEY), "no element shows the key");
  assert.ok(!tab.url().includes(KEY));
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await tab.evaluate(() => localStorage.length), 0);
  await tab.getByRole("button", { name: "Forget key" }).click();
  assert.equal(await stored(tab), null);
  await tab.getByText("until you close them.").waitFor();
}));

test("a URL never sets a key", () => withTab(`/#key=${KEY}`, { key: null }, async (tab) => {
  await tab.getByText("until you close them.").waitFor();
  assert.equal(await stored(tab), null);
}));

test("a link never replaces the user's key", () => withTab(NUMBER, {}, async (tab) => {
  await waitForResult(tab);
  for (const path of ["/#key=tnr_live_SomebodyElses", "/?apiKey=tnr_live_SomebodyElses#number", "/docs#key=tnr_live_SomebodyElses"]) {
    await tab.goto(SERVICE_URL + path);
    await tab.locator("#key-present").waitFor();
    assert.equal(await stored(tab), KEY, path);
  }
  await tab.goto(`${SERVICE_URL}/`);
  await tab.evaluate(() => { location.hash = "#key=tnr_live_SomebodyElses"; });
  await tab.getByLabel("Phone number").waitFor();
  assert.equal(await stored(tab), KEY);
}));

const keyErrors = {
  "an unknown key": ["tnr_live_NobodyHasThisKey", "Unknown API key."],
  "a missing key": [null, "An API key is required."],
};

for (const [name, [key, message]] of Object.entries(keyErrors)) {
  test(`${name} is an error in its field, and the lookup waits for a valid one`, () =>
    withTab("/", { key, width: 360, height: 500, touch: true, expected: REJECTED }, async (tab) => {
      await tab.getByLabel("Phone number").fill("305 234 5678");
      await tab.getByRole("button", { name: "Look up" }).click();
      const error = tab.locator("#key-error");
      await error.filter({ hasText: message }).waitFor();
      assert.ok(await isInView(error) && await isInView(tab.locator("#key")), "the error is out of view");
      assert.equal(await tab.evaluate(() => document.activeElement.id), "key");
      assert.equal(await tab.locator("#key").getAttribute("aria-invalid"), "true");
      assert.match(await tab.locator("#key").getAttribute("aria-describedby"), /^key-error /);
      assert.ok((await tab.locator("#announcement").innerText()).startsWith(message));
      assert.deepEqual(await violations(tab), []);
      await tab.locator("#key").fill(KEY);
      await tab.getByRole("button", { name: "Use key" }).click();
      await (await waitForResult(tab)).getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
      assert.equal(await tab.locator("[aria-invalid], .field-error").count(), 0);
    }));
}

test("an unknown key does not stay on the device", () => withTab("/", { key: null, expected: REJECTED }, async (tab) => {
  await tab.getByLabel("Remember on this device").check();
  await tab.getByText("for everyone who uses it, until you forget the key.").waitFor();
  await tab.locator("#key").fill("tnr_live_NobodyHasThisKey");
  await tab.getByLabel("Phone number").fill("305 234 5678");
  await tab.keyboard.press("Enter");
  await tab.locator("#key-error", { hasText: "Unknown API key." }).waitFor();
  assert.deepEqual(await tab.evaluate(() => Object.keys(localStorage)), ["tnr-remember"]);
}));

test("a tab opened from one with a key gets the key", () => withTab(NUMBER, {}, async (tab, context) => {
  await waitForResult(tab);
  const ways = [["5927", { button: "middle" }, "Sample Mobile"], ["Carriers", { modifiers: ["ControlOrMeta"] }, "Carriers"]];
  for (const [name, how, heading] of ways) {
    const link = tab.getByRole("link", { name });
    const [opened] = await Promise.all([context.waitForEvent("page"), link.click(how)]);
    await (await waitForResult(opened)).getByRole("heading", { name: heading, exact: true }).waitFor();
    assert.equal(await stored(opened), KEY);
    await opened.close();
  }
}));

test("other tabs do not get the key", () => withTab(NUMBER, {}, async (tab, context) => {
  await waitForResult(tab);
  for (const path of ["/#carriers?ocn=5927", NUMBER]) {
    const other = await context.newPage();
    await other.goto(SERVICE_URL + path);
    await other.locator("#key-error").waitFor();
    assert.equal(await stored(other), null);
    await other.close();
  }
}));

test("a key in its field is used by the next lookup", () => withTab("/", { key: null }, async (tab) => {
  await tab.locator("#key").fill(`  ${KEY} `);
  await tab.getByLabel("Phone number").fill("305 234 5678");
  await tab.getByRole("button", { name: "Look up" }).click();
  await (await waitForResult(tab)).getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
  assert.equal(await stored(tab), KEY);
}));

test("a key and recent lookups are stored on the device only if the user chooses to", () =>
  withTab(NUMBER, {}, async (tab, context) => {
    const onDevice = (page) => page.evaluate(() => Object.keys(localStorage).sort());
    await waitForResult(tab);
    assert.deepEqual(await onDevice(tab), []);
    await tab.getByLabel("Remember on this device").check();
    assert.deepEqual(await onDevice(tab), ["tnr-api-key", "tnr-lookups", "tnr-remember"]);
    assert.equal(await stored(tab), null);
    // A new tab does not ask again.
    const other = await context.newPage();
    await other.goto(`${SERVICE_URL}/#carriers?ocn=5927`);
    await (await waitForResult(other)).getByRole("heading", { name: "Sample Mobile" }).waitFor();
    await other.locator("#recent").getByRole("link", { name: "+1 305 234 5678" }).waitFor();
    await other.getByLabel("Remember on this device").uncheck();
    assert.deepEqual(await onDevice(other), []);
    assert.equal(await stored(other), KEY);
    await other.getByLabel("Remember on this device").check();
    await other.getByRole("button", { name: "Forget key" }).click();
    assert.deepEqual(await onDevice(other), []);
    assert.deepEqual(await other.evaluate(() => Object.keys(sessionStorage)), []);
    await tab.locator("#key-form").waitFor();
  }));

test("a URL never contains a key", () =>
  withTab(`/?apiKey=${KEY}#number?tn=%2B13052345678`, {}, async (tab) => {
    const assertClean = async () => {
      const urls = await tab.locator("a[href]").evaluateAll((all) => all.map((link) => link.href));
      for (const url of [tab.url(), ...urls]) assert.ok(!decodeURIComponent(url).includes("tnr_live_"), url);
    };
    await waitForResult(tab);
    await assertClean();
    for (const path of [`/#key=${KEY}`, `/#number?tn=${KEY}`]) {
      await tab.goto(SERVICE_URL + path);
      await tab.locator("#introduction").waitFor();
      await assertClean();
    }
    // A key in the wrong field is neither sent nor added to the URL.
    await tab.getByLabel("Phone number").fill(KEY);
    await tab.keyboard.press("Enter");
    await tab.locator("#number-tn-error", { hasText: "This is an API key." }).waitFor();
    await assertClean();
    await tab.getByLabel("Phone number").fill("305 234 5678");
    await tab.keyboard.press("Enter");
    await waitForResult(tab);
    assert.ok(!(await tab.evaluate(() => sessionStorage.getItem("tnr-lookups"))).includes("tnr_live_"));
    await assertClean();
  }));
