// Reading and writing lists: encodings, delimiters, rows, columns and cells. The page's functions run without a browser.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";

const SCRIPTS = "functions/site/assets/page/script/list";
const source = ["text", "rows", "layout", "output"].map((name) => readFileSync(`${SCRIPTS}/${name}.js`, "utf8")).join("\n");
const NAMES = ["findEncoding", "decodedParts", "RowParser", "findLayout", "columnName", "resultCell", "csvCells", "addedNames",
  "LIST_FIELDS", "DEFAULT_FIELDS"];
const page = new Function(`${source}; return { ${NAMES.join(", ")} };`)();

const UTF_16 = (text, isBig) => {
  const bytes = Buffer.from(`\ufeff${text}`, "utf16le");
  return isBig ? bytes.swap16() : bytes;
};

async function decode(bytes) {
  const blob = new Blob([bytes]);
  const { encoding, hasMark } = await page.findEncoding(blob);
  const parts = [];
  for await (const part of page.decodedParts(blob, encoding)) parts.push(part);
  return [encoding, hasMark, parts.join("")];
}

test("a list's encoding is found by its byte order mark, or by whether it is UTF-8", async () => {
  const text = "José;3052345678\r\n";
  for (const [bytes, encoding, hasMark] of [
    [Buffer.from(text), "utf-8", false],
    [Buffer.from(`\ufeff${text}`), "utf-8", true],
    [UTF_16(text, false), "utf-16le", true],
    [UTF_16(text, true), "utf-16be", true],
    [Buffer.from(text, "latin1"), "windows-1252", false],
  ]) {
    assert.deepEqual(await decode(bytes), [encoding, hasMark, text]);
  }
});

test("characters and encodings are found past the first part", async () => {
  const text = `${"x".repeat(256 * 1024 - 1)}é`;
  assert.deepEqual(await decode(Buffer.from(text)), ["utf-8", false, text]);
  assert.deepEqual(await decode(Buffer.from(text, "latin1")), ["windows-1252", false, text]);
});

test("files that are not text are rejected with advice", async () => {
  for (const [bytes, advice] of [
    ["PK\u0003\u0004\u0014\0", /save its sheet as CSV/],
    [Buffer.from("1f8b0800", "hex"), /not text/],
  ]) {
    await assert.rejects(decode(bytes), advice);
  }
});

/** The rows of text that arrives in parts of this length: their lines and cells. */
function rows(text, delimiter, length) {
  const parser = new page.RowParser(delimiter);
  const found = [];
  for (let start = 0; start < text.length; start += length) {
    const isLast = start + length >= text.length;
    found.push(...parser.push(text.slice(start, start + length), isLast));
  }
  return found.map(({ line, cells }) => [line, ...cells]);
}

test("rows are the same however the text is cut", () => {
  const table = 'a,b\r\n"x ""q"" y",\n\n1,"two\nlines"\r\n"",z\r"""",a"b\n"c"d,e';
  const expected = [[1, "a", "b"], [2, 'x "q" y', ""], [4, "1", "two\nlines"], [6, "", "z"], [7, '"', 'a"b'], [8, "cd", "e"]];
  const lines = 'one\r\n\r\n"two, 2\rthree';
  for (const length of [1, 2, 3, 7, 1000]) {
    assert.deepEqual(rows(table, ",", length), expected, `${length}`);
    assert.deepEqual(rows(lines, null, length), [[1, "one"], [2, ""], [3, '"two, 2'], [4, "three"]], `${length}`);
  }
});

test("an unclosed quote is reported with the line of its row", () => {
  assert.throws(() => rows('a\n"b\nc', ",", 100), /The row on line 2 has an unclosed quote/);
  assert.throws(() => rows(`a\n"${"b\n".repeat(600_000)}`, ",", 100_000), /The row on line 2 is longer than 1 MB/);
});

