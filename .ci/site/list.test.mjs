// A list on the page: choosing and pasting it, its settings, its progress and failures, and the download.

import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, withTab, startBrowser, stopBrowser, violations } from "./browser.mjs";

before(startBrowser);
after(stopBrowser);

const PHONE = { width: 360, height: 740, touch: true };

const choose = async (tab, name, content) => {
  await tab.locator("#list-choose").waitFor();
  await tab.locator("#list-file").setInputFiles({ name, mimeType: "text/csv", buffer: Buffer.from(content) });
};
const start = async (tab) => tab.locator("#list-start").click();
const words = (tab, text) => tab.locator(".progress-words", { hasText: text }).waitFor();
const press = (tab, name) => tab.locator("#list-panel").getByRole("button", { name }).click();

async function download(tab) {
  const [file] = await Promise.all([tab.waitForEvent("download"), press(tab, /^Download CSV/)]);
  return { name: file.suggestedFilename(), text: await readFile(await file.path(), "utf8") };
}

/** The counts of valid, repaired, rejected and empty numbers, and duplicates. */
const counts = async (tab) => {
  const found = await tab.locator("#list-panel .bars li span:last-child").allInnerTexts();
  return found.map((count) => Number(count.replaceAll(",", "")));
};

/** A list of distinct numbers. */
const numbers = (count) => Array.from({ length: count }, (_, index) => `+1305234${String(1000 + index)}\n`).join("");

/**
 * Responds to batches in place of the service, for speed. `respond` gets the numbers of a batch, and how many batches came
 * before; it returns a response, or nothing if the batch succeeds. Returns the batches.
 */
async function mockBatches(tab, respond = () => undefined) {
  const batches = [];
  await tab.route("**/v1/format?**", async (route) => {
    const batch = route.request().postDataJSON().map(({ tn }) => tn);
    batches.push(batch);
    const response = await respond(batch, batches.length - 1, route);
    if (response === "handled") return;
    const results = batch.map((tn) => ({ tn, result: { valid: true, verdict: "valid", reason: null, formats: { e164: tn } } }));
    await route.fulfill(response ?? { json: { results } }).catch(() => undefined);
  });
  return batches;
}

const isUnloadPrevented = (tab) => tab.evaluate(() => !dispatchEvent(new Event("beforeunload", { cancelable: true })));

test("a file of 50,000 rows is looked up and downloaded", () => withTab("/#list", {}, async (tab) => {
  const kinds = [(index) => `+1305234${1000 + index}`, (index) => `(212) 234-${1000 + index}`, () => "305-234-567", () => "",
    () => "907·217·1234"];
  const rows = Array.from({ length: 50_000 }, (_, index) => `${index},"Row ${index}, x",${kinds[index % 5](index % 1000)}\r\n`);
  const sent = [];
  tab.on("request", (request) => request.method() === "POST" && sent.push(...request.postDataJSON()));
  await choose(tab, "many.csv", `id,name,phone\r\n${rows.join("")}`);
  await tab.getByText("Each distinct number counts as one request: 402 in this list.").waitFor();
  await start(tab);
  await words(tab, /^50,000 rows done\.$/);
  assert.equal(sent.length, 402, "each distinct number is sent once");
  assert.deepEqual(await counts(tab), [20_000, 10_000, 10_000, 10_000, 29_599]);
  const { name, text } = await download(tab);
  assert.equal(name, "many - result.csv");
  const lines = text.split("\r\n");
  assert.equal(lines.length, 50_002);
  assert.equal(lines[0], "id,name,phone,tn_verdict,tn_reason,tn_e164,tn_national,tn_country,tn_type,tn_line_type,tn_place_name,"
    + "tn_state,tn_carrier_name,tn_carrier_ocn");
  assert.match(lines[1], /^0,"Row 0, x",\+13052341000,valid,,\+13052341000,\(305\) 234-1000,US,FIXED_LINE_OR_MOBILE,WIRELESS,"Miami, FL",FL,"SAMPLE MOBILE USA, INC.",5927$/);
  assert.match(lines[49_998], /^49997,"Row 49997, x",305-234-567,rejected,TOO_SHORT,,/);
  assert.match(lines[50_000], /^49999,"Row 49999, x",907·217·1234,repaired,,\+19072171234,/);
}));

