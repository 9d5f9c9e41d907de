// Countries: the list, a country's card with its holders, its ranges, and the regulator's range with a number.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, waitForResult, withTab, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const getJson = async (path) => (await fetch(SERVICE_URL + path, { headers: { "X-API-Key": KEY } })).json();
const words = (text) => text.replaceAll("\u00a0", " ").replace(/\s+/g, " ");
const field = (tab, name) => tab.locator('form[data-view="countries"]').getByLabel(name, { exact: true });
const textOf = async (locator) => words(await locator.innerText());
const firstColumn = (tab) => tab.locator("#result > * > table tbody tr td:first-child, #result .parts > div tbody tr td:first-child").allInnerTexts();
const waitForRange = (tab, text) => tab.locator(".list-head p", { hasText: text }).waitFor();

test("the list of countries has pages, sorts, and leads to each country's card", () => withTab("/#countries", {}, async (tab) => {
  const { pagination: { total } } = await getJson("/v1/countries?limit=1");
  await waitForRange(tab, `1–100 of ${total}, by code`);
  await tab.getByRole("link", { name: "Last" }).click();
  await waitForRange(tab, `201–${total} of ${total}`);
  assert.equal((await firstColumn(tab)).length, total - 200);
  await tab.getByRole("columnheader", { name: "Open data" }).getByRole("link").click();
  await tab.locator("th[aria-sort]", { hasText: "Open data" }).waitFor();
  const [first] = await tab.locator("#result tbody tr").allInnerTexts();
  assert.match(words(first), /^GB United Kingdom \+44 Ofcom, \d{4}-\d\d-\d\d 12$/);
  await tab.getByRole("link", { name: "GB", exact: true }).click();
  await tab.getByRole("heading", { name: "United Kingdom" }).waitFor();
  assert.match(tab.url(), /#country\/GB$/);
  assert.equal(await tab.locator(".views [aria-current]").innerText(), "Countries");
  assert.equal(await tab.title(), "United Kingdom · Telephone numbers");
}));

test("a country's card shows its plan and the source of its data", () => withTab("/#country/gb", {}, async (tab) => {
  const { countries: [{ types, data }] } = await getJson("/v1/countries?country=GB");
  const card = (await waitForResult(tab)).locator("article");
  const text = await textOf(card);
  for (const expected of ["Calling code +44", "Open data", "Trunk prefix 0", "International prefix 00", `Source ${data.publisher}, ${data.title}`,
    "Contents 12 ranges of 3 holders", `License ${data.license}`, "years old"]) assert.ok(text.includes(expected), `${expected}\n${text}`);
  const rows = (await card.getByRole("table", { name: "Number types" }).locator("tbody tr").allInnerTexts()).map(words);
  assert.equal(rows.length, types.length);
  assert.ok(rows.includes("Landline 9–10 digits +441134961000"), String(rows));
  assert.ok(rows.includes("Toll-free 7, 9–10 digits +448081571000"), String(rows));
  assert.ok(rows.includes("Mobile 10 digits –"), String(rows));
  assert.equal(await tab.locator("#announcement").textContent(), "United Kingdom: calling code +44, 12 ranges of 3 holders");
  await card.getByRole("link", { name: "+441134961000" }).click();
  await (await waitForResult(tab)).getByRole("heading", { name: "+44 113 496 1000" }).waitFor();
}));

test("a country without data has a card that says so", () => withTab("/#countries", {}, async (tab) => {
  await field(tab, "Country").selectOption("Germany");
  await tab.getByRole("button", { name: "Look up" }).click();
  await tab.getByRole("heading", { name: "Germany" }).waitFor();
  const text = await textOf(await waitForResult(tab));
  for (const expected of ["Calling code +49", "Rules only", "No open data loaded; libphonenumber's rules only."]) {
    assert.ok(text.includes(expected), `${expected}\n${text}`);
  }
  assert.ok(!text.includes("Unassigned example"), text);
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/countries?country=DE");
}));

test("holders are bars with their share of the numbers, and select their ranges", () => withTab("/#country/GB", {}, async (tab) => {
  const bars = (await waitForResult(tab)).locator(".holders li");
  assert.deepEqual((await bars.allInnerTexts()).map(words),
    ["Sample Mobile Limited 20,000 (76.9%)", "Sample Telecom Limited 4,000 (15.4%)", "Sample Networks plc 2,000 (7.7%)"]);
  const lengths = await bars.locator(".length").evaluateAll((all) => all.map((bar) => bar.offsetWidth));
  assert.ok(lengths[0] > 4 * lengths[1] && lengths[1] > 1.5 * lengths[2], String(lengths));
  await bars.getByRole("link", { name: "Sample Networks plc" }).press("Enter");
  await waitForRange(tab, "Sample Networks plc · all 2");
  assert.deepEqual((await firstColumn(tab)).map(words), ["2079460000 to 2079460999", "2079461000 to 2079461999"]);
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/countries/GB/ranges?holder=Sample+Networks+plc&limit=100");
  assert.equal(await tab.locator("#countries-holder").inputValue(), "Sample Networks plc");
  assert.match(await textOf(tab.locator("#result .caveat")), /^Source: Ofcom, .+\. License: .+[^.]\.$/);
  await tab.getByRole("link", { name: "About this country" }).click();
  await bars.first().waitFor();
}));

test("only the 20 largest of many holders have a bar, with their share of all holders' numbers", () => withTab("/", {}, async (tab) => {
  const holders = Array.from({ length: 130 }, (_, index) => ({ holder: `Holder ${index + 1}`, ranges: 1, numbers: 1000 }));
  const requested = [];
  await tab.route("**/v1/holders?country=GB*", (route) => {
    const { searchParams } = new URL(route.request().url());
    const offset = Number(searchParams.get("offset"));
    requested.push(offset);
    const link = offset ? '</v1/holders?country=GB&limit=100&offset=0>; rel="prev"' : '</v1/holders?country=GB&limit=100&offset=100>; rel="next"';
    return route.fulfill({ headers: { link }, json: {
      holders: holders.slice(offset, offset + 100), pagination: { limit: 100, offset, total: holders.length },
    } });
  });
  await tab.goto(`${SERVICE_URL}/#country/GB`);
  await (await waitForResult(tab)).getByRole("heading", { name: "20 largest of 130 holders, by assigned numbers" }).waitFor();
  const bars = await tab.locator(".holders li").allInnerTexts();
  assert.equal(bars.length, 20);
  assert.equal(words(bars[19]), "Holder 20 1,000 (0.8%)");
  assert.deepEqual(requested, [0, 100]);
}));

test("ranges can be filtered, sorted and shared", () => withTab("/#country/GB", {}, async (tab) => {
  await waitForResult(tab);
  await field(tab, "Status").fill("free");
  await field(tab, "First digits").fill("8");
  await tab.getByRole("button", { name: "Look up" }).click();
  await waitForRange(tab, "free, 8 · 1 match");
  assert.match(tab.url(), /#country\/GB\?status=free&prefix=8$/);
  assert.equal(await textOf(tab.locator("#result tbody tr")), "8081571000 to 8081571999 – Free – –");
  await field(tab, "Status").fill("");
  await field(tab, "First digits").fill("");
  await tab.keyboard.press("Enter");
  await waitForRange(tab, "All 12, by number");
  await tab.getByRole("columnheader", { name: "Effective from" }).getByRole("link").click();
  await tab.locator('th[aria-sort="ascending"]').waitFor();
  const rows = (await tab.locator("#result tbody tr").allInnerTexts()).map(words);
  assert.equal(rows[0], "1134960000 to 1134960999 Sample Telecom Limited Allocated 1997-04-01 –");
  assert.match(rows[5], /2099-01-01 –$/);
  await withTab(`/${new URL(tab.url()).hash}`, {}, async (other) => {
    await other.locator('th[aria-sort="ascending"]', { hasText: "Effective from" }).waitFor();
    assert.deepEqual((await other.locator("#result tbody tr").allInnerTexts()).map(words), rows);
  });
}));

test("a CSV file has all ranges that match, and one of countries has all of them", () => withTab("/#country/GB?holder=sample+telecom+limited", {}, async (tab) => {
  const save = async () => {
    await waitForResult(tab);
    const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: "CSV" }).click()]);
    return [download.suggestedFilename(), (await readFile(await download.path(), "utf8")).trim().split("\r\n")];
  };
  const [name, lines] = await save();
  assert.equal(name, "ranges-gb-sample-telecom-limited.csv");
  assert.equal(lines.length, 4);
  assert.ok(lines.slice(1).every((line) => line.includes("Sample Telecom Limited")), String(lines));
  await tab.goto(`${SERVICE_URL}/#countries`);
  await waitForRange(tab, "1–100 of ");
  const { pagination: { total } } = await getJson("/v1/countries?limit=1");
  const [list, countries] = await save();
  assert.equal(list, "countries.csv");
  assert.equal(new Set(countries).size, total + 1);
}));

