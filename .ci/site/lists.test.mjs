// Area codes, carriers and search: tables, pages, links that can be shared, and Back.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { URL_OF_SERVICE, answer, inTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const firstColumn = (tab) => tab.locator("#answer tbody tr td:first-child").allInnerTexts();

/** Waits until a list shows this range. */
const range = (tab, text) => tab.locator(".list-head p", { hasText: text }).waitFor();

/** The next or previous page, once it is shown. */
async function turn(tab, name) {
  const before = await tab.locator(".list-head p").innerText();
  await tab.getByRole("link", { name }).click();
  await tab.waitForFunction((text) => document.querySelector(".list-head p")?.innerText !== text, before);
}

test("all pages of an area code come from one version", () => inTab("/#area-code?npa=415", {}, async (tab) => {
  const requested = [];
  tab.on("request", (request) => requested.push(new URL(request.url())));
  await answer(tab);
  const found = await firstColumn(tab);
  assert.equal(found.length, 25);
  assert.ok((await tab.locator(".list-head").innerText()).includes("California, United States · 1 to 25 of 135"));
  for (let page = 2; page <= 6; page += 1) {
    await turn(tab, "Next");
    assert.match(tab.url(), new RegExp(`#area-code\\?npa=415&offset=${(page - 1) * 25}$`));
    assert.ok(await tab.locator("#answer h2").evaluate((heading) => heading === document.activeElement));
    found.push(...await firstColumn(tab));
  }
  assert.equal(new Set(found).size, 135);
  assert.equal(await tab.getByRole("link", { name: "Next" }).count(), 0, "the last page has no next one");
  const versions = new Set(requested.map((url) => url.searchParams.get("version")));
  assert.equal(versions.size, 1);
  assert.ok(![...versions][0].includes(" ") && [...versions][0].length > 10);

  await turn(tab, "Previous");
  await tab.goBack();
  await range(tab, "126 to 135 of 135");
  await tab.reload();
  await range(tab, "126 to 135 of 135");
}));

test("a URL past the last page says so", () => inTab("/#area-code?npa=415&offset=500", {}, async (tab) => {
  await answer(tab);
  await range(tab, "California, United States · none after the last of 135");
  assert.equal(await tab.locator("#answer table").count(), 0);
  await turn(tab, "Previous");
}));

test("a single exchange can be looked up", () => inTab("/#area-code", {}, async (tab) => {
  await tab.locator("#area-npa").fill("212");
  await tab.getByLabel("Exchange (NXX)").first().fill("234");
  await tab.keyboard.press("Enter");
  await (await answer(tab)).getByRole("heading", { name: "Exchange 212-234" }).waitFor();
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/npa/212/nxx/234");
  assert.deepEqual(await firstColumn(tab), ["234"]);
  await tab.getByRole("link", { name: "All exchanges of 212" }).click();
  await tab.getByRole("heading", { name: "Area code 212" }).waitFor();
}));

test("carriers can be filtered, and each has a card", () => inTab("/#carriers", {}, async (tab) => {
  await range(tab, "1 to 25 of 165");
  const form = tab.locator('form[data-view="carriers"]');
  await form.getByLabel("Name or OCN").fill("telephone new york");
  await form.getByLabel("Country").selectOption("US");
  await form.getByLabel("State or province").selectOption("New York");
  await form.getByLabel("Type").selectOption("ILEC");
  await form.getByRole("button", { name: "Find" }).click();
  await range(tab, "1 match");
  await tab.getByRole("link", { name: "908K" }).click();
  const heading = tab.getByRole("heading", { name: "SAMPLE TELEPHONE COMPANY OF NEW YORK" });
  await heading.waitFor();
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/carrier/908K");
  assert.match((await tab.locator(".bars").innerText()).replace(/\s+/g, " "), /New York 29/);
  await tab.goBack();
  await range(tab, "1 match");
  assert.equal(await form.getByLabel("Name or OCN").inputValue(), "telephone new york");
  assert.equal(await form.getByLabel("State or province").inputValue(), "NY");
}));