test("a pasted list needs only the keyboard", () => withTab("/#list", {}, async (tab) => {
  const tabTo = async (id) => {
    for (let count = 0; count < 60; count += 1) {
      const isThere = await tab.evaluate((wanted) => document.activeElement.id === wanted || document.activeElement.textContent === wanted, id);
      if (isThere) return;
      await tab.keyboard.press("Tab");
      const outline = await tab.evaluate(() => getComputedStyle(document.activeElement).outlineStyle);
      assert.notEqual(outline, "none", await tab.evaluate(() => document.activeElement.outerHTML.slice(0, 200)));
    }
    assert.fail(`no ${id}`);
  };
  await tabTo("list-choose");
  await tabTo("list-text");
  await tab.keyboard.type("305 234 5678\n(305) 234-5678\nhello");
  await tab.keyboard.press("Tab");
  await tab.keyboard.press("Enter");
  await tab.getByRole("heading", { name: "Pasted list" }).waitFor();
  await tabTo("list-start");
  await tab.keyboard.press("Enter");
  await words(tab, /^3 rows done\.$/);
  assert.deepEqual(await counts(tab), [2, 0, 1, 0, 1]);
  await tabTo("Download CSV");
  const [file] = await Promise.all([tab.waitForEvent("download"), tab.keyboard.press("Enter")]);
  assert.match(await readFile(await file.path(), "utf8"), /^tn,tn_verdict,.*\r\n305 234 5678,valid,/);
  assert.equal(new URL(tab.url()).hash, "#list");
  const stored = await tab.evaluate(() => JSON.stringify([{ ...sessionStorage }, { ...localStorage }]));
  assert.ok(!stored.includes("5678"), stored);
}));

test("the page asks for one country, keeps only the numbers it sends, and adds the chosen columns", () =>
  withTab("/#list", {}, async (tab) => {
    const requests = [];
    tab.on("request", (request) => request.method() === "POST" && requests.push(request));
    await choose(tab, "uk.csv", "who,phone,cc\n=cmd|'/C calc'!A0,020 7946 0958,\n@b,305 234 5678,us\nc,1,XX\n");
    await tab.locator("#list-default-country").selectOption("GB");
    await tab.getByLabel("Column with countries").selectOption("cc");
    await tab.locator("summary", { hasText: "Columns to add" }).click();
    for (const name of ["National format", "Country", "Type", "Line type", "City or region", "State or province", "Carrier", "OCN", "Line that it repeats"]) {
      await tab.getByLabel(name, { exact: true }).last().click();
    }
    await tab.getByText("Columns to add: 4").waitFor();
    await start(tab);
    await words(tab, /^3 rows done\.$/);
    assert.deepEqual((await download(tab)).text.split("\r\n"), [
      "who,phone,cc,tn_verdict,tn_reason,tn_e164,tn_duplicate_of", "'=cmd|'/C calc'!A0,020 7946 0958,,valid,,+442079460958,",
      "'@b,305 234 5678,us,valid,,+13052345678,", "c,1,XX,rejected,UNKNOWN_COUNTRY,,", "",
    ]);
    assert.deepEqual(requests.map((request) => request.postDataJSON()), [[{ tn: "020 7946 0958" }, { tn: "305 234 5678", defaultCountry: "US" }]]);
    assert.equal(new URL(requests[0].url()).search, "?defaultCountry=GB&fields=valid%2Cverdict%2Creason%2Cformats.e164%2Cextension");
  }));

const utf16 = (text) => Buffer.from(`\ufeff${text}`, "utf16le");
const LISTS = {
  "commas in UTF-8": ["a,phone\né,305\n", "UTF-8", "é", "", ","],
  "semicolons in Windows-1252": [Buffer.from("a;phone\r\n\x80 \xe9;305\r\n", "latin1"), "WINDOWS-1252", "€ é", "\ufeff", ";"],
  "tabs in UTF-16": [utf16("a\tphone\r\né\t305\r\n"), "UTF-16LE", "é", "\ufeff", "\t"],
  "pipes in UTF-8 with a byte order mark": ["\ufeffa|phone\né|305\n", "UTF-8", "é", "\ufeff", "|"],
};

