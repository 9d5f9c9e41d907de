// Area codes, carriers and search: tables, pages, shared links, and Back.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, isInView, waitForResult, withTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const firstColumn = (tab) => tab.locator("#result tbody tr td:first-child").allInnerTexts();

/** Waits until a list shows this range. */
const waitForRange = (tab, text) => tab.locator(".list-head p", { hasText: text }).waitFor();

/** Opens the next or previous page. */
async function turnPage(tab, name) {
  const before = await tab.locator(".list-head p").innerText();
  await tab.getByRole("link", { name }).click();
  await tab.waitForFunction((text) => document.querySelector(".list-head p")?.innerText !== text, before);
}

test("all pages of an area code come from one version", () => withTab("/#area-code?npa=415", {}, async (tab) => {
  const requested = [];
  tab.on("request", (request) => requested.push(new URL(request.url())));
  await waitForResult(tab);
  const found = await firstColumn(tab);
  assert.equal(found.length, 100);
  assert.ok((await tab.locator(".list-head").innerText()).includes("1–100 of 135"));
  await turnPage(tab, "Next");
  assert.match(tab.url(), /#area-code\?npa=415&offset=100$/);
  assert.ok(await tab.locator("#result h2").evaluate((heading) => heading === document.activeElement));
  found.push(...await firstColumn(tab));
  assert.equal(new Set(found).size, 135);
  for (const name of ["Next", "Last"]) {
    assert.equal(await tab.getByRole("link", { name }).count(), 0, "the last page has no next one");
  }
  const turned = requested.filter(({ searchParams }) => searchParams.has("offset"));
  const versions = new Set(turned.map((url) => url.searchParams.get("version")));
  assert.equal(versions.size, 1);
  assert.ok(![...versions][0].includes(" ") && [...versions][0].length > 10);

  await turnPage(tab, "Previous");
  await tab.goBack();
  await waitForRange(tab, "101–135 of 135");
  await tab.reload();
  await waitForRange(tab, "101–135 of 135");
}));

test("a list leads to its first and last page, and to any other one", () => withTab("/#carriers", {}, async (tab) => {
  await waitForRange(tab, "1–100 of 165, by OCN");
  await turnPage(tab, "Last");
  await waitForRange(tab, "101–165 of 165");
  await turnPage(tab, "First");
  for (const [typed, range] of [["2", "101–165 of 165"], ["1", "1–100 of 165"], ["99", "101–165 of 165"]]) {
    await tab.getByLabel("Page", { exact: true }).fill(typed);
    await tab.keyboard.press("Enter");
    await waitForRange(tab, range);
  }
}));

test("columns sort all rows, not only those on the page", () => withTab("/#area-code?npa=415", {}, async (tab) => {
  await waitForResult(tab);
  const rows = async () => {
    const centers = tab.locator("#result tbody td:nth-child(4)");
    return (await centers.allInnerTexts()).filter((text) => text !== "–");
  };
  const sort = async (order) => {
    await tab.getByRole("columnheader", { name: "Rate center" }).getByRole("link").click();
    await tab.locator(`th[aria-sort="${order}"]`, { hasText: "Rate center" }).waitFor();
  };
  await sort("ascending");
  assert.ok(await tab.locator('th[aria-sort] a').evaluate((link) => link === document.activeElement));
  const ascending = await rows();
  assert.deepEqual(ascending, [...ascending].sort());
  await turnPage(tab, "Next");
  const rest = await rows();
  assert.ok(rest.every((center) => center >= ascending.at(-1)), String(rest));
  await tab.goBack();
  await sort("descending");
  assert.equal((await rows())[0], rest.at(-1) ?? ascending.at(-1));
  await tab.reload();
  await tab.locator('th[aria-sort="descending"]').waitFor();
}));

test("an exchange can be found in a long list", () => withTab("/#area-code?npa=415", {}, async (tab) => {
  const { exchanges } = await (await fetch(`${SERVICE_URL}/v1/npa/415?limit=100&offset=100`, { headers: { "X-API-Key": KEY } })).json();
  await waitForResult(tab);
  await tab.getByRole("textbox", { name: "NXX", exact: true }).fill(exchanges[3].nxx);
  await tab.keyboard.press("Enter");
  await tab.locator("tr.marked").waitFor();
  assert.equal(await tab.locator("tr.marked td").first().innerText(), exchanges[3].nxx);
  await waitForRange(tab, "101–135 of 135");
  await tab.getByRole("textbox", { name: "NXX", exact: true }).fill("200");
  await tab.keyboard.press("Enter");
  await waitForRange(tab, "1–100 of 135");
  await tab.locator("tr.marked", { hasText: "206" }).waitFor();
}));

test("a list's CSV file has all its rows, even if the quota pauses it", () => withTab("/#area-code?npa=415", { expected: /429/ }, async (tab) => {
  await waitForResult(tab);
  let isOver = true;
  await tab.route("**/v1/npa/415*format=csv*", (route) => {
    if (!isOver) return route.continue();
    isOver = false;
    return route.fulfill({ status: 429, headers: { "retry-after": "0" }, json: { error: "rate_limited", message: "Retry" } });
  });
  const [download] = await Promise.all([tab.waitForEvent("download"), tab.getByRole("button", { name: "CSV" }).click()]);
  assert.equal(download.suggestedFilename(), "exchanges-415.csv");
  const lines = (await readFile(await download.path(), "utf8")).trim().split("\r\n");
  assert.equal(lines[0], "npa,nxx,ocn,company_name,common_name,rate_center,status");
  assert.equal(lines.length, 136);
  assert.ok(lines.slice(1).every((line) => line.startsWith("415,")));
}));

test("a CSV file is not saved if the quota ends", () => withTab("/#area-code?npa=415", { expected: /429/ }, async (tab) => {
  await waitForResult(tab);
  await tab.route("**/v1/npa/415*format=csv*offset=100*", (route) => route.fulfill({
    status: 429, headers: { "retry-after": "7200" }, json: { error: "rate_limited", message: "The daily quota is used up" },
  }));
  await tab.getByRole("button", { name: "CSV" }).click();
  await tab.getByText("Quota exceeded, so there is no file. The daily quota is used up").waitFor();
}));

test("the request is folded below a list, and opens on demand", () => withTab("/#area-code?npa=415", {}, async (tab) => {
  await waitForResult(tab);
  const widths = await tab.evaluate(() => ["#result", ".output"].map((name) => document.querySelector(name).offsetWidth));
  assert.equal(widths[0], widths[1], "the list takes the full width");
  assert.ok(!await tab.locator("#code-panel").isVisible());
  await tab.getByRole("button", { name: "Request" }).click();
  await tab.getByRole("tab", { name: "curl" }).click();
  assert.ok(await isInView(tab.locator("#code-panel")));
  await tab.goto(`${SERVICE_URL}/#number?tn=2122345678`);
  assert.ok(await (await waitForResult(tab)).evaluate((result) => result.offsetWidth < result.parentElement.offsetWidth));
  assert.ok(await tab.locator("#code-panel").isVisible());
}));

test("a list past the last page says so", () => withTab("/#area-code?npa=415&offset=500", {}, async (tab) => {
  await waitForResult(tab);
  await waitForRange(tab, "California, United States · past the last page; 135 in total");
  assert.equal(await tab.locator("#result table").count(), 0);
  await turnPage(tab, "Previous");
}));

test("a single exchange can be looked up", () => withTab("/#area-code", {}, async (tab) => {
  await tab.locator("#area-npa").fill("212");
  await tab.getByLabel("Exchange (NXX)").first().fill("234");
  await tab.keyboard.press("Enter");
  await (await waitForResult(tab)).getByRole("heading", { name: "Exchange 212-234" }).waitFor();
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/npa/212/nxx/234?include=common_name");
  assert.match(await tab.locator("#result dl").innerText(), /\(212\) 234-0000 to 234-9999/);
  await tab.getByRole("link", { name: "All exchanges in 212" }).click();
  await tab.getByRole("heading", { name: "Area code 212" }).waitFor();
}));

test("carriers can be filtered, and each has a card", () => withTab("/#carriers", {}, async (tab) => {
  await waitForRange(tab, "1–100 of 165");
  const form = tab.locator('form[data-view="carriers"]');
  await form.getByLabel("Name or OCN").fill("telephone new york");
  await form.getByLabel("Country").selectOption("US");
  await form.getByLabel("State or province").selectOption("New York");
  await form.getByLabel("Type").selectOption("ILEC");
  await form.getByRole("button", { name: "Find" }).click();
  await waitForRange(tab, "1 match");
  await tab.getByRole("link", { name: "908K" }).click();
  const heading = tab.getByRole("heading", { name: "SAMPLE TELEPHONE COMPANY OF NEW YORK" });
  await heading.waitFor();
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/carrier/908K");
  assert.match((await tab.locator(".bars").innerText()).replace(/\s+/g, " "), /New York 29/);
  await tab.goBack();
  await waitForRange(tab, "1 match");
  assert.equal(await form.getByLabel("Name or OCN").inputValue(), "telephone new york");
  assert.equal(await form.getByLabel("State or province").inputValue(), "NY");
}));

test("an OCN opens its carrier, and words that look like one find carriers", () =>
  withTab("/#carriers", { expected: /404/ }, async (tab) => {
    const field = tab.locator("#carriers-q");
    await field.fill("5927");
    await tab.keyboard.press("Enter");
    await tab.getByRole("heading", { name: "Sample Mobile" }).waitFor();
    await tab.getByText("SAMPLE MOBILE USA, INC.", { exact: true }).waitFor();
    await tab.getByRole("link", { name: "List its exchanges" }).click();
    await (await waitForResult(tab)).getByRole("table", { name: "Exchanges" }).waitFor();
    await tab.goto(`${SERVICE_URL}/#carriers?q=99ZZ`);
    await tab.getByText("No carrier matches.").waitFor();
    assert.equal(await tab.locator("#request").textContent(), "GET /v1/carriers?q=99ZZ&limit=100");
  }));

test("a search with all filters can be shared as a link", () => withTab("/#search", {}, async (tab) => {
  const form = tab.locator('form[data-view="search"]');
  await form.getByText("More filters").click();
  await form.getByLabel("Carrier or place").fill("sample");
  await form.getByLabel("State or province").selectOption("NY");
  await form.getByLabel("Carrier type").selectOption("WIRELESS");
  await form.getByLabel("Area code (NPA)").fill("212");
  await form.getByLabel("OCN").fill("4070");
  await form.getByLabel("Status").selectOption("ASSIGNED");
  await form.getByRole("button", { name: "Search" }).click();
  await (await waitForResult(tab)).getByRole("table", { name: "Exchanges" }).waitFor();
  const [shared, rows] = [new URL(tab.url()), await firstColumn(tab)];
  assert.ok(rows.length > 0 && rows.every((row) => row.startsWith("212-")), String(rows));
  await withTab(`/${shared.hash}`, {}, async (other) => {
    await (await waitForResult(other)).getByRole("table").waitFor();
    assert.deepEqual(await firstColumn(other), rows);
    assert.equal(await other.locator("#search-ocn").inputValue(), "4070");
    assert.ok(await other.locator('form[data-view="search"] details').evaluate((details) => details.open));
  });
}));

test("an empty search sends no request, and a search without matches says so", () => withTab("/#search", {}, async (tab) => {
  let requests = 0;
  tab.on("request", (request) => { if (request.url().includes("/v1/search")) requests += 1; });
  await tab.locator('form[data-view="search"]').getByRole("button", { name: "Search" }).click();
  assert.equal(requests, 0);
  await tab.getByLabel("Carrier or place").fill("no such carrier");
  await tab.keyboard.press("Enter");
  await tab.getByText("No matches.").waitFor();
}));

/** Makes the service return one change to exchange 415-208, and a link to later ones. */
const returnChange = (tab) => tab.route("**/v1/changes*", (route) => {
  const [earlier, later] = ["20261120T090003Z-5fGh2kLmN8pQrS1t", "20261121T090003Z-Zx8WvU3tSrQpOn6m"];
  const published = (version, time) => ({ publication: version, version, published_at: time });
  const fields = { ocn: { before: "296C", after: "291L" }, company_name: { before: null, after: "SAMPLE" } };
  return route.fulfill({
    headers: { link: `</v1/changes?npa=415&since=${later}&limit=100&offset=0>; rel="next"` },
    json: {
      since: published(earlier, "2026-11-20T09:00:41Z"), until: published(later, "2026-11-21T09:00:38Z"), is_current: false,
      history_begins_at: "2026-11-20T09:00:41Z",
      changes: [{ ...published(later, "2026-11-21T09:00:38Z"), change: "changed", kind: "exchange", key: "415-208", fields }],
      pagination: { limit: 100, offset: 0, total: 1 },
    },
  });
});

test("changes show fields before and after, and lead to the record and to later changes", () => withTab("/#changes", {}, async (tab) => {
  await returnChange(tab);
  const form = tab.locator('form[data-view="changes"]');
  await form.getByLabel("Area code (NPA)").fill("415");
  await form.getByRole("button", { name: "List" }).click();
  await (await waitForResult(tab)).getByRole("table", { name: "Changes" }).waitFor();
  const row = await tab.locator("#result tbody tr").innerText();
  for (const text of ["Nov 21, 2026", "415-208", "Exchange changed", "OCN 296C → 291L", "Legal name none → SAMPLE"]) {
    assert.ok(row.includes(text), row);
  }
  await tab.getByRole("link", { name: "Next" }).click();
  await tab.waitForURL(/#changes\?npa=415&since=20261121T090003Z-Zx8WvU3tSrQpOn6m$/);
  await tab.getByRole("link", { name: "415-208" }).click();
  await (await waitForResult(tab)).getByRole("heading", { name: "Exchange 415-208" }).waitFor();
}));

/** Waits for an empty list of changes, and returns its reason. */
async function emptyReason(tab) {
  const reason = (await waitForResult(tab)).locator(".failure");
  await reason.waitFor();
  return reason.innerText();
}

test("an exchange and a carrier link to their histories", () => withTab("/#area-code?npa=305&nxx=234", {}, async (tab) => {
  for (const [hash, title] of [[null, "History of exchange 305-234"], ["#carriers?ocn=5927", "History of carrier 5927"]]) {
    if (hash) await tab.goto(`${SERVICE_URL}/${hash}`);
    await (await waitForResult(tab)).getByRole("link", { name: "History", exact: true }).click();
    await (await waitForResult(tab)).getByRole("heading", { name: title }).waitFor();
    assert.match(await emptyReason(tab), /has been the same since the history began on \w+ \d+, \d{4}/);
  }
}));

test("a history is a timeline with values before and after", () => withTab("/", {}, async (tab) => {
  const published = (version, time) => ({ publication: version, version, published_at: time });
  const [first, later] = [published("a", "2026-11-20T09:00:41Z"), published("b", "2026-11-21T09:00:38Z")];
  const fields = { rate_center: { before: "SNFC CNTRL", after: "SAN RAFAEL" }, "blocks.5.ocn": { before: null, after: "291L" } };
  await tab.route("**/nxx/208/history*", (route) => route.fulfill({ json: {
    since: first, until: later, is_current: true, history_begins_at: first.published_at,
    changes: [{ ...later, change: "changed", kind: "exchange", key: "415-208", fields }],
    pagination: { limit: 100, offset: 0, total: 1 },
  } }));
  await tab.goto(`${SERVICE_URL}/#changes?exchange=415-208`);
  await waitForResult(tab);
  const text = (await tab.locator(".timeline").innerText()).replace(/\s+/g, " ");
  assert.equal(text, "November 21, 2026 at 9:00 AM UTC Changed Rate center SNFC CNTRL → SAN RAFAEL Block 5: OCN none → 291L "
    + "The history begins on November 20, 2026 at 9:00 AM UTC.");
  await tab.getByRole("link", { name: "Exchange 415-208 now" }).click();
  await tab.getByRole("heading", { name: "Exchange 415-208" }).waitFor();
}));

test("an empty list of changes says why, and since when there is a history", () => withTab("/#changes", {}, async (tab) => {
  assert.match(await emptyReason(tab), /^No history yet\s+It begins with the data published on \w+ \d+, \d{4}/);
  assert.match(await tab.locator("#changes-hint").innerText(), /^The history begins on \w+ \d+, \d{4}/);
  const [earlier, later] = ["2026-11-20T09:00:41Z", "2026-11-21T09:00:38Z"];
  const published = (time) => ({ publication: time, version: time, published_at: time });
  for (const [since, until, filters, expected] of [
    [earlier, later, "", "Nothing changed"], [earlier, later, "&npa=415", "No change matches these filters"],
    [later, later, "", "No later data"],
  ]) {
    await tab.route("**/v1/changes*", (route) => route.fulfill({ json: {
      since: published(since), until: published(until), is_current: true, history_begins_at: earlier, changes: [],
      pagination: { limit: 100, offset: 0, total: 0 },
    } }));
    await tab.goto(`${SERVICE_URL}/#changes?since=${since.slice(0, 10)}${filters}`);
    await tab.getByRole("heading", { name: expected }).waitFor();
    await tab.goto(`${SERVICE_URL}/#number`);
  }
}));

test("dates outside the history are clamped", () => withTab("/#changes", { expected: /status of 400/ }, async (tab) => {
  await waitForResult(tab);
  const field = tab.getByLabel("Since", { exact: true });
  assert.equal(await field.getAttribute("type"), "date");
  for (const date of ["1999-12-31", "9999-12-31"]) {
    await field.fill(date);
    await tab.keyboard.press("Enter");
    await tab.waitForURL(new RegExp(`since=${date}`));
    assert.match(await emptyReason(tab), /^No history yet|^No later data/);
    assert.equal(await tab.locator(".field-error").count(), 0);
  }
}));

test("the sources are a page with each report's age, completeness and license", () => withTab("/", { key: null }, async (tab) => {
  const { reports } = await (await fetch(`${SERVICE_URL}/v1/sources`)).json();
  const [date] = [new Date(Date.now() - 100 * 86_400_000).toISOString().slice(0, 10)];
  await tab.route("**/v1/sources", (route) => route.fulfill({ json: {
    version: "a", imported_at: "2026-11-21T09:00:38Z", reports: reports.map((report) => ({ ...report, date })),
  } }));
  await tab.getByRole("link", { name: "Sources" }).click();
  await tab.getByRole("heading", { name: "Sources" }).waitFor();
  const cards = await tab.locator("#result article").allInnerTexts();
  assert.equal(cards.length, reports.length);
  cards.forEach((card, index) => {
    const { title, license, cannot_tell: limits, rows, percentages } = reports[index];
    for (const expected of [title, license, "3 months old", rows.toLocaleString("en"), ...limits]) {
      assert.ok(card.includes(expected), `${expected}\n${card}`);
    }
    assert.equal(card.includes("name a holder"), "holder" in percentages);
  });
}));

const REJECTED = { expected: /status of 400/ };

test("an expired version's page is replaced by one from the current version", () => withTab("/#area-code?npa=415", REJECTED, async (tab) => {
  await waitForResult(tab);
  await tab.evaluate(() => history.pushState({ version: "20200101T000000Z-AAAAAAAAAAAAAAAA" }, "", "#area-code?npa=415&offset=100"));
  await tab.reload();
  await waitForRange(tab, "101–135 of 135");
}));

/** Makes the service return one exchange for area code 415. */
const returnExchange = (tab, name, status) => tab.route("**/v1/npa/415*", (route) => route.fulfill({ json: {
  npa: "415", state: "CA", country: "US", total_exchanges: 1, pagination: { limit: 100, offset: 0, total: 1 },
  exchanges: [{ nxx: "200", ocn: "javascript:alert(3)", company_name: name, rate_center: name, status }],
} }));

for (const width of [360, 768, 1280]) {
  test(`a name with 250 characters and no space fits ${width} px`, () => withTab("/", { width }, async (tab) => {
    await returnExchange(tab, "W".repeat(250), "ASSIGNED");
    await tab.goto(`${SERVICE_URL}/#area-code?npa=415`);
    await waitForResult(tab);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }));
}

test("names in the data are never rendered as markup", () => withTab("/#area-code", {}, async (tab) => {
  const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
  await returnExchange(tab, hostile, hostile);
  await tab.goto(`${SERVICE_URL}/#area-code?npa=415`);
  await (await waitForResult(tab)).getByText(hostile).first().waitFor();
  assert.equal(await tab.locator("#result img, #result script").count(), 0);
  const links = await tab.locator("#result a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.ok(links.every((link) => link.startsWith("#")), String(links));
}));

test("the page works under a base path, with and without a trailing slash", async () => {
  const { createServer, request } = await import("node:http");
  const upstream = new URL(SERVICE_URL);
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url.replace(/^\/numbers/, "") || "/";
    if (!incoming.url.startsWith("/numbers")) { outgoing.writeHead(500).end(); return; }
    const forwarded = request({ host: upstream.hostname, port: upstream.port, path, method: incoming.method,
      headers: incoming.headers }, (received) => {
      outgoing.writeHead(received.statusCode, received.headers);
      received.pipe(outgoing);
    });
    incoming.pipe(forwarded);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  const base = `http://127.0.0.1:${proxy.address().port}`;
  try {
    for (const root of ["/numbers", "/numbers/"]) {
      await withTab(`${root}#area-code?npa=415`, { base }, async (tab) => {
        await waitForResult(tab);
        await turnPage(tab, "Next");
        await waitForRange(tab, "101–135 of 135");
        await tab.getByRole("button", { name: "Request" }).click();
        await tab.getByRole("tab", { name: "curl" }).click();
        assert.ok((await tab.locator("#code-text").textContent()).includes(`${base}/numbers/v1/npa/415?`));
        await tab.getByRole("link", { name: "API docs" }).click();
        await tab.goto(`${base}/numbers/docs#listCarriers`);
        await tab.locator("#listCarriers").waitFor();
      });
    }
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
});
