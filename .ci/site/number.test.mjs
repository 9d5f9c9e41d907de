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
    "PERRINE", "Florida", "Likely mobile · Sample Mobile · Miami, FL", "Line type", "Legal company", "Exchange 305-234 is assigned.", "America/New_York (UTC-0", "08:00 to 21:00 local time",
    "Not legal advice.", "As assigned. The number may have been ported since, even to a different line type."]) {
    assert.ok((await card.innerText()).replaceAll("\u00a0", " ").includes(text), text);
  }
  assert.equal(await tab.locator("#announcement").innerText(),
    "+1 305 234 5678, Valid format, Likely mobile · Sample Mobile · Miami, FL");
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
  "020 7946 0958": { country: "GB", shows: ["+44 20 7946 0958", "Valid format", "Landline · Sample Networks plc · London, United Kingdom", "Effective from"] },
  "+49 30 12345678": { country: "US", shows: ["+49 30 12345678", "City or region", "Berlin"] },
  "+49 151 23456789": { country: "US", shows: ["+49 1512 3456789", "Mobile · T-Mobile · Germany", "first assigned"] },
  "650-253-5678 ext. 42": { country: "US", shows: ["Extension", "42"] },
  "+1 202 5550": { country: "US", shows: ["+1 202 5550", "Not valid", "Read as"], copies: false },
  "+112345": { country: "US", shows: ["Not valid", "too few digits"], copies: false },
  "+1 876 234 5678": { country: "US", shows: ["Mobile · Cable & Wireless · Jamaica", "It assigns its own exchanges"] },
  "800-555-0199": { country: "US", shows: ["Toll-free · not tied to a place", "The person who is called pays", "no place"], place: false },
  "900-234-5678": { country: "US", shows: ["Premium rate · not tied to a place", "The caller pays extra"], place: false },
  "500-234-5678": { country: "US", shows: ["Personal number · not tied to a place", "do not list its exchanges"], place: false },
  "600-234-5678": { country: "CA", shows: ["VoIP · not tied to a place", "services without a place"], place: false },
  "710-234-5678": { country: "US", shows: ["Not valid", "reserved for the US government"], copies: false },
  "+800 1234 5678": { country: "US", shows: ["+800 1234 5678", "an international toll-free number", "belongs to no country"], place: false },
  "212-555-1212": { country: "US", shows: ["Valid format, special use", "information services", "never assigned to a subscriber"] },
  "415-555-0142": { country: "US", shows: ["Valid format, fictional", "Reserved for fiction · San Francisco, CA"] },
  911: { country: "US", shows: ["The short code for emergencies"], hides: "Read as", copies: false },
  constructor: { country: "US", shows: ["Not valid", "The text is not a phone number"], hides: "short code", copies: false },
  112: { country: "DE", shows: ["Not valid", "Read as"], copies: false },
  "305/234/5678?#'": { country: "US", shows: ["+1 305 234 5678"] },
};

test("every kind of number has a card, in words that agree with each other", () => withTab("/", {}, async (tab) => {
  for (const [number, { country, shows, hides = "Landline or Mobile", copies = true, place = true }] of Object.entries(numbers)) {
    await tab.getByLabel("Phone number").fill(number);
    await tab.getByLabel("Default country").selectOption(country);
    await tab.getByRole("button", { name: "Look up" }).click();
    const card = await waitForResult(tab);
    await card.getByText(shows[0]).first().waitFor();
    const text = (await card.innerText()).replaceAll("\u00a0", " ");
    for (const expected of shows) assert.ok(text.includes(expected), `${number}: ${expected}\n${text}`);
    assert.ok(!text.includes(hides), text);
    assert.equal(await card.getByRole("button", { name: /^Copy/ }).count() > 0, copies, `${number} can be copied`);
    if (!place) assert.equal(await card.getByText(/^(Country|Place)$/).or(card.locator("img")).count(), 0, `${number} has no place`);
  }
}));