test("the layout is found in the start of a list", () => {
  for (const [head, delimiter, hasHeader, number] of [
    ["+13052345678\n", null, false, 0],
    ["(305) 234-5678, ext. 42\n305", null, false, 0],
    ["305-234-5678;305-234-5679", null, false, 0],
    ["305 234 5678 | home", null, false, 0],
    ["name,phone\nAda,1", ",", true, 1],
    ["Name;Telefon\r\n", ";", true, 1],
    ["phone\n305", ",", true, 0],
    ["name\tMobile number\nAda\t305-234-5678", "\t", true, 1],
    ["name|Cell\nAda|305-234-5678", "|", true, 1],
    ['"na\nme","Phone, home"\n', ",", true, 1],
    ["sep=;\r\nName;Telefon, privat\r\n", ";", true, 1],
    ["Ada,3052345678\nBob,3052345679\n", ",", false, 1],
    ["id,created,contact\n1,2024-01-05,3052345678\n", ",", true, 2],
    ["phone type,where,phone code\nhome,305-234-5678,1\n", ",", true, 1],
    ["Inquiry,Phone\n305-234-5678,305-234-5678\n", ",", true, 1],
    ["a,b\nc,d\n", ",", true, null],
  ]) {
    const layout = page.findLayout(head);
    const found = [layout.delimiter, layout.hasHeader, layout.numberColumn];
    assert.deepEqual(found, [delimiter, hasHeader, number], JSON.stringify(head));
  }
  assert.equal(page.findLayout("phone,Default Country\n").countryColumn, 1);
  assert.deepEqual(page.findLayout("phone,a,a,,a_2").names, ["phone", "a", "a", "column_4", "a_2"]);
});

test("cells are quoted, and are not formulas", () => {
  // The rows of a test of the service, which has the same rule.
  for (const line of readFileSync("shared/src/cells.txt", "utf8").trim().split("\n").filter((it) => !it.startsWith("#"))) {
    const [text, expected] = line.split(" | ").map((cell) => (cell.startsWith('"') ? JSON.parse(cell.replace(/\\u\{?(\w{4})\}?/g, "\\u$1")) : cell));
    const [cell] = rows(page.csvCells([text, "x"], ","), ",", 1000);
    assert.equal(cell[1], expected, line);
  }
  assert.equal(page.csvCells(["a;b", 'say "hi"', "two\nlines", "a,b"], ";"), '"a;b";"say ""hi""";"two\nlines";a,b');
});

test("added columns are the API's, and have names that the list does not have", async () => {
  const { components } = JSON.parse(readFileSync("docs/openapi.json", "utf8"));
  const known = new Set();
  const add = (schema, prefix) => {
    const parts = [schema, ...(schema.oneOf ?? []), ...(schema.allOf ?? [])];
    for (const part of parts.map(({ $ref, ...own }) => ($ref ? components.schemas[$ref.split("/").at(-1)] : own))) {
      for (const [name, inner] of Object.entries(part.properties ?? {})) {
        known.add(`${prefix}${name}`);
        add(inner, `${prefix}${name}.`);
      }
    }
  };
  add(components.schemas.FormatResult, "");
  const unknown = Object.keys(page.LIST_FIELDS).filter((path) => !known.has(path));
  assert.deepEqual(unknown, ["duplicateOf"]);
  assert.deepEqual(page.addedNames(page.DEFAULT_FIELDS, ["tn"]), ["verdict", "reason", "e164", "national", "country", "type", "line_type",
    "place_name", "state", "carrier_name", "carrier_ocn"].map((name) => `tn_${name}`));
  assert.deepEqual(page.addedNames(["valid", "reason.other"], ["tn_valid", "tn2_other"]), ["tn3_valid", "tn3_other"]);
});

test("the formats of an invalid number are empty", () => {
  const result = { valid: false, formats: { e164: "+1305" }, timeZones: [{ zone: "A/B" }, { zone: "C/D" }], line: null };
  assert.deepEqual(["valid", "formats.e164", "timeZones", "line.type"].map((path) => page.resultCell(result, path)), ["false", "", "A/B C/D", ""]);
});