test("a search with all filters can be shared as a link", () => inTab("/#search", {}, async (tab) => {
  const form = tab.locator('form[data-view="search"]');
  await form.getByText("More filters").click();
  await form.getByLabel("Carrier or place").fill("sample");
  await form.getByLabel("State or province").selectOption("NY");
  await form.getByLabel("Carrier type").selectOption("WIRELESS");
  await form.getByLabel("Area code (NPA)").fill("212");
  await form.getByLabel("OCN").fill("4070");
  await form.getByLabel("Status").selectOption("ASSIGNED");
  await form.getByRole("button", { name: "Search" }).click();
  await (await answer(tab)).getByRole("table", { name: "Exchanges" }).waitFor();
  const [shared, rows] = [new URL(tab.url()), await firstColumn(tab)];
  assert.ok(rows.length > 0 && rows.every((row) => row.startsWith("212-")), String(rows));
  await inTab(`/${shared.hash}`, {}, async (other) => {
    await (await answer(other)).getByRole("table").waitFor();
    assert.deepEqual(await firstColumn(other), rows);
    assert.equal(await other.getByLabel("OCN").last().inputValue(), "4070");
    assert.ok(await other.locator("details").evaluate((details) => details.open));
  });
}));

test("an empty search sends nothing, and a search without results says so", () => inTab("/#search", {}, async (tab) => {
  let requests = 0;
  tab.on("request", (request) => { if (request.url().includes("/v1/search")) requests += 1; });
  await tab.locator('form[data-view="search"]').getByRole("button", { name: "Search" }).click();
  assert.equal(requests, 0);
  await tab.getByLabel("Carrier or place").fill("nobody is called like this");
  await tab.keyboard.press("Enter");
  await tab.getByText("No matches.").waitFor();
}));

const REFUSED = { expected: /status of 400/ };

test("a page of an expired version becomes one of the current version", () => inTab("/#area-code?npa=415", REFUSED, async (tab) => {
  await answer(tab);
  await tab.evaluate(() => history.pushState({ version: "20200101T000000Z-AAAAAAAAAAAAAAAA" }, "", "#area-code?npa=415&offset=25"));
  await tab.reload();
  await range(tab, "26 to 50 of 135");
}));

/** Answers area code 415 with one exchange. */
const answerWith = (tab, name, status) => tab.route("**/v1/npa/415*", (route) => route.fulfill({ json: {
  npa: "415", state: "CA", country: "US", total_exchanges: 1, pagination: { limit: 25, offset: 0, total: 1 },
  exchanges: [{ nxx: "200", ocn: "javascript:alert(3)", company_name: name, rate_center: name, status }],
} }));

for (const width of [360, 768, 1280]) {
  test(`a name of 250 characters without a space fits ${width} px`, () => inTab("/", { width }, async (tab) => {
    await answerWith(tab, "W".repeat(250), "ASSIGNED");
    await tab.goto(`${URL_OF_SERVICE}/#area-code?npa=415`);
    await answer(tab);
    assert.ok(await tab.evaluate(() => document.documentElement.scrollWidth <= innerWidth));
  }));
}

test("names in the data are never markup", () => inTab("/#area-code", {}, async (tab) => {
  const hostile = '<img src=x onerror="alert(1)"><script>alert(2)</script>';
  await answerWith(tab, hostile, hostile);
  await tab.goto(`${URL_OF_SERVICE}/#area-code?npa=415`);
  await (await answer(tab)).getByText(hostile).first().waitFor();
  assert.equal(await tab.locator("#answer img, #answer script").count(), 0);
  const links = await tab.locator("#answer a").evaluateAll((all) => all.map((link) => link.getAttribute("href")));
  assert.ok(links.every((link) => link.startsWith("#")), String(links));
}));

test("the page works below a path, with and without a trailing slash", async () => {
  const { createServer, request } = await import("node:http");
  const upstream = new URL(URL_OF_SERVICE);
  const proxy = createServer((incoming, outgoing) => {
    const path = incoming.url.replace(/^\/numbers/, "") || "/";
    if (!incoming.url.startsWith("/numbers")) { outgoing.writeHead(500).end(); return; }
    const passed = request({ host: upstream.hostname, port: upstream.port, path, method: incoming.method,
      headers: incoming.headers }, (answered) => {
      outgoing.writeHead(answered.statusCode, answered.headers);
      answered.pipe(outgoing);
    });
    incoming.pipe(passed);
  });
  await new Promise((listening) => proxy.listen(0, "127.0.0.1", listening));
  const base = `http://127.0.0.1:${proxy.address().port}`;
  try {
    for (const root of ["/numbers", "/numbers/"]) {
      await inTab(`${root}#area-code?npa=415`, { base }, async (tab) => {
        await answer(tab);
        await turn(tab, "Next");
        await range(tab, "26 to 50 of 135");
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