for (const [kind, [content, encoding, cell, mark, delimiter]] of Object.entries(LISTS)) {
  test(`${kind} are recognized, and kept in the result`, () => withTab("/#list", {}, async (tab) => {
    await mockBatches(tab);
    await choose(tab, "list.txt", content);
    await tab.locator("#list-facts", { hasText: `1 row · ${encoding} · 2 columns` }).waitFor();
    assert.deepEqual(await tab.locator(".sheet td").allInnerTexts(), [cell, "305"]);
    await start(tab);
    const { text, name } = await download(tab);
    assert.ok(text.startsWith(`${mark}a${delimiter}phone${delimiter}tn_verdict${delimiter}`), text);
    assert.ok(text.includes(`${cell}${delimiter}305${delimiter}valid`), text);
    assert.equal(name, delimiter === "\t" ? "list - result.tsv" : "list - result.csv");
  }));
}

test("the layout can be changed", () => withTab("/#list", {}, async (tab) => {
  await choose(tab, "list.csv", "a;b\n3052345678;1\n3052345679;\n");
  const facts = (text) => tab.locator("#list-facts", { hasText: text }).waitFor();
  await facts("2 rows · UTF-8 · 2 columns");
  assert.equal(await tab.locator(".sheet td.marked").first().innerText(), "3052345678");
  await tab.getByLabel("Column with numbers").selectOption("b");
  await tab.locator(".sheet td.marked", { hasText: /^1$/ }).waitFor();
  await tab.getByText("1 in this list").waitFor();
  await tab.getByLabel("The first row has column names").click();
  await facts("3 rows · UTF-8 · 2 columns");
  assert.deepEqual(await tab.locator(".sheet th").allInnerTexts(), ["column_1", "column_2"]);
  await tab.getByLabel("Delimiter").selectOption("None: one number per line");
  await facts("3 rows · UTF-8 · one number per line");
  assert.deepEqual(await tab.locator(".sheet td").allInnerTexts(), ["a;b", "3052345678;1", "3052345679;"]);
}));

test("a list without a clear column asks for it", () => withTab("/#list", {}, async (tab) => {
  await choose(tab, "list.csv", "a,b\nc,d\n");
  await start(tab);
  await tab.locator("#list-number-error", { hasText: "Choose the column with phone numbers." }).waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement.id), "list-number");
}));

for (const [name, content, message] of [
  ["more than 200,000 rows", "1\n".repeat(200_001), "The list has more than 200,000 rows; use tnr format, which takes lists of any size."],
  ["an Excel workbook", "PK\u0003\u0004\u0014\0", "If it is an Excel workbook, save its sheet as CSV."],
  ["JSON", '[{"phone": 1}]', "The list is JSON."],
  ["an unclosed quote", 'a,phone\n"b,1\n', "The row on line 2 has an unclosed quote."],
  ["nothing", "", "The list has no rows."],
]) {
  test(`a file with ${name} is refused`, () => withTab("/#list", {}, async (tab) => {
    await choose(tab, "list.csv", content);
    await tab.locator("#list-text-error", { hasText: message }).waitFor();
    assert.ok(await tab.locator("#list-choose").isVisible());
    await choose(tab, "list.csv", "phone\n1\n");
    await tab.locator("#list-start").waitFor();
    assert.equal(await tab.locator(".field-error").count(), 0);
  }));
}

test("a file can be dropped on any view, and several pasted lines open at once", () => withTab("/#carriers", {}, async (tab) => {
  const dropped = await tab.evaluateHandle(() => {
    const data = new DataTransfer();
    data.items.add(new File(["phone\n1\n2\n"], "dropped.csv"));
    return data;
  });
  await tab.locator("body").dispatchEvent("dragover", { dataTransfer: dropped });
  assert.equal(await tab.locator("body.dropping").count(), 1);
  await tab.locator("body").dispatchEvent("drop", { dataTransfer: dropped });
  assert.equal(await tab.locator("body.dropping").count(), 0);
  await tab.getByRole("heading", { name: "dropped.csv" }).waitFor();
  assert.equal(new URL(tab.url()).hash, "#list");
  await press(tab, "Another list");
  await tab.evaluate(() => navigator.clipboard.writeText("305-234-5678\n305-234-5679"));
  await tab.locator("#list-text").focus();
  await tab.keyboard.press("ControlOrMeta+V");
  await tab.locator("#list-facts", { hasText: "2 rows" }).waitFor();
}));

