// A running list: reads its rows in order, looks up each distinct number once, and writes each row with its result. It
// holds a few batches of rows, and one line of text for each distinct number; the result itself is in blobs.

const MAX_ROWS = 200_000;
const MAX_IN_FLIGHT = 2;
/** The maximum number of rows that wait for the same batch, so that a list of duplicates is not read all at once. */
const MAX_BATCH_ROWS = 4000;
const PREVIEW_ROWS = 10;

/** A result that needs no request. The codes are the same as in `tnr format`. */
const localResult = (code, message = toWords(code)) =>
  ({ valid: false, verdict: code === "EMPTY" ? "empty" : "rejected", reason: { code, message } });

/** The rows of a list in order, in parts, without its header row. */
async function* rowParts({ blob, encoding, layout }) {
  const parser = new RowParser(layout.delimiter, layout.skipped > 0 ? 2 : 1);
  let { skipped } = layout;
  let isHeader = layout.hasHeader;
  const rowsIn = (text, isLast) => {
    const rows = parser.push(text.slice(skipped), isLast);
    skipped = 0;
    if (isHeader && rows.length > 0) {
      isHeader = false;
      rows.shift();
    }
    return rows;
  };
  for await (const text of decodedParts(blob, encoding)) yield rowsIn(text, false);
  yield rowsIn("", true);
}

/** The number in a row: its key, and what to send; or the code of a result that needs no request. */
function numberIn({ cells }, { names, numberColumn, countryColumn }) {
  // Some programs write trailing delimiters in every row.
  if (cells.slice(names.length).some((cell) => cell !== "")) return { code: "SHIFTED_CELLS" };
  const tn = cells[numberColumn] ?? "";
  if (tn.trim() === "") return { code: "EMPTY" };
  const country = countryColumn === null ? "" : (cells[countryColumn] ?? "").trim().toUpperCase();
  if (country && !COUNTRIES.includes(country)) return { code: "UNKNOWN_COUNTRY" };
  return { key: country ? `${country} ${tn}` : tn, item: { tn, defaultCountry: country || undefined } };
}

/** Counts a list's rows and distinct numbers. */
async function countRows(list) {
  const keys = new Set();
  let rows = 0;
  for await (const part of rowParts(list)) {
    rows += part.length;
    if (rows > MAX_ROWS) {
      throw new ListError(`The list has more than ${MAX_ROWS.toLocaleString("en")} rows; ${USE_PROGRAM}`);
    }
    for (const row of part) {
      const { key } = numberIn(row, list.layout);
      if (key !== undefined) keys.add(key);
    }
  }
  return { rows, distinct: keys.size };
}

class Job {
  constructor(list, fields, defaultCountry, onChange) {
    const { layout } = list;
    Object.assign(this, { list, fields, onChange });
    this.status = "running";
    this.delimiter = layout.delimiter ?? ",";
    this.names = [...layout.names, ...addedNames(fields, layout.names)];
    this.counts = { valid: 0, repaired: 0, rejected: 0, empty: 0, duplicates: 0 };
    /** The count, message and first line for each reason's code. */
    this.reasons = new Map();
    this.preview = [];
    this.done = 0;
    this.wait = null;
    const start = list.hasMark || list.encoding !== "utf-8" ? "\ufeff" : "";
    const separator = layout.skipped > 0 ? `sep=${this.delimiter}\r\n` : "";
    this.parts = [`${start}${separator}${csvCells(this.names, this.delimiter)}\r\n`];
    this.results = new Map();
    this.firstLines = new Map();
    this.pending = [];
    this.unread = [];
    this.rows = rowParts(list);
    const needed = ["valid", "verdict", "reason", "formats.e164", "extension"];
    const paths = fields.filter((path) => path !== DUPLICATE_OF && !path.startsWith("reason."));
    const params = { defaultCountry, fields: [...new Set([...needed, ...paths])].join(",") };
    this.lookups = new Lookups(target("/v1/format", params), (reason, until) => {
      if (!(this.wait?.until > until)) this.wait = { reason, until };
      this.#writeFinished();
      onChange();
    });
    this.milliseconds = 0;
  }

  /** The time at which the list will finish at its rate so far, not counting the time when it was stopped. */
  get end() {
    const elapsed = this.milliseconds + Date.now() - this.startedAt;
    return Date.now() + (elapsed / this.done) * (this.list.rows - this.done);
  }

  /** Starts, or resumes after a stop. */
  async run() {
    this.status = "running";
    this.halt = null;
    this.startedAt = Date.now();
    this.stopping = new AbortController();
    this.onChange();
    try {
      await this.#lookUpAll();
      this.#end("done");
    } catch (error) {
      this.stopping.abort();
      this.#writeFinished();
      this.halt = error instanceof Halt ? error : new Halt("unreadable", readingProblem(error));
      this.#end("halted");
    }
  }

