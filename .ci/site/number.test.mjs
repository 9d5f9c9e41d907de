// The view of a number, the key, and the request in other languages.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, before, test } from "node:test";
import { promisify } from "node:util";

import { KEY, URL_OF_SERVICE, answer, inTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const NUMBER = "/#number?tn=%2B13052345678";
const stored = (tab) => tab.evaluate(() => sessionStorage.getItem("tnr-api-key"));

test("the page renders, and tells of which age the data is", () => inTab("/", { key: null }, async (tab) => {
  assert.equal(await tab.title(), "Telephone numbers");
  assert.equal(await tab.locator("html").getAttribute("lang"), "en");
  await tab.getByText("3,484 exchanges in 430 area codes").waitFor();
  assert.match(await tab.locator("footer time").innerText(), /ago$/);
}));

test("a number is looked up with a key that is typed", () => inTab("/", { key: null }, async (tab) => {
  await tab.getByLabel("API key", { exact: true }).last().fill(KEY);
  await tab.getByRole("button", { name: "Use key" }).click();
  await tab.getByLabel("Phone number").fill("(305) 234-5678");
  await tab.keyboard.press("Enter");
  const card = await answer(tab);
  await card.getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
  for (const text of ["Valid", "+13052345678", "(305) 234-5678", "tel:+1-305-234-5678", "SAMPLE MOBILE USA, INC.",
    "PERRINE", "Florida", "As assigned; the number may have been ported."]) {
    assert.ok((await card.innerText()).includes(text), text);
  }
  assert.equal(await tab.locator("#announcement").innerText(),
    "+1 305 234 5678, Valid, Landline or Mobile, United States");
  const flag = card.getByAltText("Flag of United States").first();
  assert.ok(await flag.evaluate((image) => image.decode().then(() => image.naturalWidth > 0)));
  assert.match(tab.url(), /#number\?tn=%28305%29\+234-5678$/);
}));

test("a key that no header can hold is refused where it is typed", () => inTab("/", { key: null }, async (tab) => {
  await tab.getByLabel("API key", { exact: true }).last().fill("tnr_live_é漢");
  await tab.getByRole("button", { name: "Use key" }).click();
  assert.equal(await tab.locator("#key").evaluate((input) => input.validity.patternMismatch), true);
  assert.equal(await stored(tab), null);
  await tab.goto(`${URL_OF_SERVICE}/#key=tnr_live_%E6%BC%A2`);
  await tab.reload();
  assert.equal(await stored(tab), null);
}));

test("the JSON beside the card is that of the API", () => inTab(NUMBER, {}, async (tab) => {
  await answer(tab);
  const expected = await fetch(`${URL_OF_SERVICE}/v1/format/+13052345678`, { headers: { "X-API-Key": KEY } });
  assert.deepEqual(JSON.parse(await tab.locator("#code-text").textContent()), await expected.json());
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/format/+13052345678");
}));

test("every copy button copies what it stands beside", () => inTab(NUMBER, {}, async (tab) => {
  await answer(tab);
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

test("the key stays in its tab, and is forgotten when asked", () => inTab(NUMBER, {}, async (tab, context) => {
  await answer(tab);
  assert.ok((await tab.locator("#key-present").innerText()).includes("tnr_live_Sample…"));
  for (const language of ["curl", "Python", "TypeScript", "Rust"]) {
    await tab.getByRole("tab", { name: language }).click();
    assert.ok((await tab.locator("#code-text").textContent()).match(/\bTNR_KEY\b/), language);
  }
  assert.ok(!(await tab.content()).includes(KEY), "no element shows the key");
  assert.ok(!tab.url().includes(KEY));
  assert.deepEqual(await context.cookies(), []);
  assert.equal(await tab.evaluate(() => localStorage.length), 0);
  await tab.getByRole("button", { name: "Forget key" }).click();
  assert.equal(await stored(tab), null);
  await tab.getByText("Closing the tab forgets it.").waitFor();
}));

test("a key in the address is taken out of it", () => inTab(`/#key=${KEY}`, { key: null }, async (tab) => {
  assert.equal(await stored(tab), KEY);
  assert.equal(tab.url(), `${URL_OF_SERVICE}/`);
  await tab.goto(`${URL_OF_SERVICE}/${NUMBER.slice(1)}`);
  await (await answer(tab)).getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
}));

test("a key that is pasted into the address of an open page is taken out of it, too", () =>
  inTab("/#area-code", { key: null }, async (tab) => {
    await tab.getByText("Closing the tab forgets it.").waitFor();
    await tab.evaluate((key) => { location.hash = `#key=${key}`; }, KEY);
    await tab.locator("#key-present").waitFor();
    assert.equal(await stored(tab), KEY);
    assert.equal(tab.url(), `${URL_OF_SERVICE}/`);
    await tab.getByLabel("Phone number").waitFor();
    await tab.goBack();
    await tab.locator("#area-npa").waitFor();
    assert.equal(await stored(tab), KEY);
  }));

const numbers = {
  "020 7946 0958": { country: "GB", shows: ["+44 20 7946 0958", "Valid", "United Kingdom"] },
  "650-253-5678 ext. 42": { country: "US", shows: ["Extension", "42"] },
  "+1 202 5550": { country: "US", shows: ["Not valid, but its length is possible"] },
  hello: { country: "US", shows: ["hello", "Not valid", "No phone number can be read from this."] },
  "+800 1234 5678": { country: "US", shows: ["+800 1234 5678"] },
  "305/234/5678?#'": { country: "US", shows: ["+1 305 234 5678"] },
};

test("numbers of every kind have a card", () => inTab("/", {}, async (tab) => {
  for (const [number, { country, shows }] of Object.entries(numbers)) {
    await tab.getByLabel("Phone number").fill(number);
    await tab.getByLabel("Country, if it has no code").selectOption(country);
    await tab.getByRole("button", { name: "Look up" }).click();
    await tab.getByRole("heading", { name: shows[0] }).or(tab.getByText(shows[0])).first().waitFor();
    const text = await tab.locator("#answer").innerText();
    for (const expected of shows) assert.ok(text.includes(expected), `${number}: ${expected}\n${text}`);
  }
}));

const run = promisify(execFile);
const PROGRAMS = {
  curl: (code) => ["bash", ["-c", `${code} --silent --fail`]],
  Python: (code) => ["python3", ["-c", code]],
  TypeScript: (code) => ["node", ["--input-type=module", "-e", code]],
};

// The number has what a shell, a URL and a string of a language could take for their own.
test("a snippet is a program that makes the request which is shown", () =>
  inTab("/#number?tn='%22%24(305)%20234%605678%5C&country=CA", {}, async (tab) => {
    await answer(tab);
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
    await tab.getByRole("tab", { name: "Rust" }).click();
    const rust = await tab.locator("#code-text").textContent();
    assert.ok(rust.includes(`.get("${URL_OF_SERVICE}/v1/format/`) && rust.includes("defaultCountry=CA"));
  }));
