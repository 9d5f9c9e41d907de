// Changes by imports, and the history of a carrier or exchange.

const changesView = {
  about: "See which exchanges, carriers and area codes were added, removed or changed.",
  title: ({ exchange, carrier }) => exchange ? `History of exchange ${exchange}`
    : carrier ? `History of carrier ${carrier}` : "Changes",
  requestTarget: ({ exchange, carrier, since, npa, ocn, state, kind, offset }) => {
    const page = { limit: PAGE_ROWS, offset };
    if (carrier) return target(`/v1/carrier/${segment(carrier)}/history`, page);
    if (!exchange) return target("/v1/changes", { since, npa, ocn, state, kind, ...page });
    const [area, code] = exchange.split("-");
    return target(`/v1/npa/${segment(area)}/nxx/${segment(code ?? "")}/history`, page);
  },
  summary: ({ body }, params) => listSummary(changesView.title(params), body),
  show: ({ body, headers }, params) => {
    const title = changesView.title(params);
    const columns = [
      ["Record", recordLink, "mono"],
      ["Change", ({ change, kind, fields }) => element("div", {}, `${toWords(kind)} ${change}`, fieldChanges(fields))],
      ["Published", ({ published_at: time }) => changeTime(time), "short"],
    ];
    return element("div", {}, listCard({
      title, detail: `since ${longDate(body.since.published_at)}`, table: table(title, columns, body.changes),
      pagination: body.pagination, headers, view: "changes", params,
    }));
  },
};

const changeTime = (time) => element("time", { datetime: time, title: time },
  new Date(time).toLocaleDateString("en", { dateStyle: "medium", timeZone: "UTC" }));

/** A link to the record as it is now. */
function recordLink({ kind, key }) {
  if (kind === "carrier") return ocnLink(key);
  const [npa, nxx] = key.split("-");
  return element("a", { href: viewUrl("area-code", { npa, nxx }) }, key);
}

/** The fields that differ, with their values before and after. */
function fieldChanges(fields) {
  const value = (side) => (side === null ? "none" : String(side));
  return element("ul", { class: "field-changes" }, Object.entries(fields).map(([name, { before, after }]) =>
    element("li", {}, element("code", {}, name), ` ${value(before)} → ${value(after)}`)));
}

/** A link to a record's history. */
const historyLink = (params) => element("p", { class: "caveat" },
  element("a", { href: viewUrl("changes", params) }, "History"));