test("a wrong country or prefix is marked at its field, and ranges that do not exist are not found", () =>
  withTab("/#country/XX", { expected: /status of 40[04]/ }, async (tab) => {
    await tab.locator("#countries-country-error", { hasText: /^Country .+'XX'/ }).waitFor();
    await tab.goto(`${SERVICE_URL}/#country/GB?prefix=77x`);
    await tab.locator("#countries-prefix-error", { hasText: "First digits must be 1 to 15 digits, got '77x'" }).waitFor();
    await tab.goto(`${SERVICE_URL}/#country/DE?status=Free`);
    await tab.locator(".failure").getByRole("heading", { name: "Not found" }).waitFor();
    assert.match(await tab.locator(".failure").innerText(), /DE/);
    await tab.goto(`${SERVICE_URL}/#country/GB?holder=nobody`);
    await tab.getByText("No range matches.").waitFor();
    assert.equal(await tab.locator("#result table").count(), 0);
    await tab.goto(`${SERVICE_URL}/#country/GBR`);
    await tab.getByLabel("Phone number").waitFor();
    assert.equal(new URL(tab.url()).hash, "", "what is not a country leads to the first view");
  }));

test("a country is required for filters", () => withTab("/#countries", {}, async (tab) => {
  await waitForResult(tab);
  await field(tab, "Status").fill("Free");
  await tab.keyboard.press("Enter");
  assert.equal(new URL(tab.url()).hash, "#countries");
  assert.ok(await field(tab, "Country").evaluate((choice) => choice.matches(":invalid")));
}));

