// The list of countries, and a single country: its numbering plan, and the ranges and holders in its regulator's data.

const MAX_HOLDER_BARS = 20;
const RANGE_FILTERS = ["holder", "status", "prefix"];

const countriesView = {
  about: "See any country's calling code, prefixes and number lengths, and who holds its ranges if open data is loaded.",
  title: ({ country }) => (country ? countryName(country) : "Countries"),
  requestTarget: (params, version) => {
    const { country, holder, status, prefix } = params;
    const page = pageParams(params, version);
    if (!country) return target("/v1/countries", page);
    return target(`/v1/countries/${segment(country)}/ranges`, { holder, status, prefix, ...page });
  },
  send: (requested, params, signal) =>
    (hasCard(params) ? sendAfterCountry(requested, params.country, signal) : sendOne(requested, params, signal)),
  summary: ({ body, country }, params) => {
    if (country) return `${countriesView.title(params)}: ${countrySummary(country)}`;
    return listSummary(body.ranges ? rangesTitle(params) : "Countries", body);
  },
  show: (response, params) => {
    const { body, country, holders } = response;
    if (country && !body.ranges) return countryCard(country, null);
    if (!body.ranges) return element("div", {}, countryList(response, params));
    return element("div", { class: "parts" },
      country && countryCard(country, holders), element("div", { class: "ranges" }, rangeList(response, params)));
  },
};

/** Returns true if a country's ranges are shown below its card: on their first page, in the service's order, unfiltered. */
const hasCard = ({ country, offset, sort, ...filters }) =>
  Boolean(country) && !offset && !sort && RANGE_FILTERS.every((name) => !filters[name]);

/**
 * Requests a country, then its ranges and holders if its data is loaded. The response is the one for the ranges, for the
 * country if it has none, or the first that failed.
 */
async function sendAfterCountry(requested, code, signal) {
  const found = await sendOne(target("/v1/countries", { country: code }), {}, signal);
  const country = found.body?.countries?.[0];
  if (found.status !== 200 || !country?.data) return { ...found, country };
  const [ranges, holders] = await Promise.all(
    [requested, target("/v1/holders", { country: code, limit: PAGE_ROWS })].map((it) => sendOne(it, {}, signal)));
  if (ranges.status !== 200) return ranges;
  if (holders.status !== 200) return holders;
  return { ...ranges, country, holders: { ...holders.body, all: await allRows(holders, signal) } };
}

/** The status of a country's data in words. */
function countrySummary({ calling_code: callingCode, data }) {
  const ranges = data ? dataCounts(data) : "no open data loaded";
  return `calling code +${callingCode}, ${ranges}`;
}

const dataCounts = ({ ranges, holders }) =>
  `${formatCount(ranges, "range", "ranges")} of ${formatCount(holders, "holder", "holders")}`;

function countryList(response, params) {
  const countryLink = (code) => viewLink("countries", { country: code }, code);
  const columns = [
    fieldColumn("Code", "code", "mono", countryLink),
    fieldColumn("Country", "name"),
    fieldColumn("Calling code", "calling_code", "mono", (code) => `+${code}`),
    ["Open data", ({ data }) => data && [data.publisher, data.date].filter(Boolean).join(", "), "", ({ data }) => data?.publisher],
    ["Ranges", ({ data }) => data?.ranges.toLocaleString("en"), "short", ({ data }) => data?.ranges],
  ];
  return listCard({
    title: "Countries", order: "by code", columns, rows: response.body.countries, response, view: "countries", params,
  });
}

/** A country's numbering plan, and the source and holders of its ranges if they are loaded. */
function countryCard(country, holders) {
  const { code, name, calling_code: callingCode, types, data } = country;
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      flagImage({ svg: absolute(`/flags/countries/${code}.svg`), name }, "large"),
      element("div", { class: "title" },
        element("h2", { tabindex: "-1" }, name), element("p", {}, `Calling code +${callingCode}`)),
      element("span", { class: `badge ${data ? "good" : ""}` }, data ? "Open data" : "Rules only")),
    element("section", { class: "report country" },
      element("div", {}, prefixes(country), dataSource(country)), types.length > 0 && typeTable(types)),
    holders?.holders.length > 0 && rangeHolders(code, holders));
}

const prefixes = ({ trunk_prefix: trunk, international_prefix: international }) => element("dl", { class: "pairs" },
  pair("Trunk prefix", trunk ? element("code", {}, trunk) : "None"),
  pair("International prefix", international ? element("code", {}, international) : "Not known"));

