// A list's tools: a CSV file of all rows, its request, and a field that finds a row.

/** A CSV file has at most this many pages. */
const MAX_CSV_PAGES = 100;
/** Seconds to wait for the quota before giving up. */
const MAX_CSV_WAIT = 60;
/** The last list that was loaded as a whole. Turning pages of a sorted list does not load it again. */
let wholeList = { url: "", rows: [] };

const LISTS = ["exchanges", "area_codes", "carriers", "results", "changes", "countries", "ranges", "holders"];
const listIn = (body) => LISTS.find((name) => Array.isArray(body?.[name]));

/** All rows of the list in a response; null if it is too long or its pages cannot be loaded. */
async function allRows({ requested, body, headers, status }, signal) {
  const name = listIn(body);
  if (status !== 200 || !name || body.pagination.total > MAX_SORTED_ROWS) return null;
  const { limit, offset, total } = body.pagination;
  if (total <= limit) return body[name];
  const pages = linkedPages(headers);
  const query = Object.fromEntries(pages.next ?? pages.prev);
  const page = (start) => target(requested.split("?")[0], { ...query, offset: start });
  if (wholeList.url === page(0)) return wholeList.rows;
  const starts = Array.from({ length: Math.ceil(total / limit) }, (_, index) => index * limit);
  const responses = await Promise.all(starts.map((start) =>
    (start === offset ? { status, body } : send(page(start), { signal }))));
  if (responses.some((response) => response.status !== 200)) return null;
  wholeList = { url: page(0), rows: responses.flatMap((response) => response.body[name]) };
  return wholeList.rows;
}

function listTools(response, view, params, jump) {
  const request = element("button", { type: "button", onclick: showCodePane }, "Request");
  return element("div", { class: "tools" },
    jump && jumpForm(jump, response, view, params), csvButton(response, view, params), request);
}

/** A field that opens the page with a row, or the next one if it is not listed, and marks the row. */
function jumpForm({ label, keyOf, pattern }, response, view, params) {
  const field = element("input", { "aria-label": label, placeholder: label, pattern, inputmode: "numeric", required: "" });
  const form = element("form", { class: "jump" }, field, element("button", {}, "Go"));
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = field.value.trim();
    const rows = await allRows(response);
    // The page shows why.
    if (rows === null) return open("user");
    const next = rows.findIndex((row) => keyOf(row) >= text);
    const index = next < 0 ? rows.length - 1 : next;
    const offset = Math.floor(index / PAGE_ROWS) * PAGE_ROWS;
    await go(viewUrl(view, { ...params, sort: "", offset: offset || "" }), history.state);
    markRow(keyOf(rows[index]), text);
  });
  return form;
}

function markRow(key, text) {
  const row = document.querySelector(`#result tr[data-key="${CSS.escape(key)}"]`);
  if (row === null) return;
  row.classList.add("marked");
  row.scrollIntoView({ block: "center" });
  row.querySelector("a")?.focus({ preventScroll: true });
  announce(key === text ? `${key} is marked` : `${text} is not listed; ${key} is the nearest`);
}

function csvButton(response, view, params) {
  const { total } = response.body.pagination;
  const most = MAX_CSV_PAGES * PAGE_ROWS;
  const label = total > most ? `CSV of the first ${most.toLocaleString("en")}` : "CSV";
  const button = element("button", { type: "button", title: "Download all rows, not only this page" }, label);
  const notice = element("p", { class: "field-error", role: "alert" });
  let running = null;
  button.addEventListener("click", async () => {
    if (running) return running.abort();
    running = new AbortController();
    notice.remove();
    const problem = await downloadCsv(response.requested, fileName(view, params), running.signal, (progress) => {
      if (!button.isConnected) running.abort();
      button.textContent = `${progress}; stop`;
    });
    button.textContent = label;
    running = null;
    if (problem) {
      notice.textContent = problem;
      button.closest(".list-head")?.after(notice);
    }
  });
  return button;
}

/** Such as `carriers-wireless-ny.csv`: the list and what was looked up. */
function fileName(view, params) {
  const { offset, sort, ...filters } = params;
  const list = {
    "area-code": params.npa ? "exchanges" : "area-codes", countries: params.country ? "ranges" : "countries", search: "exchanges",
  }[view] ?? view;
  return `${[list, ...Object.values(filters)].map(slug).join("-")}.csv`;
}

/** Requests all pages as CSV, from one version of the data, and saves them. Returns what went wrong, if anything. */
async function downloadCsv(requested, name, signal, report) {
  const [path, query] = requested.split("?");
  const parts = [];
  let params = { ...Object.fromEntries(new URLSearchParams(query)), offset: "", format: "csv" };
  while (params && parts.length < MAX_CSV_PAGES) {
    report(`${(parts.length * PAGE_ROWS).toLocaleString("en")} rows`);
    const { status, text, body, headers } = await send(target(path, params), { signal, headers: { Accept: "text/csv" } });
    if (signal.aborted) return null;
    if (status === 429 && await waitForQuota(headers, signal, report)) continue;
    if (status !== 200) {
      const { title, message, advice } = describeFailure({ status, body, headers });
      return [`${title}, so there is no file`, message, advice].filter(Boolean).join(". ");
    }
    // Each page has the header row, whose names need no quotes.
    parts.push(parts.length === 0 ? text : text.slice(text.indexOf("\n") + 1));
    const { next } = linkedPages(headers);
    params = next && Object.fromEntries(next);
  }
  saveFile(name, new Blob(parts, { type: "text/csv" }));
  announce(`Saved ${name}`);
  return null;
}

/** Waits until the quota allows another request. Returns false if that takes too long. */
async function waitForQuota(headers, signal, report) {
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  if (!(seconds <= MAX_CSV_WAIT)) return false;
  for (let left = seconds; left > 0 && !signal.aborted; left -= 1) {
    report(`Quota used up, ${left} s`);
    await new Promise((resolve) => { setTimeout(resolve, 1000); });
  }
  return !signal.aborted;
}

function saveFile(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}
