// The rows of a list: CSV (RFC 4180), or one number per line.

/** A longer row is usually the rest of a file after an unclosed quote. */
const MAX_ROW_LENGTH = 1 << 20;
const [LF, CR] = [10, 13];
const LINE_ENDINGS = /\r\n|\r|\n/g;

/** Splits text that arrives in parts into rows: `{ line, cells }`, with the line where a row starts. */
class RowParser {
  /** `delimiter` is null for a list with one number per line, where a blank line is a row. */
  constructor(delimiter, line = 1) {
    this.delimiter = delimiter;
    this.line = line;
    this.rest = "";
  }

  push(part, isLast) {
    const text = this.rest + part;
    const rows = [];
    let start = 0;
    while (start < text.length) {
      const row = parseRow(text, start, this.delimiter, isLast);
      if (row === null) break;
      if (row.isOpen) throw new ListError(`The row on line ${this.line} has an unclosed quote`);
      const isBlank = row.cells.length === 1 && row.cells[0] === "";
      if (!isBlank || this.delimiter === null) rows.push({ line: this.line, cells: row.cells });
      this.line += row.isQuoted ? text.slice(start, row.end).match(LINE_ENDINGS)?.length ?? 0 : 1;
      start = row.end;
    }
    this.rest = text.slice(start);
    if (this.rest.length > MAX_ROW_LENGTH) {
      throw new ListError(`The row on line ${this.line} is longer than 1 MB; check it for an unclosed quote`);
    }
    return rows;
  }
}

/** Parses the row at `start`. Returns null if the row may continue in the next part. */
function parseRow(text, start, delimiter, isLast) {
  const cells = [];
  let isQuoted = false;
  for (let at = start; ; at += 1) {
    let cell = "";
    if (delimiter !== null && text[at] === '"') {
      isQuoted = true;
      for (let opening = at; text[at] === '"'; at += 1) {
        const closing = text.indexOf('"', at + 1);
        if (closing === -1) return isLast ? { isOpen: true } : null;
        cell += text.slice(at === opening ? at + 1 : at, closing);
        at = closing;
      }
    }
    const end = cellEnd(text, at, delimiter);
    cells.push(cell + text.slice(at, end));
    if (end < text.length && text[end] === delimiter) {
      at = end;
      continue;
    }
    // A CR at the end may be half of a CR LF.
    const isCut = end === text.length || (text[end] === "\r" && end + 1 === text.length);
    if (isCut && !isLast) return null;
    const length = text[end] === "\r" && text[end + 1] === "\n" ? 2 : 1;
    return { cells, isQuoted, end: Math.min(end + length, text.length) };
  }
}

function cellEnd(text, start, delimiter) {
  const delimiterCode = delimiter === null ? -1 : delimiter.charCodeAt(0);
  for (let end = start; end < text.length; end += 1) {
    const code = text.charCodeAt(end);
    if (code === delimiterCode || code === LF || code === CR) return end;
  }
  return text.length;
}
