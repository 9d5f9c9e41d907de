// The carrier list, and a single carrier.

const OCN = /^[0-9A-Z]{4}$/i;

const carriersView = {
  about: "Find carriers by name, OCN, place or type, and see where their exchanges are.",
  title: ({ ocn, q }) => (ocn ? `Carrier ${ocn}` : q ? `Carriers: ${q}` : "Carriers"),
  requestTarget: (params, version) => {
    const ocn = params.ocn ?? typedOcn(params);
    return ocn ? target(`/v1/carrier/${segment(ocn)}`) : carrierListTarget(params, version);
  },
  // Words such as `4COM` look like OCNs.
  retryTarget: ({ status }, params) => (status === 404 && typedOcn(params) ? carrierListTarget(params) : null),
  summary: ({ body }) => body.carriers ? listSummary("Carriers", body)
    : `${carrierName(body)}, ${formatCount(body.exchanges.total, "exchange", "exchanges")}`,
  show: (response, params) => (response.body.carriers ? carrierList(response, params) : carrierCard(response.body)),
};

/** The OCN in the field for names; null if it has none, or there are other filters. */
const typedOcn = ({ q = "", country, state, type }) =>
  (OCN.test(q) && /\d/.test(q) && !country && !state && !type ? q : null);

const carrierListTarget = (params, version) => {
  const { q, country, state, type } = params;
  return target("/v1/carriers", { q, country, state, type, ...pageParams(params, version) });
};

function carrierList(response, params) {
  const columns = [
    fieldColumn("OCN", "ocn", "mono", ocnLink),
    CARRIER_COLUMN,
    fieldColumn("Type", "carrier_type", "short"),
    fieldColumn("State", "state", "mono"),
    fieldColumn("Country", "country", "mono"),
  ];
  return element("div", {}, listCard({
    title: "Carriers", order: params.q ? "best matches first" : "by OCN", columns, rows: response.body.carriers,
    response, view: "carriers", params,
    empty: element("p", {}, "No carrier matches. Each word must be the start of a word in a name."),
  }));
}

/** A bar whose length shows a share. */
function bar(share) {
  const length = element("span", { class: "length", "aria-hidden": "true" });
  length.style.inlineSize = `${share * 100}%`;
  return length;
}

const carrierName = ({ ocn, company_name: company, common_name: common }) => common ?? company ?? `OCN ${ocn}`;

function carrierCard(carrier) {
  const { ocn, company_name: company, common_name: common, carrier_type: type, exchanges } = carrier;
  const place = placeName(carrier);
  const states = Object.entries(exchanges.by_state).sort(([, a], [, b]) => b - a);
  const most = states[0]?.[1] ?? 1;
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      element("div", { class: "title" },
        element("h2", { tabindex: "-1" }, carrierName(carrier)),
        common && company && element("p", {}, company), place && element("p", {}, place)),
      type && element("span", { class: "badge" }, type)),
    element("section", {},
      element("dl", { class: "pairs" },
        pair("OCN", element("code", {}, ocn), ocn),
        pair("Exchanges", exchanges.total.toLocaleString("en"))),
      element("p", { class: "links" },
        exchanges.total > 0 && viewLink("search", { ocn }, "List its exchanges"),
        viewLink("changes", { carrier: ocn }, "History"),
        viewLink("changes", { ocn }, "Changes to it and its exchanges"))),
    states.length > 0 && element("section", {},
      element("h3", {}, "Exchanges by state or province"),
      element("ul", { class: "bars" }, states.map(([code, count]) => element("li", {},
        viewLink("search", { ocn, state: code }, stateName(code)),
        bar(count / most),
        element("span", {}, count.toLocaleString("en")))))));
}
