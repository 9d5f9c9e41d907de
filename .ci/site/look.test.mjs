// Appearance and accessibility: narrow screens, light and dark mode, print, keyboard, screen readers.

import assert from "node:assert/strict";
import { after, before, test } from "node:test";

import { SERVICE_URL, waitForResult, withTab, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const PATHS = [
  "/", "/#number?tn=%2B13052345678", "/#number?tn=hello", "/#number?tn=305-234-5678;%20212-234-5678", "/#number?tn=8002345678", "/#number?tn=911", "/#area-code?npa=415", "/#area-code?npa=212&nxx=234",
  "/#area-code?npa=800", "/#area-code?state=NY",
  "/#carriers?q=sample", "/#carriers?ocn=908K", "/#search", "/#search?q=sample&status=ASSIGNED",
  "/#changes", "/#changes?npa=305", "/#changes?exchange=305-234", "/#sources",
  "/#countries", "/#country/GB", "/#country/DE", "/#country/GB?status=Allocated", "/#number?tn=%2B442079461000",
  "/#area-code?npa=415&sort=-carrier",
];

for (const [width, scheme] of [[360, "dark"], [1280, "light"]]) {
  test(`the page is accessible and not cut off at ${width} px in ${scheme} colors`, () =>
    withTab("/", { width, scheme }, async (tab) => {
      const isCutOff = () => tab.evaluate(() => document.documentElement.scrollWidth > innerWidth);
      for (const path of PATHS) {
        await tab.goto(SERVICE_URL + path);
        await tab.reload();
        await tab.locator(path === "/#search" ? "#about" : "#result:not([aria-busy]) > *").first().waitFor();
        assert.deepEqual(await violations(tab), [], path);
        assert.equal(await isCutOff(), false, `${path} scrolls sideways`);
      }
      await tab.getByRole("button", { name: "Request" }).click();
      await tab.getByRole("tab", { name: "Rust" }).click();
      assert.equal(await isCutOff(), false, "the longest snippet scrolls sideways");
    }));
}

const BACKGROUNDS = { light: "rgb(255, 255, 255)", dark: "rgb(16, 18, 23)" };

test("the page follows the system colors until the user chooses a theme, which both pages keep", async () => {
  for (const [system, other] of [["light", "dark"], ["dark", "light"]]) {
    await withTab("/", { scheme: system }, async (tab) => {
      const background = () => tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(await background(), BACKGROUNDS[system]);
      await tab.getByLabel("Theme").selectOption(other);
      assert.equal(await background(), BACKGROUNDS[other]);
      // The first paint already has the theme: it is set before the body exists.
      await tab.addInitScript(() => new MutationObserver(() => {
        if (document.body) window.themeAtFirst ??= document.documentElement.dataset.theme;
      }).observe(document, { childList: true, subtree: true }));
      for (const path of ["/docs", "/"]) {
        await tab.goto(SERVICE_URL + path);
        assert.equal(await tab.getByLabel("Theme").inputValue(), other);
        assert.equal(await tab.evaluate(() => window.themeAtFirst), other);
        assert.equal(await background(), BACKGROUNDS[other]);
      }
      await tab.getByLabel("Theme").selectOption("System");
      await tab.reload();
      assert.equal(await background(), BACKGROUNDS[system]);
      assert.equal(await tab.evaluate(() => localStorage.length), 0);
    });
  }
});

test("a browser that opens an unknown path gets a page that leads back", () =>
  withTab("/v1/nowhere", { key: null, expected: /status of 404/ }, async (tab) => {
    await tab.getByRole("heading", { name: "Page not found" }).waitFor();
    assert.deepEqual(await violations(tab), []);
    await tab.getByRole("link", { name: "Look up a number" }).click();
    await tab.getByLabel("Phone number").waitFor();
  }));

test("/ and Ctrl-K lead to the view's first field", () => withTab("/#number?tn=3055550142", {}, async (tab) => {
  const focused = () => tab.evaluate(() => document.activeElement.id);
  await waitForResult(tab);
  await tab.keyboard.press("/");
  assert.equal(await focused(), "number-tn");
  await tab.keyboard.type("/");
  assert.equal(await tab.locator("#number-tn").inputValue(), "/", "the old number was selected, and typing works");
  await tab.goto(`${SERVICE_URL}/#area-code?npa=800`);
  await tab.getByRole("heading", { name: "Area code 800" }).waitFor();
  await tab.locator("#area-nxx").focus();
  await tab.keyboard.press("Control+k");
  assert.equal(await focused(), "area-npa");
  await tab.goto(`${SERVICE_URL}/#country/DE`);
  await tab.getByRole("heading", { name: "Germany" }).waitFor();
  await tab.keyboard.press("/");
  assert.equal(await focused(), "countries-country");
}));

test("the footer shows the data version, its age, and the program version", () =>
  withTab("/", { key: null }, async (tab) => {
    await tab.locator("#data-age time").waitFor();
    const stats = await fetch(`${SERVICE_URL}/v1/stats`);
    const version = stats.headers.get("X-Data-Version");
    assert.match(version, /^\d{8}T\d{6}Z-\w{16}$/);
    const age = await tab.locator("#data-age").innerText();
    assert.ok(age.includes(` · Data ${version}, imported `), age);
    assert.match(age, /, imported (now|.* ago) \(.* UTC\)/);
    const health = await (await fetch(`${SERVICE_URL}/v1/health`)).json();
    assert.equal(await tab.locator("footer .version").innerText(), `Version ${health.version}`);
  }));

test("the footer shows the reports' dates, except missing ones and the sample's", () =>
  withTab("/", { key: null, width: 360 }, async (tab) => {
    const age = async () => {
      await tab.reload();
      await tab.locator("#data-age time").waitFor();
      return (await tab.locator("#data-age").innerText()).replace(/Data .*/, "Data");
    };
    const size = "3,484 exchanges in 430 area codes";
    assert.equal(await age(), `${size} · Data`);

    const stats = await fetch(`${SERVICE_URL}/v1/stats`);
    const headers = Object.fromEntries(stats.headers);
    delete headers["x-numbering-data"];
    const json = await stats.json();
    await tab.route("**/v1/stats", (route) => route.fulfill({ headers, json }));
    const dates = {
      nanpa: "2026-11-25", cnac: "2025-09-12", npa_report: "2026-01-05", thousands_blocks: "2026-11-24",
      canadian_blocks: "2026-11-23", carriers: null,
    };
    const all = "NANPA 2026-11-25 · CNAC 2025-09-12 · Area codes 2026-01-05 · NANPA blocks 2026-11-24 · CNAC blocks 2026-11-23";
    for (const [missing, shown] of [[{}, all], [{ cnac: null }, all.replace("CNAC 2025-09-12 · ", "")]]) {
      const reports = Object.entries({ ...dates, ...missing }).map(([report, date]) => ({ report, date }));
      await tab.route("**/v1/sources", (route) => route.fulfill({ json: { reports } }));
      assert.equal(await age(), `${size} · ${shown} · Data`);
      assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth), false);
    }
  }));

