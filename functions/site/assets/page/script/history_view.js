// The history of one exchange or carrier as a timeline.

function historyList(response, params) {
  const { changes, history_begins_at: start, pagination } = response.body;
  const { exchange, carrier } = params;
  const [npa, nxx] = (exchange ?? "").split("-");
  const begin = start && element("li", { class: "begin" }, "The history begins on ", momentOf(start), ".");
  const isLast = pagination.offset + pagination.limit >= pagination.total;
  const list = listCard({
    title: changesView.title(params), order: "newest first", rows: changes, response, view: "changes", params,
    empty: [element("h2", {}, "No changes"), start && element("p", {}, exchange ? "The exchange" : "The carrier",
      " has been the same since the history began on ", momentOf(start), ".")],
    render: (rows) => element("ol", { class: "timeline" }, rows.map(historyEntry), isLast && begin),
  });
  const links = element("p", { class: "links" },
    exchange ? viewLink("area-code", { npa, nxx }, `Exchange ${exchange} now`)
      : [viewLink("carriers", { ocn: carrier }, `Carrier ${carrier} now`),
        viewLink("changes", { ocn: carrier }, "Changes to it and its exchanges")]);
  return [...list, links];
}

/** A publication that changed the record: when, and each field's value before and after. */
function historyEntry({ change, published_at: time, fields }) {
  const value = (name, content) => (content === null ? "none" : element(name, {}, fieldValue(content)));
  const rows = Object.entries(fields).map(([name, { before, after }]) => element("div", {},
    element("dt", {}, fieldName(name)),
    element("dd", {},
      change !== "added" && value("del", before), change === "changed" && " → ", change !== "removed" && value("ins", after))));
  const tone = { added: "good", removed: "bad" }[change] ?? "";
  return element("li", {},
    element("h3", {}, momentOf(time), element("span", { class: `badge ${tone}` }, toWords(change))),
    rows.length > 0 ? element("dl", { class: "pairs" }, rows) : element("p", { class: "caveat" }, "No visible field changed."));
}
