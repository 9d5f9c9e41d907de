// The carrier list, and a single carrier.

const carriersView = {
  about: "Find carriers by name, OCN, place or type, and see where their exchanges are.",
  title: ({ ocn, q }) => (ocn ? `Carrier ${ocn}` : q ? `Carriers: ${q}` : "Carriers"),
  requestTarget: ({ ocn, q, country, state, type, offset }, version) =>
    ocn
      ? target(`/v1/carrier/${segment(ocn)}`)
      : target("/v1/carriers", { q, country, state, type, limit: PAGE_ROWS, offset, version }),
  summary: ({ body }, params) => params.ocn
    ? `${carrierName(body)}, ${formatCount(body.exchanges.total, "exchange", "exchanges")}`
    : listSummary("Carriers", body),
  show: (response, params) => (params.ocn ? carrierCard(response.body) : carrierList(response, params)),
};

function carrierList({ body, headers }, params) {
  const columns = [
    ["OCN", ({ ocn }) => ocnLink(ocn), "mono"],
    ["Company", ({ company_name: company, common_name: common }) =>
      common && company ? `${company} (${common})` : company ?? common],
    ["Type", ({ carrier_type: type }) => type, "short"],
    ["State", ({ state }) => state, "mono"],
    ["Country", ({ country }) => country, "mono"],
  ];
  return element("div", {}, listCard({
    title: "Carriers", detail: "", table: table("Carriers", columns, body.carriers),
    pagination: body.pagination, headers, view: "carriers", params,
  }));
}

/** A bar whose length shows a share. */
function bar(share) {
  const length = element("span", { class: "length", "aria-hidden": "true" });
  length.style.inlineSize = `${share * 100}%`;
  return length;
}

const carrierName = ({ ocn, company_name: company, common_name: common }) => company ?? common ?? `OCN ${ocn}`;

function carrierCard(carrier) {
  const { ocn, company_name: company, common_name: common, carrier_type: type, state, country, exchanges } = carrier;
  const place = [state && stateName(state), country && countryName(country)].filter(Boolean).join(", ");
  const states = Object.entries(exchanges.by_state).sort(([, a], [, b]) => b - a);
  const most = states[0]?.[1] ?? 1;
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      element("div", { class: "title" },
        element("h2", { tabindex: "-1" }, carrierName(carrier)), place && element("p", {}, place)),
      type && element("span", { class: "badge" }, type)),
    element("section", {},
      element("dl", { class: "pairs" },
        pair("OCN", element("code", {}, ocn), ocn),
        common && company && pair("Known as", common),
        pair("Exchanges", exchanges.total.toLocaleString("en"))),
      historyLink({ carrier: ocn })),
    states.length > 0 && element("section", {},
      element("h3", {}, "Exchanges by state or province"),
      element("ul", { class: "bars" }, states.map(([code, count]) => element("li", {},
        element("a", { href: viewUrl("search", { ocn, state: code }) }, stateName(code)),
        bar(count / most),
        element("span", {}, count.toLocaleString("en")))))));
}
