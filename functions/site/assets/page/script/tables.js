// Lists: a table, with links to the previous and next pages.

const PAGE_ROWS = 25;

/** A table. Each column has a heading and a function that returns a cell's content: text, an element, or nothing. */
function table(caption, columns, rows) {
  const headings = columns.map(([heading]) => element("th", { scope: "col", role: "columnheader" }, heading));
  const body = rows.map((row) => element("tr", { role: "row" }, columns.map((column) => cell(column, row))));
  // Narrow screens show rows as blocks. The roles keep the table semantics.
  return element("table", { role: "table", "aria-label": caption },
    element("thead", { role: "rowgroup" }, element("tr", { role: "row" }, headings)),
    element("tbody", { role: "rowgroup" }, body));
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
  return total <= limit && offset === 0 ? `all ${all}` : `${first} to ${last} of ${all}`;
}

const listSummary = (title, { pagination }) => `${title}: ${describeRange(pagination)}`;

/** A list with a heading and links to its pages. */
function listCard({ title, detail, table: rows, pagination, headers, view, params }) {
  const { limit, offset, total } = pagination;
  const range = describeRange(pagination);
  return [
    element("div", { class: "list-head" },
      element("h2", { tabindex: "-1" }, title),
      element("p", {}, detail, detail && " · ", range)),
    total === 0 && element("p", { class: "failure" }, "No matches."),
    offset < total && rows,
    headers.has("Link") && pageLinks(linkedPages(headers), view, params),
  ];
}

function pageLinks(pages, view, params) {
  const link = (relation, text) => {
    const page = pages[relation];
    if (!page) return element("span", { "aria-disabled": "true" }, text);
    const [offset, since] = [page.get("offset"), page.get("since")];
    const hash = viewUrl(view, { ...params, ...(since && { since }), offset: offset === "0" ? "" : offset });
    // All pages show one data version, which shared links omit.
    return element("a", { href: hash, rel: relation, "data-version": page.get("version") }, text);
  };
  return element("nav", { class: "pages", "aria-label": "Pages" }, link("prev", "Previous"), link("next", "Next"));
}

const ocnLink = (ocn) => ocn && element("a", { href: viewUrl("carriers", { ocn }) }, ocn);