test("an example is what the service says about a number that nobody can have", () => withTab("/", { key: null }, async (tab) => {
  const card = async () => {
    const text = (await tab.locator("#result").innerText()).split("\nTime\n")[0];
    const json = (await tab.locator("#code-text").textContent()).replaceAll(/(flags)\/[0-9a-f]{8}/g, "$1");
    const { timeZones, callingHours, assignment, ...body } = JSON.parse(json);
    // The sample has no dates, and the time differs.
    delete assignment.areaCode.inServiceOn;
    return { text, body, assignment, zones: timeZones.map(({ zone }) => zone), rule: callingHours.rule };
  };
  await tab.locator("#introduction", { hasText: "Made-up example" }).waitFor();
  const example = await card();
  assert.match(example.body.formats.e164, /55501\d\d$/);
  await tab.evaluate((key) => sessionStorage.setItem("tnr-api-key", key), KEY);
  await tab.getByLabel("Phone number").fill(example.body.input);
  await tab.keyboard.press("Enter");
  await waitForResult(tab);
  assert.deepEqual(await card(), example);
}));

test("a term is explained where it stands, by mouse, keyboard and touch", async () => {
  for (const [how, options] of [["click", {}], ["Enter", {}], ["tap", { width: 360, touch: true }]]) {
    await withTab(NUMBER, options, async (tab) => {
      const card = await waitForResult(tab);
      const term = card.getByRole("button", { name: "OCN", exact: true });
      const explanation = tab.getByText("four characters that identify a carrier");
      assert.equal(await explanation.isVisible(), false);
      if (how === "Enter") await term.press("Enter");
      else await term[how]();
      await explanation.waitFor();
      const [shown, below] = [await explanation.boundingBox(), await term.boundingBox()];
      assert.ok(shown.x >= 0 && shown.x + shown.width <= tab.viewportSize().width, "the explanation is cut off");
      assert.ok(Math.abs(shown.y - below.y) < 200, "the explanation is next to its term");
      await tab.keyboard.press("Escape");
      await explanation.waitFor({ state: "hidden" });
    });
  }
});

test("a number that nobody holds is marked", () => withTab("/#number?tn=3055550100", {}, async (tab) => {
  const verdict = tab.locator("#result .verdict.warning");
  assert.equal(await verdict.innerText(), "305-555-0100 is reserved for fiction.");
  await tab.goto(`${SERVICE_URL}/#number?tn=%2B13052345678`);
  await tab.locator("#result .verdict.good").waitFor();
  assert.equal(await verdict.count(), 0);
}));

test("a block whose assignment starts later shows its next carrier", () => withTab("/", {}, async (tab) => {
  await tab.route("**/v1/format/**", async (route) => {
    const response = await route.fetch();
    const { carrier, ...body } = await response.json();
    const block = { ocn: "296C", name: "SAMPLE CABLE PHONE, LLC", effectiveFrom: "2027-01-01" };
    const reason = "The assignment of block 305-234-5 starts on 2027-01-01";
    const assignment = { ...body.assignment, verdict: "NOT_YET_EFFECTIVE", reason, block };
    await route.fulfill({ response, json: { ...body, assignment, line: { type: null, everydayName: null } } });
  });
  await tab.getByLabel("Phone number").fill("305 234 5678");
  await tab.keyboard.press("Enter");
  const text = (await (await waitForResult(tab)).innerText()).replaceAll("\u00a0", " ");
  for (const expected of ["Not in service yet · Miami, FL", "Valid format, not in service yet", "SAMPLE CABLE PHONE, LLC",
    "starts on 2027-01-01.", "Numbers in this block do not work yet."]) assert.ok(text.includes(expected), text);
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
  await (await waitForResult(tab)).getByText("So they have no place").waitFor();
  assert.equal(await tab.locator("#result a").count(), 0);
  await tab.goto(`${SERVICE_URL}/#number?tn=3055550100`);
  await (await waitForResult(tab)).getByText("Nobody has it.").waitFor();
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
