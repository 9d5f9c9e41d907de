// An area code's place in the numbering plan, its holders, and the map of states.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, waitForResult, withTab, startBrowser, stopBrowser } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

/** Changes fields in an area code's plan. */
const changePlan = (tab, npa, fields) => tab.route(`**/v1/area-codes/${npa}`, async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: { ...await response.json(), ...fields } });
});

test("an area code's plan is shown in words above its exchanges", () => withTab("/", {}, async (tab) => {
  await changePlan(tab, "415", {
    in_service_on: "1947-01-01", parent: "213", overlay: ["415", "628"],
    dialing: { home_local: "7D", home_toll: "1+10D", foreign_local: "10D", foreign_toll: "1+10D", notes: "A note" },
    relief: { is_in_jeopardy: true, is_in_progress: true, status: "Active", planning_letters: ["489", "314"] },
  });
  await tab.goto(`${SERVICE_URL}/#area-code?npa=415`);
  const result = await waitForResult(tab);
  const text = (await result.locator(".plan dl").innerText()).replace(/\s+/g, " ");
  for (const expected of ["Service Geographic", "In service since January 1, 1947", "America/Los_Angeles", "Parent 213",
    "Overlays 628", "127 assigned, 1 unassigned, 7 reserved", "Local calls 7 digits; to other area codes, 10 digits",
    "Toll calls 1 plus 10 digits", "A note", "In jeopardy", "In progress. Status: Active. Planning letters: 489, 314."]) {
    assert.ok(text.includes(expected), `${expected}\n${text}`);
  }
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/npa/415?include=common_name&limit=100");
  await result.getByRole("link", { name: "628" }).click();
  await tab.getByRole("heading", { name: "Area code 628" }).waitFor();
}));

test("holders link to carriers, under the names people use", () => withTab("/#area-code?npa=415", {}, async (tab) => {
  const holders = (await waitForResult(tab)).locator(".holders li");
  const plan = await (await fetch(`${SERVICE_URL}/v1/area-codes/415`, { headers: { "X-API-Key": KEY } })).json();
  const shown = (await holders.allInnerTexts()).map((text) => text.replace(/\s+/g, " "));
  assert.deepEqual(shown, plan.holders.map(({ common_name: common, company_name: company, exchanges }) =>
    [common, company, exchanges].filter(Boolean).join(" ")));
  const lengths = await holders.locator(".length").evaluateAll((bars) => bars.map((bar) => bar.offsetWidth));
  assert.deepEqual(lengths, [...lengths].sort((a, b) => b - a));
  await holders.getByRole("link", { name: "Sample Mobile" }).click();
  await tab.getByRole("heading", { name: "Sample Mobile" }).waitFor();
}));

test("area codes without exchanges have only a plan", () => withTab("/", {}, async (tab) => {
  for (const [npa, expected] of [["800", "Toll free"], ["876", "Jamaica"], ["465", "Planned"]]) {
    await tab.goto(`${SERVICE_URL}/#area-code?npa=${npa}`);
    await tab.getByRole("heading", { name: `Area code ${npa}` }).waitFor();
    assert.ok((await tab.locator("#result").innerText()).includes(expected), expected);
    assert.equal(await tab.locator("#request").textContent(), `GET /v1/area-codes/${npa}`);
    assert.match(await tab.locator("#announcement").textContent(), new RegExp(`^Area code ${npa}: `));
    assert.equal(await tab.locator("#result table").count(), 0);
  }
}));

test("the map marks an area code's states, and lists any state's area codes", () => withTab("/", {}, async (tab) => {
  let requests = 0;
  tab.on("request", (request) => { if (request.url().includes("map.svg")) requests += 1; });
  await tab.reload();
  await tab.locator("#introduction").waitFor();
  assert.equal(requests, 0, "the map is not requested with the page");
  await changePlan(tab, "867", { states: ["NT", "NU", "YT"] });
  await tab.goto(`${SERVICE_URL}/#area-code?npa=867`);
  const marked = tab.locator(".map .marked");
  await marked.first().waitFor();
  const states = await marked.evaluateAll((links) => links.map((link) => link.dataset.state));
  assert.deepEqual(states.sort(), ["NT", "NU", "YT"]);
  const drawn = await tab.locator(".map a").evaluateAll((links) => links.map((link) => link.dataset.state));
  const choices = await tab.locator("#map-state option").evaluateAll((options) => options.map(({ value }) => value));
  assert.deepEqual(drawn.sort(), choices.sort(), "the map and the list have the same states");

  await tab.locator('.map [data-state="RI"] text').click({ force: true });
  await tab.getByRole("heading", { name: "Area codes in Rhode Island" }).waitFor();
  await tab.getByLabel("Area codes in", { exact: true }).selectOption("New York");
  await tab.getByRole("button", { name: "List", exact: true }).click();
  await tab.getByRole("heading", { name: "Area codes in New York" }).waitFor();
  assert.equal(await tab.locator("#request").textContent(), "GET /v1/area-codes?state=NY&limit=100");
  assert.deepEqual(await marked.evaluateAll((links) => links.map((link) => link.dataset.state)), ["NY"]);
  assert.equal(requests, 1);
  await tab.locator("#result").getByRole("link", { name: "212" }).first().click();
  await tab.getByRole("heading", { name: "Area code 212" }).waitFor();
}));

test("the area code is shown without the map if it cannot be loaded", () =>
  withTab("/", { expected: /ERR_FAILED/ }, async (tab) => {
    await tab.route("**/flags/map.svg", (route) => route.abort());
    await tab.goto(`${SERVICE_URL}/#area-code?npa=415`);
    await (await waitForResult(tab)).getByLabel("Area codes in", { exact: true }).waitFor();
    await tab.locator(".map").waitFor({ state: "detached" });
  }));
