// Exchange search by words and filters.

const FILTERS = ["q", "npa", "nxx", "ocn", "company", "rate_center", "state", "country", "type", "status"];

const searchView = {
  about: "Find exchanges by carrier, place or both.",
  title: ({ q }) => (q ? `Search: ${q}` : "Search"),
  requestTarget: (params, version) => {
    const filters = Object.fromEntries(FILTERS.filter((name) => params[name]).map((name) => [name, params[name]]));
    if (Object.keys(filters).length === 0) return null;
    return target("/v1/search", { ...filters, limit: PAGE_ROWS, offset: params.offset, version });
  },
  summary: ({ body }) => listSummary("Exchanges", body),
  show: ({ body, headers }, params) => {
    const columns = [
      ["Exchange", ({ npa, nxx }) => element("a", { href: viewUrl("area-code", { npa, nxx }) }, `${npa}-${nxx}`), "mono"],
      ["Company", ({ company_name: name }) => name],
      ["OCN", ({ ocn }) => ocnLink(ocn), "mono"],
      ["Place", ({ rate_center: center, state }) => [center, state].filter(Boolean).join(", ") || null],
      ["Status", ({ status }) => toWords(status), "short"],
    ];
    return element("div", {}, listCard({
      title: "Exchanges", detail: "", table: table("Exchanges", columns, body.results),
      pagination: body.pagination, headers, view: "search", params,
    }));
  },
};