  stop() {
    this.stopping.abort();
  }

  /** The result so far. */
  result() {
    return new Blob(this.parts, { type: "text/csv" });
  }

  #end(status) {
    this.milliseconds += Date.now() - this.startedAt;
    this.status = status;
    this.wait = null;
    if (status === "done") {
      this.results.clear();
      this.firstLines.clear();
    }
    this.onChange();
  }

  async #lookUpAll() {
    const { signal } = this.stopping;
    const start = (batch) => {
      batch.response = this.lookups.send(batch.items, ({ key }, result) => this.#keep(key, result), signal);
      // Awaited later, in order.
      batch.response.catch(() => undefined);
    };
    this.pending.forEach(start);
    for (;;) {
      while (this.pending.length < MAX_IN_FLIGHT) {
        const batch = await this.#nextBatch();
        if (batch === null) break;
        this.pending.push(batch);
        start(batch);
      }
      if (this.pending.length === 0) return;
      await this.pending[0].response;
      this.#write(this.pending.shift().rows);
      this.onChange();
      if (signal.aborted) throw new Halt("stopped");
    }
  }

  /** Reads rows until they have enough new numbers. Returns null at the end. */
  async #nextBatch() {
    const items = [];
    const rows = [];
    let length = 0;
    while (items.length < MAX_BATCH_NUMBERS && length < MAX_BATCH_LENGTH && rows.length < MAX_BATCH_ROWS) {
      const row = await this.#nextRow();
      if (row === null) break;
      rows.push(row);
      const { key, item } = numberIn(row, this.list.layout);
      if (key === undefined || this.results.has(key)) continue;
      // A copy: the cell keeps the part of the list in memory that it is from.
      const copy = JSON.parse(JSON.stringify(key));
      this.results.set(copy, null);
      items.push({ key: copy, ...item });
      length += Math.min(item.tn.length, MAX_TEXT_LENGTH) + 20;
    }
    return rows.length > 0 ? { rows, items } : null;
  }

  async #nextRow() {
    while (this.unread.length === 0) {
      const { value, done } = await this.rows.next();
      if (done) return null;
      this.unread = value.reverse();
    }
    return this.unread.pop();
  }

  #keep(key, { result, error }) {
    this.results.set(key, this.#toStored(result ?? localResult("NOT_A_NUMBER", error.message)));
  }

  /** The part of a result to store: its counts, and the text of the added cells. */
  #toStored(result) {
    const { valid, verdict, reason, formats, extension } = result;
    const cells = this.fields.filter((path) => path !== DUPLICATE_OF).map((path) => resultCell(result, path));
    const number = valid ? (extension ? `${formats.e164}x${extension}` : Number(formats.e164)) : null;
    if (reason && !this.reasons.has(reason.code)) {
      this.reasons.set(reason.code, { code: reason.code, message: reason.message, count: 0, line: 0, verdict });
    }
    return { verdict, code: reason?.code ?? null, number, text: csvCells(cells, this.delimiter) };
  }

  /** Counts rows whose numbers were looked up, and adds them to the result. */
  #write(rows) {
    const lines = rows.map((row) => {
      const { key, code } = numberIn(row, this.list.layout);
      const { verdict, code: reason, number, text } = key === undefined ? this.#toStored(localResult(code)) : this.results.get(key);
      const first = number === null ? undefined : this.firstLines.get(number);
      this.counts[verdict] += 1;
      if (first !== undefined) this.counts.duplicates += 1;
      else if (number !== null) this.firstLines.set(number, row.line);
      if (reason !== null) this.#countReason(reason, row.line);
      const own = this.list.layout.names.map((_, column) => row.cells[column] ?? "");
      const marks = this.fields.includes(DUPLICATE_OF);
      const added = [...(this.fields.length > Number(marks) ? [text] : []), ...(marks ? [first ?? ""] : [])];
      const line = `${[csvCells(own, this.delimiter), ...added].join(this.delimiter)}\r\n`;
      if (this.preview.length < PREVIEW_ROWS) this.preview.push(parseRow(line, 0, this.delimiter, true).cells);
      return line;
    });
    // The browser may keep a blob on disk.
    this.parts.push(new Blob(lines));
    this.done += rows.length;
  }

  /** Writes the rows before the first one without a result, while their batch waits or is stopped. */
  #writeFinished() {
    for (const { rows } of this.pending) {
      const isOpen = (row) => this.results.get(numberIn(row, this.list.layout).key) === null;
      const open = rows.findIndex(isOpen);
      this.#write(rows.splice(0, open === -1 ? rows.length : open));
      if (open !== -1) return;
    }
  }

  #countReason(code, line) {
    const reason = this.reasons.get(code);
    reason.line ||= line;
    reason.count += 1;
  }
}

function readingProblem(error) {
  return error instanceof ListError ? error.message : "The file cannot be read any more; it may have changed. Choose it again";
}