test("the view says if its script cannot be loaded, and loads it again", () =>
  withTab("/", { expected: /ERR_FAILED/ }, async (tab) => {
    await tab.route("**/list.js", (route) => route.abort());
    await tab.getByRole("link", { name: "List" }).click();
    await tab.getByRole("heading", { name: "Could not reach the service" }).waitFor();
    await tab.unrouteAll();
    await tab.getByRole("button", { name: "Retry" }).click();
    await tab.locator("#list-choose").waitFor();
    assert.equal(await tab.locator(".failure").count(), 0);
  }));

test("a quota of a minute is waited for, with batches that fit", () =>
  withTab("/#list", { expected: /status of 429/ }, async (tab) => {
    await tab.clock.install();
    const reset = () => tab.evaluate(() => Math.floor(Date.now() / 1000) + 42);
    const quota = async (remaining) => ({
      status: 429, headers: { "Retry-After": "42" },
      json: { error: "rate_limited", message: "", details: { limit_type: "minute", limit: 600, remaining, reset: await reset() } },
    });
    const batches = await mockBatches(tab, (_, index) => (index === 0 ? quota(7) : index === 2 ? quota(0) : undefined));
    await choose(tab, "list.csv", numbers(900));
    await start(tab);
    await words(tab, "7 of 900 rows done. The key's quota of 600 requests per minute is used up. Continues in 42 seconds.");
    assert.deepEqual(batches.map((batch) => batch.length), [900, 7, 600]);
    await tab.clock.runFor(41_000);
    await words(tab, "Continues in 1 second.");
    assert.equal(batches.length, 3);
    await tab.clock.runFor(2000);
    await words(tab, /^900 rows done\.$/);
    assert.deepEqual(batches.map((batch) => batch.length), [900, 7, 600, 600, 293]);
    assert.deepEqual(await counts(tab), [900, 0, 0, 0, 0]);
  }));

