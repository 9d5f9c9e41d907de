// The layout of a list: its delimiter, its header row, and the columns with numbers and countries. The delimiter and the
// header row follow the rules of `tnr format`. Columns are found by their cells and their names.

/** If two of these split the first row into the same number of cells, the first one wins. */
const DELIMITERS = [",", ";", "\t", "|"];
/** The rows that show which column has numbers. */
const SAMPLE_ROWS = 200;
/** The minimum and maximum digits in a phone number. Most column names have fewer. */
const [MIN_DIGITS, MAX_DIGITS] = [7, 20];

const NUMBER_NAME = /phone|t[eé]l[eé]f|mobi|msisdn|\bcell|m[oó]vil|handy|\bt(el|n|lf)\b|gsm|fon[eo]\b|number|nummer|n[uú]m[eé]ro|caller|whats.?app|fax|телефон|电话|手机|電話|携帯|전화|هاتف/i;
const SEPARATOR_LINE = /^sep=([^"\w])(\r\n?|\n|$)/i;
const DATE = /^\s*(\d{4}-\d\d?-\d\d?|\d\d?[./-]\d\d?[./-]\d{2,4})([ T].*)?$/;

const countDigits = (cell) => cell.match(/\p{Nd}/gu)?.length ?? 0;
const holdsNumber = (cell) => countDigits(cell) >= MIN_DIGITS;
const looksLikeNumber = (cell) => holdsNumber(cell) && countDigits(cell) <= MAX_DIGITS && !DATE.test(cell);
const looksLikeName = (cell) => NUMBER_NAME.test(cell) && !holdsNumber(cell);

/** Finds the layout in the start of a list. */
function findLayout(head) {
  const separator = head.match(SEPARATOR_LINE);
  const skipped = separator?.[0].length ?? 0;
  const text = head.slice(skipped);
  const [delimiter, rows] = (separator ? [separator[1]] : DELIMITERS).map((each) => [each, firstRows(text, each)])
    .reduce((best, other) => (other[1][0]?.length > best[1][0]?.length ? other : best));
  const [first = []] = rows;
  const hasHeader = first.some(looksLikeName) || (first.length > 1 && !first.some(holdsNumber));
  const isEven = rows.length > 1 && rows.every((row) => row.length === first.length);
  const isTable = separator !== null || hasHeader || (first.length > 1 && isEven);
  return withColumns(text, { delimiter: isTable ? delimiter : null, hasHeader: isTable && hasHeader, skipped });
}

/** Adds the columns of a list with this delimiter and header. `text` is its start, without a separator line. */
function withColumns(text, layout) {
  const { delimiter, hasHeader } = layout;
  const [first = [], ...others] = firstRows(text, delimiter);
  const names = delimiter === null ? ["tn"] : first.map((name, index) => (hasHeader && name.trim()) || `column_${index + 1}`);
  const country = names.findIndex((name) => /^default[_ ]?country$/i.test(name));
  return {
    ...layout, names, countryColumn: country === -1 ? null : country,
    numberColumn: numberColumn(names, hasHeader ? others : [first, ...others]),
  };
}

/** The column whose cells and name look most like phone numbers; null if none does. */
function numberColumn(names, rows) {
  if (names.length === 1) return 0;
  const scores = names.map((name, column) => {
    const cells = rows.map((row) => row[column]).filter((cell) => cell?.trim());
    return (2 * cells.filter(looksLikeNumber).length) / (cells.length || 1) + NUMBER_NAME.test(name);
  });
  const best = Math.max(...scores);
  return best > 0 ? scores.indexOf(best) : null;
}

/** The cells of the first rows of a list that starts with `text`. */
function firstRows(text, delimiter) {
  const complete = text.replace(/[^\r\n]$/, "$&\n");
  return new RowParser(delimiter).push(complete, false).slice(0, SAMPLE_ROWS).map(({ cells }) => cells);
}
