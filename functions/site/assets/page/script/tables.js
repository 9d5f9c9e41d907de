// Lists: a table whose columns sort, and links to its pages.

const PAGE_ROWS = 100;
/** Sorting needs all rows, so longer lists stay in the service's order. */
const MAX_SORTED_ROWS = 1000;
/** The column by which the user just sorted, whose heading keeps the focus. */
let sortedBy = null;

const slug = (text) => text.toLowerCase().replace(/[^a-z0-9]+/g, "-").replace(/^-|-$/g, "");

/** The range of a page. Sorting starts from the first page, since it needs all of them. */
const pageParams = ({ offset, sort }, version) => ({ limit: PAGE_ROWS, offset: sort ? "" : offset, version });

/** The column and direction in a `sort` parameter, such as `-rate-center`. */
function sorting({ sort = "" }) {
  const isDescending = sort.startsWith("-");
  return { column: isDescending ? sort.slice(1) : sort, isDescending };
}

/** Sorts rows by a column's key. Rows without a key come last. */
function sortRows(rows, columns, params) {
  const { column, isDescending } = sorting(params);
  const key = columns.find(([heading]) => slug(heading) === column)?.[3];
  if (!key) return rows;
  const compare = new Intl.Collator("en", { numeric: true }).compare;
  const has = (value) => value !== null && value !== undefined;
  return rows.map((row) => [key(row), row]).sort(([a], [b]) => {
    if (!has(a) || !has(b)) return has(b) - has(a);
    return compare(a, b) * (isDescending ? -1 : 1);
  }).map(([, row]) => row);
}

/** A column with a field's value, by which it sorts. `show` returns the content of a cell with the value. */
const fieldColumn = (heading, name, kind = "", show = (value) => value) =>
  [heading, (row) => show(row[name]), kind, (row) => row[name]];

/**
 * A table. Each column has a heading, a function that returns a cell's content (text, elements, or nothing), a class, and
 * if it sorts, a function that returns the key. `sortUrl` returns the URL of the list sorted by a column.
 */
function table(caption, columns, rows, { params = {}, sortUrl = null, keyOf = null } = {}) {
  const headings = columns.map((column) => headingCell(column, params, sortUrl));
  const body = rows.map((row) => element("tr", { role: "row", "data-key": keyOf?.(row) },
    columns.map((column) => cell(column, row))));
  // Narrow screens show rows as blocks. The roles keep the table semantics.
  return element("table", { role: "table", "aria-label": caption, class: sortUrl && "sortable" },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, headings)),
    element("tbody", { role: "rowgroup" }, body));
}

function headingCell([heading, , , key], params, sortUrl) {
  const attributes = { scope: "col", role: "columnheader" };
  if (!key || !sortUrl) return element("th", attributes, heading);
  const { column, isDescending } = sorting(params);
  const [name, isSorted] = [slug(heading), column === slug(heading)];
  const sort = isSorted && !isDescending ? `-${name}` : name;
  const direction = isSorted && (isDescending ? "descending" : "ascending");
  return element("th", { ...attributes, "aria-sort": direction },
    element("a", { ...sortUrl(sort), onclick: () => { sortedBy = name; }, "data-sort": name }, heading));
}

/** Focuses the heading by which the user just sorted, and returns true if it exists. */
function focusSorted() {
  const heading = sortedBy && document.querySelector(`#result [data-sort="${sortedBy}"]`);
  sortedBy = null;
  heading?.focus({ preventScroll: true });
  return Boolean(heading);
}

function cell([, render, kind], row) {
  const content = render(row);
  const isMissing = content === null || content === undefined;
  return element("td", { role: "cell", class: isMissing ? "none" : kind }, isMissing ? "–" : content);
}

/** Describes the range of rows on a page. The URL may point past the last page. */
function describeRange({ limit, offset, total }) {
  const [first, last, all] = [offset + 1, Math.min(offset + limit, total), total].map((it) => it.toLocaleString("en"));
  if (total === 0) return "none";
  if (total === 1 && offset === 0) return "1 match";
  if (offset >= total) return `past the last page; ${all} in total`;
  return total <= limit && offset === 0 ? `all ${all}` : `${first}–${last} of ${all}`;
}