function dataSource({ data }) {
  if (!data) return element("p", {}, "No open data loaded; libphonenumber's rules only.");
  return element("dl", { class: "pairs" },
    pair("Source", `${data.publisher}, ${data.title}`),
    pair("Dated", data.date ? `${longDate(data.date)}, ${ageInWords(data.date).toLowerCase()}` : "The source states no date."),
    pair("Imported", momentOf(data.imported_at)),
    pair("Contents", dataCounts(data)),
    pair("License", data.license));
}

const TYPE_WORDS = {
  FIXED_LINE: "Landline", FIXED_LINE_OR_MOBILE: "Landline or mobile", TOLL_FREE: "Toll-free", VOIP: "VoIP",
  UAN: "Universal access number",
};

/** The lengths and an example of each type of number. An example is in a range that nobody holds. */
function typeTable(types) {
  const columns = [
    ["Type", ({ type }) => TYPE_WORDS[type] ?? toWords(type)],
    ["Length", ({ lengths }) => lengthWords(lengths)],
    ["Unassigned example", ({ example }) => example && viewLink("number", { tn: example }, example), "mono"],
  ];
  const shown = types.some(({ example }) => example) ? columns : columns.slice(0, 2);
  return element("div", { class: "types" }, table("Number types", shown, types));
}

/** Lengths in words, such as `7, 9–10 digits`. */
function lengthWords(lengths) {
  const runs = [];
  for (const length of lengths) {
    if (runs.at(-1)?.last === length - 1) runs.at(-1).last = length;
    else runs.push({ first: length, last: length });
  }
  return `${runs.map(({ first, last }) => (first === last ? first : `${first}–${last}`)).join(", ")} digits`;
}

/** The largest holders with bars, and their share of all assigned numbers if all holders could be loaded. */
function rangeHolders(country, { holders, all, pagination: { total } }) {
  const shown = holders.slice(0, MAX_HOLDER_BARS);
  const sum = all?.reduce((numbers, holder) => numbers + holder.numbers, 0);
  const most = Math.max(...shown.map(({ numbers }) => numbers));
  const share = (numbers) => (numbers / sum).toLocaleString("en", { style: "percent", minimumFractionDigits: 1, maximumFractionDigits: 1 });
  const scope = shown.length < total ? `${shown.length} largest of ${total.toLocaleString("en")} holders` : "Holders";
  return element("section", {},
    element("h3", {}, `${scope}, by assigned numbers`),
    element("ul", { class: "bars holders" }, shown.map(({ holder, numbers }) => element("li", {},
      element("span", { class: "name" }, viewLink("countries", { country, holder }, holder)), bar(numbers / most),
      element("span", {}, numbers.toLocaleString("en"), sum > 0 && ` (${share(numbers)})`)))));
}

const rangesTitle = ({ country }) => `Ranges: ${countryName(country)}`;

/** A country's ranges. Below the country's card, omits the link to the country. */
function rangeList(response, params) {
  const { body: { ranges, source }, country: card } = response;
  const { country } = params;
  const columns = [
    ["Range", ({ from, to }) => [
      viewLink("number", { tn: from, country }, from), to !== from && element("small", {}, ` to ${to}`),
    ], "mono", ({ from }) => from],
    fieldColumn("Holder", "holder", "", (holder) => holder && viewLink("countries", { country, holder }, holder)),
    ["Status", ({ status, use }) => status ?? toWords(use), "", ({ status, use }) => status ?? use],
    fieldColumn("Effective from", "effective_from", "short"),
    fieldColumn("Place", "place"),
  ];
  const filters = RANGE_FILTERS.map((name) => params[name]).filter(Boolean).join(", ");
  const list = listCard({
    title: card ? "Ranges" : rangesTitle(params), detail: filters, order: "by number", columns, rows: ranges, response,
    view: "countries", params, empty: element("p", {}, "No range matches. A holder and a status must be as published."),
  });
  if (card) return list;
  return [...list, element("p", { class: "caveat" }, sourceLine(source)),
    element("p", { class: "links" }, viewLink("countries", { country }, "About this country"))];
}

/** The publisher, date and license of a country's data. */
const sourceLine = ({ publisher, date, license }) =>
  `Source: ${[publisher, date && longDate(date)].filter(Boolean).join(", ")}. License: ${license.replace(/\.$/, "")}.`;
