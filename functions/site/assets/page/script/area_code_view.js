// The exchanges in an area code, or a single one.

const areaCodeView = {
  about: "List the exchanges in an area code, each with its carrier and rate center.",
  title: ({ npa, nxx }) => (nxx ? `Exchange ${npa}-${nxx}` : `Area code ${npa}`),
  requestTarget: ({ npa, nxx, offset }, version) => {
    if (!npa) return null;
    if (nxx) return target(`/v1/npa/${segment(npa)}/nxx/${segment(nxx)}`);
    return target(`/v1/npa/${segment(npa)}`, { limit: PAGE_ROWS, offset, version });
  },
  summary: ({ body }, params) => listSummary(areaCodeView.title(params), body),
  show: ({ body, headers }, params) => {
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
      title, detail, table: table(title, columns, body.exchanges), pagination, headers, view: "area-code", params,
    });
    const allExchanges = params.nxx && element("p", { class: "caveat" },
      element("a", { href: viewUrl("area-code", { npa }) }, `All exchanges in ${npa}`));
    return element("div", {}, list, allExchanges);
  },
};