test("a quota of a day stops the list, which can be resumed", () =>
  withTab("/#list", { expected: /status of 429/ }, async (tab) => {
    let isExhausted = true;
    const details = { limit_type: "daily", limit: 5000, remaining: 0, reset: Math.floor(Date.now() / 1000) + 7200 };
    const batches = await mockBatches(tab, (_, index) => (index > 0 && isExhausted ? { status: 429, json: { details } } : undefined));
    await choose(tab, "list.csv", numbers(2500));
    await start(tab);
    await words(tab, /1,000 of 2,500 rows done\. The key's quota of 5,000 requests per day is used up\. It resets at .*, in 2 hours\./);
    assert.ok(await isUnloadPrevented(tab));
    const { text } = await download(tab);
    assert.equal(text.split("\r\n").length, 1002, "the result so far");
    isExhausted = false;
    await press(tab, "Resume");
    await words(tab, /^2,500 rows done\.$/);
    assert.equal((await download(tab)).text.split("\r\n").length, 2502);
    const sent = batches.flat();
    assert.equal(new Set(sent).size, 2500);
  }));

test("failures are retried, then the list stops until it is resumed", () =>
  withTab("/#list", { expected: /ERR_FAILED|status of 503/ }, async (tab) => {
    await tab.clock.install();
    let isDown = true;
    const batches = await mockBatches(tab, async (_, index, route) => {
      if (!isDown) return undefined;
      if (index === 0) return { status: 503, headers: { "Retry-After": "3" }, json: { error: "service_unavailable", message: "Busy" } };
      await route.abort();
      return "handled";
    });
    await choose(tab, "list.csv", numbers(10));
    await start(tab);
    await words(tab, "Busy. Continues in 3 seconds.");
    for (let attempt = 2; attempt <= 6; attempt += 1) {
      await tab.clock.runFor(16_000);
      await tab.waitForFunction(() => /Continues|Resume/.test(document.getElementById("list-panel").innerText));
    }
    await words(tab, "0 of 10 rows done. Could not reach the service.");
    assert.equal(batches.length, 6);
    isDown = false;
    await press(tab, "Resume");
    await words(tab, /^10 rows done\.$/);
    assert.deepEqual(await counts(tab), [10, 0, 0, 0, 0]);
  }));

test("a stopped list keeps its result, and loses nothing without a question", () => withTab("/#list", {}, async (tab) => {
  let release = () => undefined;
  const held = new Promise((resolve) => { release = resolve; });
  await mockBatches(tab, async (_, index) => { if (index > 1) await held; });
  assert.equal(await isUnloadPrevented(tab), false);
  await choose(tab, "list.csv", numbers(4500));
  await start(tab);
  await words(tab, /^2,000 of 4,500 rows done\. The rest is ready (now|in .*)\.$/);
  assert.ok(await isUnloadPrevented(tab), "while it runs");
  await tab.getByRole("link", { name: "Carriers" }).click();
  assert.equal(await tab.locator("#list-panel").isVisible(), false);
  await tab.goBack();
  await words(tab, "2,000 of 4,500 rows");
  await press(tab, "Stop");
  await words(tab, "2,000 of 4,500 rows done. Stopped.");
  assert.ok(await isUnloadPrevented(tab), "before the download");
  assert.equal((await download(tab)).text.split("\r\n").length, 2002);
  assert.equal(await isUnloadPrevented(tab), false);
  release();
  await press(tab, "Resume");
  await words(tab, /^4,500 rows done\.$/);
  assert.ok(await isUnloadPrevented(tab), "the rest was not downloaded");
  const lines = (await download(tab)).text.trim().split("\r\n");
  assert.deepEqual(lines.slice(1).map((line) => line.split(",")[0]), numbers(4500).trim().split("\n"));
  assert.equal(await isUnloadPrevented(tab), false);
  await press(tab, "Another list");
  assert.ok(await tab.locator("#list-choose").isVisible());
}));

test("a list waits for a key, then continues", () => withTab("/#list", { key: null, expected: /status of 401/ }, async (tab) => {
  await choose(tab, "list.csv", "phone\n305-234-5678\n");
  await start(tab);
  await tab.locator("#key-error", { hasText: "An API key is required." }).waitFor();
  assert.equal(await tab.evaluate(() => document.activeElement.id), "key");
  await words(tab, "0 of 1 row done. Enter a valid API key above to continue.");
  await tab.locator("#key").fill(KEY);
  await tab.keyboard.press("Enter");
  await words(tab, /^1 row done\.$/);
  assert.deepEqual(await counts(tab), [1, 0, 0, 0, 0]);
}));

for (const [options, scheme] of [[PHONE, "dark"], [{ width: 1280 }, "light"]]) {
  test(`each state is accessible and fits at ${options.width} px in ${scheme} colors`, () =>
    withTab("/#list", { ...options, scheme }, async (tab) => {
      const check = async (state) => {
        assert.deepEqual(await violations(tab), [], state);
        assert.equal(await tab.evaluate(() => document.documentElement.scrollWidth > innerWidth), false, `${state} scrolls sideways`);
        await tab.screenshot({ path: `${process.env.SITE_PICTURES}/list-${state}-${options.width}.png`, fullPage: true });
      };
      await check("source");
      const wide = Array.from({ length: 12 }, (_, index) => `"A rather long cell number ${index}"`).join(",");
      await choose(tab, "a-file-with-quite-a-long-name-from-a-customer.csv", `Phone,${wide}\n305-234-567,${wide}\n+13052345678,${wide}\n`);
      await tab.locator("summary", { hasText: "Columns to add" }).click();
      await check("settings");
      let release = () => undefined;
      const held = new Promise((resolve) => { release = resolve; });
      await tab.route("**/v1/format?**", async (route) => {
        await held;
        await route.continue();
      });
      await start(tab);
      await words(tab, "0 of 2 rows");
      await check("running");
      release();
      await words(tab, /^2 rows done\.$/);
      await check("done");
    }));
}
