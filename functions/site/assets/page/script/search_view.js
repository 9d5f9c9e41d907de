// Exchange search by words and filters.

const FILTERS = ["q", "npa", "nxx", "ocn", "company", "rate_center", "state", "country", "type", "status"];

const searchView = {
  about: "Find exchanges by carrier, place or both.",
  title: ({ q }) => (q ? `Search: ${q}` : "Search"),
  requestTarget: (params, version) => {
    const filters = Object.fromEntries(FILTERS.filter((name) => params[name]).map((name) => [name, params[name]]));
    if (Object.keys(filters).length === 0) return null;
    return target("/v1/search", { ...filters, ...INCLUDE_NAMES, ...pageParams(params, version) });
  },
  summary: ({ body }) => listSummary("Exchanges", body),
  show: (response, params) => {
    const place = ({ rate_center: center, state }) => [center, state].filter(Boolean).join(", ") || null;
    const code = ({ npa, nxx }) => `${npa}-${nxx}`;
    const columns = [
      ["Exchange", (row) => viewLink("area-code", { npa: row.npa, nxx: row.nxx }, code(row)), "mono", code],
      CARRIER_COLUMN,
      fieldColumn("OCN", "ocn", "mono", ocnLink),
      ["Place", place, "", place],
      fieldColumn("Status", "status", "short", toWords),
    ];
    return element("div", {}, listCard({
      title: "Exchanges", order: "by code", columns, rows: response.body.results, response, view: "search", params,
    }));
  },
};