const listSummary = (title, { pagination }) => `${title}: ${describeRange(pagination)}`;

/**
 * A list with a heading, its table, and links to its pages. `order` says in what order the service lists it. `empty` is
 * shown in place of an empty table. `jump` finds a row by its key. `render` shows rows in another form than a table.
 */
function listCard({ title, detail, order, columns, rows, response, view, params, empty = "No matches.",
  jump = null, render = null }) {
  const { body, headers, all, requested } = response;
  const pages = linkedPages(headers);
  const version = (pages.next ?? pages.prev)?.get("version");
  const link = (changes) => ({ href: viewUrl(view, { ...params, ...changes }), "data-version": version });
  const isSortable = !render && requested && body.pagination.total <= MAX_SORTED_ROWS && body.pagination.total > 1;
  const offset = all ? Math.max(0, Number(params.offset) || 0) : body.pagination.offset;
  const pagination = { ...body.pagination, offset };
  const shown = all && columns ? sortRows(all, columns, params).slice(offset, offset + pagination.limit) : rows;
  const sortUrl = isSortable ? (sort) => link({ sort, offset: "" }) : null;
  const range = pagination.total > 0 && [describeRange(pagination), !all && order].filter(Boolean).join(", ");
  return [
    element("div", { class: "list-head" },
      element("div", {},
        element("h2", { tabindex: "-1" }, title), element("p", {}, detail, detail && range && " · ", range)),
      requested && pagination.total > 0 && listTools(response, view, params, jump)),
    pagination.total === 0 && element("div", { class: "failure" }, empty),
    shown.length > 0
      && (render?.(shown) ?? table(title, columns, shown, { params: all ? params : {}, sortUrl, keyOf: jump?.keyOf })),
    (headers.has("Link") || pagination.total > pagination.limit) && pageLinks(pagination, pages, link),
  ].filter(Boolean);
}

/** Links to the first, previous, next and last page, and a field for any other one. All show one version of the data. */
function pageLinks({ limit, offset, total }, pages, link) {
  const last = Math.max(0, Math.ceil(total / limit) - 1);
  const page = Math.min(Math.floor(offset / limit), last + 1);
  const to = (text, number, relation) => {
    const linked = pages[relation];
    // The changes after the last page start from a later publication.
    const isContinued = linked && number > last;
    if (number < 0 || (number > last && !isContinued) || number === page) {
      return element("span", { "aria-disabled": "true" }, text);
    }
    const since = (linked ?? pages.next ?? pages.prev)?.get("since");
    const changes = { offset: isContinued ? "" : number * limit || "", ...(since && { since }) };
    return element("a", { ...link(changes), rel: relation }, text);
  };
  const field = element("input", { type: "number", min: 1, max: last + 1, "aria-label": "Page", inputmode: "numeric" });
  field.value = Math.min(page, last) + 1;
  const form = element("form", { class: "to-page", novalidate: "" }, "Page ", field, ` of ${(last + 1).toLocaleString("en")}`);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const number = Math.min(Math.max(1, Math.round(Number(field.value)) || 1), last + 1);
    const { href, "data-version": version } = link({ offset: (number - 1) * limit || "" });
    go(href, version ? { version } : null);
  });
  return element("nav", { class: "pages", "aria-label": "Pages" },
    to("First", 0), to("Previous", page - 1, "prev"), last > 0 && form, to("Next", page + 1, "next"), to("Last", last));
}

const viewLink = (view, params, ...content) => element("a", { href: viewUrl(view, params) }, ...content);

const ocnLink = (ocn) => ocn && viewLink("carriers", { ocn }, ocn);

/** The holder, by its everyday name if it has one. */
const CARRIER_COLUMN = ["Carrier", (row) => holderNames(row), "", (row) => row.common_name ?? row.company_name];

/** A holder's everyday name, then its legal name; null if it has neither. */
function holderNames({ company_name: company, common_name: common }) {
  if (!common || !company) return common ?? company;
  return [common, element("small", {}, " ", company)];
}