for (const [part, path] of [["country", "**/v1/countries?country=GB"], ["ranges", "**/v1/countries/GB/ranges*"], ["holders", "**/v1/holders?*"]]) {
  test(`an outage of the ${part} shows an error instead of a part of the card`, () =>
    withTab("/", { expected: /status of 503/ }, async (tab) => {
      const message = "The data cannot be read; retry in a few seconds";
      await tab.route(path, (route) => route.fulfill({ status: 503, json: { error: "unavailable", message } }));
      await tab.goto(`${SERVICE_URL}/#country/GB`);
      await tab.locator(".failure.bad", { hasText: message }).waitFor();
      assert.equal(await tab.locator("#result article").count(), 0);
      await tab.unrouteAll();
      await tab.getByRole("button", { name: "Retry" }).click();
      await (await waitForResult(tab)).getByRole("heading", { name: "United Kingdom" }).waitFor();
    }));
}

test("countries need a key, and the key's field says so", () =>
  withTab("/#country/GB", { key: "tnr_live_unknown", expected: /status of 401/ }, async (tab) => {
    await tab.locator("#key-error", { hasText: "Unknown API key" }).waitFor();
    await tab.locator("#key").fill(KEY);
    await tab.getByRole("button", { name: "Use key" }).click();
    await (await waitForResult(tab)).getByRole("heading", { name: "United Kingdom" }).waitFor();
  }));

const NUMBERS = {
  "+442079460958": ["Valid format", "Landline · Sample Networks plc · London, United Kingdom", "Holder Sample Networks plc",
    "Range +44 2079460000 to 2079460999", "Status Allocated", "Effective from June 1, 1998",
    "The regulator lists this range as Allocated.", "may have been ported", "Source: Ofcom, ", "License: "],
  "+441134961000": ["Valid format, not assigned", "Not assigned · ", "Holder None", "Status Free", "The regulator lists this range as Free.",
    "probably has a forged caller ID", "Source: Ofcom, "],
  "+442079462000": ["Valid format, reserved", "Reserved · ", "Status Quarantined", "The regulator lists this range as Quarantined.",
    "No carrier holds this range.", "Source: Ofcom, "],
  "+442079461000": ["Valid format, not in service yet", "Holder Sample Networks plc", "The regulator lists this range as Allocated, from January 1, 2099.",
    "do not work yet", "Source: Ofcom, "],
  // The network that libphonenumber knows contradicts the regulator.
  "+447709400000": ["Not assigned · United Kingdom", "Ofcom lists no range with this number.", "Source: Ofcom, "],
  "+4915123456789": ["Mobile · T-Mobile · Germany", "first assigned"],
  "+493012345678": ["Landline · Berlin", "No open data loaded here says who holds this number."],
};

