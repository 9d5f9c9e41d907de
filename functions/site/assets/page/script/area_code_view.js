// An area code's place in the numbering plan and its exchanges, a single exchange, or a state's area codes.

const INCLUDE_NAMES = { include: "common_name" };

const areaCodeView = {
  about: "See an area code's dates, overlays, dialing rules and holders, and list its exchanges.",
  title: ({ npa, nxx, state }) => {
    if (npa) return nxx ? `Exchange ${npa}-${nxx}` : `Area code ${npa}`;
    return state ? `Area codes in ${stateName(state)}` : "";
  },
  requestTarget: (params, version) => {
    const { npa, nxx, state } = params;
    const page = pageParams(params, version);
    if (!npa) return state ? target("/v1/area-codes", { state, ...page }) : null;
    if (nxx) return target(`/v1/npa/${segment(npa)}/nxx/${segment(nxx)}`, INCLUDE_NAMES);
    return target(`/v1/npa/${segment(npa)}`, { ...INCLUDE_NAMES, ...page });
  },
  send: (requested, params, signal) => {
    const { npa, nxx, offset, sort } = params;
    const hasPlan = npa && !nxx && !offset && !sort;
    return hasPlan ? sendAfterPlan(requested, npa, signal) : sendOne(requested, params, signal);
  },
  summary: ({ body }, params) => {
    const title = areaCodeView.title(params);
    if (params.nxx) return `${title}: ${toWords(body.exchanges[0].status)}`;
    return body.pagination ? listSummary(title, body) : `${title}: ${planSummary(body)}`;
  },
  show: (response, params) => {
    const { body, plan } = response;
    if (body.area_codes) return stateList(response, params);
    if (params.nxx) return exchangeCard(body);
    return element("div", { class: "parts" },
      plan && planCard(plan), body.exchanges && element("div", {}, exchangeList(response, params)));
  },
};

/**
 * Sends a request after the one for the area code's plan. The plan is the response if it cannot be loaded, or if the
 * service lists no exchanges for the code.
 */
async function sendAfterPlan(requested, npa, signal) {
  const response = await sendOne(target(`/v1/area-codes/${segment(npa)}`), {}, signal);
  const { body: plan, status } = response;
  if (status !== 200 || !plan?.total_exchanges) return { ...response, plan };
  return { ...await sendOne(requested, {}, signal), plan };
}

const placeName = ({ state, country }) =>
  [state && stateName(state), country && countryName(country)].filter(Boolean).join(", ");

/** The exchanges. Below an area code's plan, omits the state and country. */
function exchangeList(response, params) {
  const { body, plan } = response;
  const { npa } = params;
  const columns = [
    fieldColumn("NXX", "nxx", "mono", (nxx) => viewLink("area-code", { npa, nxx }, nxx)),
    CARRIER_COLUMN,
    fieldColumn("OCN", "ocn", "mono", ocnLink),
    fieldColumn("Rate center", "rate_center"),
    fieldColumn("Status", "status", "short", toWords),
  ];
  const list = listCard({
    title: plan ? "Exchanges" : `Exchanges in ${npa}`, detail: plan ? "" : placeName(body), order: "by NXX", columns,
    rows: body.exchanges, response, view: "area-code", params,
    jump: { label: "NXX", pattern: "[2-9][0-9]{2}", keyOf: ({ nxx }) => nxx },
  });
  const about = element("p", { class: "links" }, viewLink("area-code", { npa }, `About area code ${npa}`));
  return plan ? list : [...list, about];
}

/** A single exchange: its holder, its place and its numbers. */
function exchangeCard({ npa, state, country, exchanges: [exchange] }) {
  const { nxx, ocn, rate_center: center, status } = exchange;
  const tone = { ASSIGNED: "good", RESERVED: "warning" }[status] ?? "";
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      element("div", { class: "title" },
        element("h2", { tabindex: "-1" }, `Exchange ${npa}-${nxx}`), element("p", {}, placeName({ state, country }))),
      element("span", { class: `badge ${tone}` }, toWords(status))),
    element("section", {},
      element("dl", { class: "pairs" },
        pair("Carrier", holderNames(exchange) ?? "Nobody holds this exchange."),
        ocn && pair("OCN", ocnLink(ocn)),
        center && pair("Rate center", center),
        pair("Numbers", `(${npa}) ${nxx}-0000 to ${nxx}-9999`)),
      element("p", { class: "links" },
        viewLink("changes", { exchange: `${npa}-${nxx}` }, "History"),
        viewLink("area-code", { npa }, `All exchanges in ${npa}`))));
}

/** A state's area codes, with the state on the map. */
function stateList(response, params) {
  const columns = [
    fieldColumn("NPA", "npa", "mono", npaLink),
    ["State or province", ({ states }) => states.map(stateName).join(", ")],
    ["In service since", (code) => (code.status === "PLANNED" ? planSummary(code) : code.in_service_on), "short",
      ({ in_service_on: date }) => date],
    ["Overlays", ({ npa, overlay }) => (overlay.length > 0 ? npaLinks(overlay.filter((other) => other !== npa)) : null)],
    fieldColumn("Exchanges", "total_exchanges", "short", (count) => count?.toLocaleString("en")),
  ];
  const [heading, ...list] = listCard({
    title: areaCodeView.title(params), order: "by NPA", columns, rows: response.body.area_codes,
    response, view: "area-code", params,
  });
  return element("div", { class: "state" }, heading, stateMap([params.state]), ...list);
}
