// Area codes, carriers and search: tables, pages, shared links, and Back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { SERVICE_URL, waitForResult, withTab, startBrowser, stopBrowser } from "./browser.mjs";

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
  assert.equal(found.length, 25);
  assert.ok((await tab.locator(".list-head").innerText()).includes("1 to 25 of 135"));
  for (let page = 2; page <= 6; page += 1) {
    await turnPage(tab, "Next");
    assert.match(tab.url(), new RegExp(`#area-code\\?npa=415&offset=${(page - 1) * 25}$`));
    assert.ok(await tab.locator("#result h2").evaluate((heading) => heading === document.activeElement));
    found.push(...await firstColumn(tab));
  }
  assert.equal(new Set(found).size, 135);
  assert.equal(await tab.getByRole("link", { name: "Next" }).count(), 0, "the last page has no next one");
  const turned = requested.filter(({ searchParams }) => searchParams.has("offset"));
  const versions = new Set(turned.map((url) => url.searchParams.get("version")));
  assert.equal(versions.size, 1);
  assert.ok(![...versions][0].includes(" ") && [...versions][0].length > 10);

  await turnPage(tab, "Previous");
  await tab.goBack();
  await waitForRange(tab, "126 to 135 of 135");
  await tab.reload();
  await waitForRange(tab, "126 to 135 of 135");
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
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/npa/212/nxx/234");
  assert.deepEqual(await firstColumn(tab), ["234"]);
  await tab.getByRole("link", { name: "All exchanges in 212" }).click();
  await tab.getByRole("heading", { name: "Area code 212" }).waitFor();
}));

test("carriers can be filtered, and each has a card", () => withTab("/#carriers", {}, async (tab) => {
  await waitForRange(tab, "1 to 25 of 165");
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
    assert.ok(await other.locator("details").evaluate((details) => details.open));
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
    headers: { link: `</v1/changes?npa=415&since=${later}&limit=25&offset=0>; rel="next"` },
    json: {
      since: published(earlier, "2026-11-20T09:00:41Z"), until: published(later, "2026-11-21T09:00:38Z"), is_current: false,
      changes: [{ ...published(later, "2026-11-21T09:00:38Z"), change: "changed", kind: "exchange", key: "415-208", fields }],
      pagination: { limit: 25, offset: 0, total: 1 },
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
  for (const text of ["Nov 21, 2026", "415-208", "Exchange changed", "ocn 296C → 291L", "company_name none → SAMPLE"]) {
    assert.ok(row.includes(text), row);
  }
  await tab.getByRole("link", { name: "Next" }).click();
  await tab.waitForURL(/#changes\?npa=415&since=20261121T090003Z-Zx8WvU3tSrQpOn6m$/);
  await tab.getByRole("link", { name: "415-208" }).click();
  await (await waitForResult(tab)).getByRole("heading", { name: "Exchange 415-208" }).waitFor();
}));

test("an exchange and a carrier link to their histories", () => withTab("/#area-code?npa=305&nxx=234", {}, async (tab) => {
  for (const [hash, title] of [[null, "History of exchange 305-234"], ["#carriers?ocn=5927", "History of carrier 5927"]]) {
    if (hash) await tab.goto(`${SERVICE_URL}/${hash}`);
    await (await waitForResult(tab)).getByRole("link", { name: "History" }).click();
    await (await waitForResult(tab)).getByRole("heading", { name: title }).waitFor();
    await tab.getByText("No matches.").waitFor();
  }
}));

const REJECTED = { expected: /status of 400/ };

test("an expired version's page is replaced by one from the current version", () => withTab("/#area-code?npa=415", REJECTED, async (tab) => {
  await waitForResult(tab);
  await tab.evaluate(() => history.pushState({ version: "20200101T000000Z-AAAAAAAAAAAAAAAA" }, "", "#area-code?npa=415&offset=25"));
  await tab.reload();
  await waitForRange(tab, "26 to 50 of 135");
}));

/** Makes the service return one exchange for area code 415. */
const returnExchange = (tab, name, status) => tab.route("**/v1/npa/415*", (route) => route.fulfill({ json: {
  npa: "415", state: "CA", country: "US", total_exchanges: 1, pagination: { limit: 25, offset: 0, total: 1 },
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
        await waitForRange(tab, "26 to 50 of 135");
        await tab.getByRole("tab", { name: "curl" }).click();
        assert.ok((await tab.locator("#code-text").textContent()).includes(`${base}/numbers/v1/npa/415?`));
        await tab.getByRole("link", { name: "API docs" }).click();
        await tab.getByRole("heading", { name: "List carriers" }).waitFor();
      });
    }
  } finally {
    proxy.close();
    proxy.closeAllConnections();
  }
});