test("a number shows its range, holder and status, and their source", () => withTab("/", {}, async (tab) => {
  for (const [number, shows] of Object.entries(NUMBERS)) {
    await tab.getByLabel("Phone number").fill(number);
    await tab.keyboard.press("Enter");
    await tab.waitForFunction((path) => document.getElementById("request").textContent.includes(path), `/${number}?`);
    const text = await textOf(await waitForResult(tab));
    for (const expected of shows) assert.ok(text.includes(expected), `${number}: ${expected}\n${text}`);
    assert.equal(text.includes("Source: "), shows.at(-1).startsWith("Source: ") || shows.includes("Source: Ofcom, "), text);
    assert.ok(number !== "+447709400000" || !text.includes("Carrier"), text);
  }
  await tab.goto(`${SERVICE_URL}/#number?tn=%2B442079460958`);
  await (await waitForResult(tab)).getByRole("link", { name: "Sample Networks plc" }).click();
  await waitForRange(tab, "Sample Networks plc · all 2");
  await tab.goBack();
  await (await waitForResult(tab)).getByRole("link", { name: "United Kingdom (GB)" }).click();
  await tab.getByRole("heading", { name: "United Kingdom" }).waitFor();
  assert.match(tab.url(), /#country\/GB$/);
}));

/** Changes fields of the range with a number, and of the number. */
const changeRange = (tab, fields, number = {}) => tab.route("**/v1/format/*", async (route) => {
  const response = await route.fetch();
  const body = await response.json();
  const assignment = { ...body.assignment, range: { ...body.assignment.range, ...fields } };
  await route.fulfill({ response, json: { ...body, ...number, assignment } });
});

test("a range without a published status or date has words for both, and a place if one is listed", () => withTab("/", {}, async (tab) => {
  await changeRange(tab, { status: null, effectiveFrom: null, place: "Madrid", to: "2079460000" });
  await tab.goto(`${SERVICE_URL}/#number?tn=%2B442079460958`);
  const text = await textOf(await waitForResult(tab));
  for (const expected of ["Range +44 2079460000 Status Not published Listed place Madrid", "The regulator lists this range as assigned."]) {
    assert.ok(text.includes(expected), `${expected}\n${text}`);
  }
  assert.ok(!text.includes("Effective from"), text);
}));

test("a holder leads to the plan that its territory shares, and to none if the country is unknown", () => withTab("/", {}, async (tab) => {
  for (const [country, href] of [["JE", "#country/GB?holder=Sample+Networks+plc"], [null, null]]) {
    await changeRange(tab, {}, { country });
    await tab.goto(`${SERVICE_URL}/#number?tn=%2B442079460958`);
    await tab.reload();
    const holder = (await waitForResult(tab)).locator("div", { has: tab.locator("dt", { hasText: /^Holder$/ }) }).locator("dd").last();
    assert.equal(await holder.innerText(), "Sample Networks plc");
    assert.equal(await holder.locator("a").count(), href ? 1 : 0);
    if (href) assert.equal(await holder.locator("a").getAttribute("href"), href);
    await tab.unrouteAll();
  }
}));

test("the current view's link is in view on a phone, and the others can be scrolled to", () =>
  withTab("/#countries", { width: 360, height: 740, touch: true }, async (tab) => {
    const isInNav = (name) => tab.getByRole("link", { name, exact: true }).evaluate((link) => {
      const [{ left, right }, nav] = [link, link.parentElement].map((it) => it.getBoundingClientRect());
      return left >= nav.left - 1 && right <= nav.right + 1;
    });
    await waitForResult(tab);
    assert.ok(await isInNav("Countries"));
    assert.ok(!await isInNav("Number"));
    await tab.locator('.views [data-view="number"]').click();
    assert.ok(await isInNav("Number"));
    assert.deepEqual(await violations(tab), []);
  }));

test("names in a country's data are never rendered as markup, and fit a phone", () => withTab("/", { width: 360 }, async (tab) => {
  const hostile = `<img src=x onerror="alert(1)">${"W".repeat(200)}`;
  await tab.route("**/v1/countries/GB/ranges*", (route) => route.fulfill({ json: {
    country: "GB", source: { publisher: hostile, license: hostile, date: null }, pagination: { limit: 100, offset: 0, total: 1 },
    ranges: [{ from: "7700900000", to: "7700909999", use: "ASSIGNED", status: hostile, holder: hostile, effective_from: "2003-02-01", place: hostile }],
  } }));
  await tab.route("**/v1/holders?*", (route) => route.fulfill({ json: {
    holders: [{ holder: hostile, ranges: 1, numbers: 10 ** 10 }], pagination: { limit: 100, offset: 0, total: 1 },
  } }));
  for (const hash of ["#country/GB", `#country/GB?holder=${encodeURIComponent(hostile)}`]) {
    await tab.goto(`${SERVICE_URL}/${hash}`);
    await (await waitForResult(tab)).getByText(hostile).first().waitFor();
    assert.equal(await tab.locator("#result img:not(.flag), #result script").count(), 0);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth), hash);
  }
}));
