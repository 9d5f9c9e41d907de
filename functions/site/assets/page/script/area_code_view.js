// An area code's place in the numbering plan and its exchanges, a single exchange, or a state's area codes.

const areaCodeView = {
  about: "See an area code's dates, overlays, dialing rules and holders, and list its exchanges.",
  title: ({ npa, nxx, state }) => {
    if (npa) return nxx ? `Exchange ${npa}-${nxx}` : `Area code ${npa}`;
    return state ? `Area codes in ${stateName(state)}` : "";
  },
  requestTarget: ({ npa, nxx, state, offset }, version) => {
    const page = { limit: PAGE_ROWS, offset, version };
    if (!npa) return state ? target("/v1/area-codes", { state, ...page }) : null;
    if (nxx) return target(`/v1/npa/${segment(npa)}/nxx/${segment(nxx)}`);
    return target(`/v1/npa/${segment(npa)}`, page);
  },
  planTarget: ({ npa, nxx, offset }) => (npa && !nxx && !offset ? target(`/v1/area-codes/${segment(npa)}`) : null),
  summary: ({ body }, params) => {
    const title = areaCodeView.title(params);
    return body.pagination ? listSummary(title, body) : `${title}: ${planSummary(body)}`;
  },
  show: (response, params) => {
    const { body, plan } = response;
    if (body.area_codes) return stateList(response, params);
    return element("div", { class: "parts" },
      plan && planCard(plan), body.exchanges && element("div", {}, exchangeList(response, params)));
  },
};

/** The exchanges. Below an area code's plan, they need no place. */
function exchangeList({ body, headers, plan }, params) {
  const { npa, state, country, total_exchanges: exchanges, pagination } = body;
  const title = areaCodeView.title(params);
  const place = [state && stateName(state), countryName(country)].filter(Boolean).join(", ");
  const detail = params.nxx ? `${place} · ${formatCount(exchanges, "exchange", "exchanges")} in ${npa}` : place;
  const columns = [
    ["NXX", ({ nxx }) => element("a", { href: viewUrl("area-code", { npa, nxx }) }, nxx), "mono"],
    ["Company", ({ company_name: name }) => name],
    ["OCN", ({ ocn }) => ocnLink(ocn), "mono"],
    ["Rate center", ({ rate_center: center }) => center],
    ["Status", ({ status }) => toWords(status), "short"],
  ];
  const list = listCard({
    title: plan ? "Exchanges" : title, detail: plan ? "" : detail, table: table(title, columns, body.exchanges),
    pagination, headers, view: "area-code", params,
  });
  const link = (text) => element("p", { class: "caveat" }, element("a", { href: viewUrl("area-code", { npa }) }, text));
  const links = params.nxx
    ? [link(`All exchanges in ${npa}`), historyLink({ exchange: `${npa}-${params.nxx}` })]
    : [!plan && link(`About area code ${npa}`)];
  return [...list, ...links].filter(Boolean);
}

/** A state's area codes, with the state on the map. */
function stateList({ body, headers }, params) {
  const title = areaCodeView.title(params);
  const columns = [
    ["NPA", ({ npa }) => npaLink(npa), "mono"],
    ["State or province", ({ states }) => states.map(stateName).join(", ")],
    ["Since", (code) => (code.status === "PLANNED" ? planSummary(code) : code.in_service_on), "short"],
    ["Overlays", ({ npa, overlay }) => (overlay.length > 0 ? npaLinks(overlay.filter((other) => other !== npa)) : null)],
    ["Exchanges", ({ total_exchanges: count }) => count?.toLocaleString("en"), "short"],
  ];
  const [heading, ...list] = listCard({
    title, detail: "", table: table(title, columns, body.area_codes),
    pagination: body.pagination, headers, view: "area-code", params,
  });
  return element("div", { class: "state" }, heading, stateMap([params.state]), ...list.filter(Boolean));
}