test("everything works with the keyboard alone", () => withTab("/#number?tn=212-234-5678", {}, async (tab) => {
  const focused = () => tab.evaluate(() => {
    const { id, textContent } = document.activeElement;
    const { outlineStyle, outlineWidth } = getComputedStyle(document.activeElement);
    return { name: id || textContent.trim(), isVisible: outlineStyle !== "none" && outlineWidth !== "0px" };
  });
  await waitForResult(tab);
  await tab.keyboard.press("Tab");
  assert.equal((await focused()).name, "Skip to content");
  await tab.keyboard.press("Enter");
  assert.equal((await focused()).name, "lookup");
  await tab.keyboard.press("Tab");
  assert.deepEqual(await focused(), { name: "number-tn", isVisible: true });
  await tab.keyboard.type("305 234 5678");
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: "+1 305 234 5678" }).waitFor();
  await tab.locator("#number-tn").focus();

  const seen = [];
  for (let press = 0; press < 40 && seen.at(-1) !== "tab-response"; press += 1) {
    await tab.keyboard.press("Tab");
    const { name, isVisible } = await focused();
    assert.ok(isVisible, `${name} has no visible focus`);
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

for (const view of ["#area-code?npa=415", "#carriers", "#search?q=sample", "#countries"]) {
  test(`100 rows of ${view} fit in 8,000 pixels at 360 px`, () =>
    withTab(`/${view}`, { width: 360, height: 740, touch: true }, async (tab) => {
      const list = await waitForResult(tab);
      assert.equal(await list.getByRole("row").count(), 101);
      const { height } = await list.getByRole("table").boundingBox();
      assert.ok(height < 8000, `${height} pixels`);
    }));
}

test("a printout shows the result, but no controls", async () => {
  for (const path of ["/#number?tn=%2B13052345678", "/#area-code?npa=415"]) {
    await withTab(path, { scheme: "dark" }, async (tab) => {
      const printed = await waitForResult(tab);
      await tab.emulateMedia({ media: "print" });
      assert.ok(await printed.getByRole("heading").first().isVisible());
      const controls = tab.locator("button:not(.term), input, select, form, nav, #code, #key-present");
      assert.deepEqual(await controls.filter({ visible: true }).allInnerTexts(), []);
      const paper = await tab.evaluate(() => getComputedStyle(document.body).backgroundColor);
      assert.equal(paper, "rgb(255, 255, 255)");
    });
  }
});

for (const [scheme, name] of [["light", "page.png"], ["dark", "page-dark.png"]]) {
  test(`takes a screenshot of the page in ${scheme} colors`, () =>
    withTab("/#number?tn=%2B13052345678", { scheme, width: 1200, height: 1240, scale: 1.5 }, async (tab) => {
      const card = await waitForResult(tab);
      for (const image of await card.locator("img").all()) await image.evaluate((flag) => flag.decode());
      await tab.screenshot({ path: `${process.env.SITE_PICTURES}/${name}` });
    }));
}
