// The layout of a list: its delimiter, its header row, and the columns with numbers and countries. The delimiter and the
// header row follow the rules of `tnr format`. Columns are found by their cells and their names.

/** If two of these split the first row into the same number of cells, the first one wins. */
const DELIMITERS = [",", ";", "\t", "|"];
/** The rows that show which column has numbers. */
const SAMPLE_ROWS = 200;

const CLEAR_NAME = /phone|t[eé]l[eéè]?f|mobil|mobiel|msisdn|\bcell|m[oó]vil|handy|\bt(el|n|lf)\b|gsm|fon[eo]\b|rufnummer|e\.?164|телефон|τηλέφων|电话|電話|手机|手機|携帯|전화|هاتف|טלפון|फोन/i;
const LIKELY_NAME = /^(number|nummer|n[uú]m[eé]ro|from|to|src|dst|clid?|ani|dnis|did)s?$|call(er|ed|ee)|whats.?app|fax|faks|landline|festnetz|fij[oa]|fixe|dial/i;
const SEPARATOR_LINE = /^sep=([^"\p{L}\p{N}])(\r\n|\r|\n|$)/iu;
const DATE = /^\s*(\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4})([ T].*)?$/;

const countDigits = (cell) => cell.match(/\p{Nd}/gu)?.length ?? 0;

/** Returns true if a cell has a number rather than a name: with few digits, its only letters label an extension. */
function holdsNumber(cell) {
  const letters = cell.toLowerCase().replace(/^tel:/, "").match(/\p{L}/gu)?.join("") ?? "";
  const isPlain = ["", "x", "ext", "extn", "extension"].includes(letters);
  return countDigits(cell) >= (isPlain ? 7 : 10);
}

const looksLikeNumber = (cell) => holdsNumber(cell) && countDigits(cell) <= 20 && !DATE.test(cell);

function looksLikeHeader(cells) {
  const isName = (cell) => (CLEAR_NAME.test(cell) || LIKELY_NAME.test(cell)) && !holdsNumber(cell);
  return cells.some(isName) || (cells.length > 1 && !cells.some((cell) => countDigits(cell) >= 7));
}

/** Finds the layout in the start of a list. */
function findLayout(head) {
  const separator = head.match(SEPARATOR_LINE);
  const skipped = separator?.[0].length ?? 0;
  const text = head.slice(skipped);
  const [first, ...others] = separator ? [separator[1]] : DELIMITERS;
  const cellsIn = (delimiter) => firstRows(text, delimiter, 1)[0]?.cells.length ?? 0;
  const best = others.reduce((best, delimiter) => (cellsIn(delimiter) > cellsIn(best) ? delimiter : best), first);
  const rows = firstRows(text, best, SAMPLE_ROWS);
  const cells = rows[0]?.cells.map((cell) => cell.trim()) ?? [];
  const hasHeader = looksLikeHeader(cells);
  const isEven = rows.length > 1 && rows.every((row) => row.cells.length === cells.length);
  const isTable = separator !== null || hasHeader || (cells.length > 1 && isEven);
  return withColumns(text, { delimiter: isTable ? best : null, hasHeader: isTable && hasHeader, skipped });
}

/** Adds the columns of a list with this delimiter and header. `text` is its start, without a separator line. */
function withColumns(text, layout) {
  const rows = firstRows(text, layout.delimiter, SAMPLE_ROWS);
  const first = rows[0]?.cells ?? [];
  const names = layout.delimiter === null ? ["tn"] : uniqueNames(layout.hasHeader ? first : first.map(() => ""));
  const numbers = rows.slice(layout.hasHeader ? 1 : 0);
  const country = names.findIndex((name) => name.toLowerCase().replace(/[\W_]/g, "") === "defaultcountry");
  return { ...layout, names, numberColumn: numberColumn(names, numbers), countryColumn: country === -1 ? null : country };
}

/** The column whose name and cells look most like phone numbers; null if none does. */
function numberColumn(names, rows) {
  if (names.length === 1) return 0;
  const score = (column) => {
    const cells = rows.map((row) => row.cells[column] ?? "").filter((cell) => cell.trim() !== "");
    const share = cells.filter(looksLikeNumber).length / (cells.length || 1);
    return 2 * share + (CLEAR_NAME.test(names[column]) ? 1 : LIKELY_NAME.test(names[column]) ? 0.5 : 0);
  };
  const scores = names.map((_, column) => score(column));
  const best = Math.max(...scores);
  return best > 0 ? scores.indexOf(best) : null;
}

/** The first rows of a list whose start is `text`. The last one may be cut off. */
function firstRows(text, delimiter, count) {
  const rows = [];
  for (let start = 0; start < text.length && rows.length < count;) {
    const row = parseRow(text, start, delimiter, true);
    if (row.isOpen) break;
    if (delimiter === null || row.cells.join("") !== "" || row.cells.length > 1) rows.push(row);
    start = row.end;
  }
  return rows;
}

/** Makes names unique by numbering empty and repeated ones. */
function uniqueNames(names) {
  const used = new Set();
  return names.map((given, index) => {
    const name = given.trim() || `column_${index + 1}`;
    let unique = name;
    for (let count = 2; used.has(unique); count += 1) unique = `${name}_${count}`;
    used.add(unique);
    return unique;
  });
}
