// The number view, the key, and the code snippets.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { KEY, SERVICE_URL, waitForResult, withTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const NUMBER = "/#number?tn=%2B13052345678";

test("the page renders, and shows the data's age", () => withTab("/", { key: null }, async (tab) => {
  assert.equal(await tab.title(), "Telephone numbers");
  assert.equal(await tab.locator("html").getAttribute("lang"), "en");
  await tab.getByText("3,484 exchanges in 430 area codes").waitFor();
  assert.match(await tab.locator("footer time").innerText(), /ago$/);
}));

test("a number can be looked up after a key is entered", () => withTab("/", { key: null }, async (tab) => {
  await tab.getByLabel("API key", { exact: true }).last().fill(KEY);
  await tab.getByRole("button", { name: "Use key" }).click();
  await tab.getByLabel("Phone number").fill("(305) 234-5678");
  await tab.keyboard.press("Enter");
  const card = await waitForResult(tab);
  await card.getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
  for (const text of ["Valid format", "+13052345678", "(305) 234-5678", "tel:+1-305-234-5678", "SAMPLE MOBILE USA, INC.",
    "PERRINE", "Florida", "Sample Mobile", "Likely wireless", "Exchange 305-234 is assigned.", "America/New_York (UTC-0", "08:00 to 21:00 local time",
    "Not legal advice.", "As assigned; the number may have been ported, even to another type of line."]) {
    assert.ok((await card.innerText()).includes(text), text);
  }
  assert.equal(await tab.locator("#announcement").innerText(),
    "+1 305 234 5678, Valid format, Landline or Mobile, United States");
  const flag = card.getByAltText("Flag of United States").first();
  assert.ok(await flag.evaluate((image) => image.decode().then(() => image.naturalWidth > 0)));
  assert.match(tab.url(), /#number\?tn=%28305%29\+234-5678$/);
}));

test("the JSON next to the card matches the API response", () => withTab(NUMBER, {}, async (tab) => {
  await waitForResult(tab);
  const target = "/v1/format/+13052345678?include=all";
  const expected = await (await fetch(SERVICE_URL + target, { headers: { "X-API-Key": KEY } })).json();
  const shown = JSON.parse(await tab.locator("#code-text").textContent());
  for (const { timeZones } of [shown, expected]) delete timeZones[0].localTime;
  assert.deepEqual(shown, expected);
  assert.equal(await tab.locator("#request").textContent(), `GET ${target}`);
}));

test("every copy button copies its text", () => withTab(NUMBER, {}, async (tab) => {
  await waitForResult(tab);
  const clipboard = () => tab.evaluate(() => navigator.clipboard.readText());
  for (const [name, text] of [["E.164", "+13052345678"], ["International", "+1 305 234 5678"],
    ["National", "(305) 234-5678"], ["RFC 3966", "tel:+1-305-234-5678"]]) {
    const button = tab.getByRole("button", { name: `Copy ${name}` });
    await button.click();
    await tab.locator("#announcement", { hasText: /^Copied$/ }).waitFor();
    assert.equal(await clipboard(), text, name);
  }
  await tab.locator("#copy-code").click();
  await tab.locator("#copy-code", { hasText: "Copied" }).waitFor();
  assert.equal(JSON.parse(await clipboard()).country, "US");
}));

const numbers = {
  "020 7946 0958": { country: "GB", shows: ["+44 20 7946 0958", "Valid format", "United Kingdom"] },
  "+49 30 12345678": { country: "US", shows: ["+49 30 12345678", "City or region", "Berlin"] },
  "+44 7400 123456": { country: "US", shows: ["+44 7400 123456", "Three", "first assigned"] },
  "650-253-5678 ext. 42": { country: "US", shows: ["Extension", "42"] },
  "+1 202 5550": { country: "US", shows: ["+1 202 5550", "Not valid", "Formats for these digits"] },
  "+800 1234 5678": { country: "US", shows: ["+800 1234 5678"] },
  "305/234/5678?#'": { country: "US", shows: ["+1 305 234 5678"] },
};

test("every kind of number has a card", () => withTab("/", {}, async (tab) => {
  for (const [number, { country, shows }] of Object.entries(numbers)) {
    await tab.getByLabel("Phone number").fill(number);
    await tab.getByLabel("Default country").selectOption(country);
    await tab.getByRole("button", { name: "Look up" }).click();
    const card = await waitForResult(tab);
    await card.getByText(shows[0]).first().waitFor();
    const text = await card.innerText();
    for (const expected of shows) assert.ok(text.includes(expected), `${number}: ${expected}\n${text}`);
  }
}));

test("a number that nobody holds is marked", () => withTab("/#number?tn=3055550100", {}, async (tab) => {
  const verdict = tab.locator("#result .verdict.warning");
  assert.equal(await verdict.innerText(), "305-555-0100 is reserved for fiction.");
  await tab.goto(`${SERVICE_URL}/#number?tn=%2B13052345678`);
  await tab.locator("#result .verdict.good").waitFor();
  assert.equal(await verdict.count(), 0);
}));

test("a number in several time zones has a time in each, or their count", () => withTab("/", {}, async (tab) => {
  const at = (zone) => ({ zone, utcOffset: "-05:00", localTime: "2026-11-24T14:24:09-05:00" });
  const zones = ["America/Toronto", "America/Iqaluit", "America/Panama", "America/Jamaica"].map(at);
  for (const [count, expected] of [[2, "14:24 America/Iqaluit (UTC-05:00)"], [4, "One of 4 time zones"]]) {
    await tab.route("**/v1/format/**", async (route) => {
      const response = await route.fetch();
      const callingHours = { status: "depends", rule: "47 CFR 64.1200(c)(1)", window: { from: "08:00", to: "21:00" } };
      const json = { ...await response.json(), timeZones: zones.slice(0, count), callingHours };
      await route.fulfill({ response, json });
    });
    await tab.getByLabel("Phone number").fill("305 234 5678");
    await tab.keyboard.press("Enter");
    const card = await waitForResult(tab);
    await card.getByText(expected).waitFor();
    await card.getByText("Depends on the time zone: 08:00 to 21:00 local time").waitFor();
    await card.getByText("under 47 CFR 64.1200(c)(1).").waitFor();
    await tab.unrouteAll();
  }
}));

test("an invalid number shows the reason, and its field is marked", () => withTab("/", {}, async (tab) => {
  for (const number of ["hello", "+1 305 234"]) {
    const url = `${SERVICE_URL}/v1/format/${encodeURIComponent(number)}?include=reason`;
    const { reason } = await (await fetch(url, { headers: { "X-API-Key": KEY } })).json();
    await tab.getByLabel("Phone number").fill(number);
    await tab.keyboard.press("Enter");
    await tab.locator("#reason", { hasText: `${reason.message}.` }).waitFor();
    assert.ok((await (await waitForResult(tab)).innerText()).includes("Not valid"));
    assert.ok((await tab.locator("#announcement").innerText()).includes(reason.message));
    assert.equal(await tab.locator("#number-tn").getAttribute("aria-invalid"), "true");
    assert.match(await tab.locator("#number-tn").getAttribute("aria-describedby"), /^reason /);
    await tab.locator("#number-tn").focus();
  }
  await tab.getByLabel("Phone number").fill("305 234 5678");
  await tab.keyboard.press("Enter");
  await (await waitForResult(tab)).getByText("Valid format").waitFor();
  assert.equal(await tab.locator("[aria-invalid]").count(), 0);
}));

test("a second number is shown as a link", () => withTab("/", {}, async (tab) => {
  const reason = { code: "TWO_NUMBERS", message: "The text has two numbers", other: "+12122345678" };
  await tab.route("**/v1/format/305*", async (route) => {
    const response = await route.fetch();
    await route.fulfill({ response, json: { ...await response.json(), reason } });
  });
  await tab.getByLabel("Phone number").fill("305-234-5678; 212-234-5678");
  await tab.keyboard.press("Enter");
  await (await waitForResult(tab)).getByText("Valid format").waitFor();
  await tab.getByRole("link", { name: "Look up +12122345678" }).click();
  await tab.getByRole("heading", { name: "+1 212 234 5678" }).waitFor();
}));

test("only numbers in a known exchange link to it", () => withTab("/#number?tn=8002345678", {}, async (tab) => {
  await (await waitForResult(tab)).getByText("Exchanges in area code 800 have no carrier.").waitFor();
  assert.equal(await tab.locator("#result a").count(), 0);
  await tab.goto(`${SERVICE_URL}/#number?tn=3055550100`);
  await (await waitForResult(tab)).getByText("Not in the numbering data").waitFor();
  assert.equal(await tab.locator("#result a").count(), 0);
}));

const run = promisify(execFile);
/** Go and Rust are not here, since compiling takes longer than all other tests. */
const PROGRAMS = {
  curl: (code) => ["bash", ["-c", `${code} --silent --fail`]],
  Python: (code) => ["python3", ["-c", code]],
  TypeScript: (code) => ["node", ["--input-type=module", "-e", code]],
};

// The number contains characters that are special in a shell, a URL or a string literal.
test("a code snippet sends the request shown", () =>
  withTab("/#number?tn='%22%24(305)%20234-5678%60%5C&country=CA", {}, async (tab) => {
    await waitForResult(tab);
    const expected = JSON.parse(await tab.locator("#code-text").textContent());
    assert.equal(expected.valid, true);
    await Promise.all(Object.entries(PROGRAMS).map(async ([language, program]) => {
      const code = await tab.evaluate((name) => {
        document.getElementById(`tab-${name.toLowerCase()}`).click();
        return document.getElementById("code-text").textContent;
      }, language);
      const { stdout } = await run(...program(code), { env: { ...process.env, TNR_KEY: KEY } });
      assert.ok(stdout.includes(expected.formats.e164), `${language}: ${stdout}`);
    }));
    await tab.getByRole("tab", { name: "Go", exact: true }).click();
    const go = await tab.locator("#code-text").textContent();
    assert.ok(go.includes(`http.NewRequest("GET", "${SERVICE_URL}/v1/format/`) && go.includes("defaultCountry=CA"));
    await tab.getByRole("tab", { name: "Rust" }).click();
    const rust = await tab.locator("#code-text").textContent();
    assert.ok(rust.includes(`get("${SERVICE_URL}/v1/format/`) && rust.includes("defaultCountry=CA"));
  }));
