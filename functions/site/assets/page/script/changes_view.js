// Changes by imports, as a list and as the history of a carrier or exchange.

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
  // A date outside the history means its nearest day, and any other start the default.
  retryTarget: ({ status, body }, params) => {
    const message = body?.message ?? "";
    if (status !== 400 || !params.since || !message.startsWith("since ")) return null;
    const [, start] = message.match(/^since must be (\S+Z) or later/) ?? [];
    const today = message.includes("future") ? new Date().toISOString().slice(0, 10) : "";
    return changesView.requestTarget({ ...params, since: start ?? today, offset: "" });
  },
  summary: ({ body }, params) => listSummary(changesView.title(params), body),
  show: (response, params) => {
    if (response.requested) limitDates(response.body);
    const { exchange, carrier } = params;
    return element("div", {}, exchange || carrier ? historyList(response, params) : changeList(response, params));
  },
};

/** The day of a date, time or publication, which starts with its time; empty for anything else. */
const dayOf = (text) => (text ?? "").match(/^(\d{4})-?(\d\d)-?(\d\d)/)?.slice(1).join("-") ?? "";

const momentOf = (time, dateStyle = "long") => element("time", { datetime: time, title: time },
  new Date(time).toLocaleString("en", { dateStyle, timeStyle: "short", timeZone: "UTC" }), " UTC");

/** Shows when the history begins, and offers only its days. */
function limitDates({ history_begins_at: start }) {
  if (start === null) return;
  const field = byId("changes-since");
  field.min = dayOf(start);
  field.max = new Date().toISOString().slice(0, 10);
  byId("changes-hint").replaceChildren(
    "The history begins on ", momentOf(start), ". Without a date, the list covers the last 30 days.");
}

function changeList(response, params) {
  const { since, history_begins_at: start, changes } = response.body;
  const isClamped = params.since && dayOf(params.since) < dayOf(start);
  const columns = [
    ["Record", recordLinks, "mono"],
    ["Change", ({ change, kind, fields }) => [`${toWords(kind)} ${change}`, fieldChanges(fields)]],
    ["Published", ({ published_at: time }) => momentOf(time, "medium"), "short"],
  ];
  return listCard({
    title: "Changes", detail: [isClamped && "no earlier history; ", "since ", momentOf(since.published_at)],
    order: "oldest first", columns, rows: changes, response, view: "changes", params,
    empty: emptyReason(response.body, params),
  });
}

/** The reason why a list of changes is empty. */
function emptyReason({ since, until, is_current: isCurrent, history_begins_at: start }, params) {
  const { since: from, offset, ...filters } = params;
  const link = (changes, text) => viewLink("changes", changes, text);
  const isSame = since.publication === until.publication;
  if (isSame && since.published_at === start) {
    return [element("h2", {}, "No history yet"), element("p", {}, "It begins with the data published on ",
      momentOf(start), ". The next import is compared with that, and its changes are listed here.")];
  }
  if (isSame) {
    return [element("h2", {}, "No later data"), element("p", {}, "The current data was published on ",
      momentOf(since.published_at), ", and nothing was imported since. ", link({ ...filters, since: dayOf(start) }, "All changes"))];
  }
  const between = ["between ", momentOf(since.published_at), " and ", momentOf(until.published_at)];
  if (Object.values(filters).some(Boolean)) {
    return [element("h2", {}, "No change matches these filters"), element("p", {}, "That is for data published ", ...between,
      ". ", link({ since: from }, "Changes without filters"), !isCurrent && ". Later changes are on the next page.")];
  }
  return [element("h2", {}, "Nothing changed"), element("p", {}, "The data published ", ...between, " is the same.")];
}

/** The record as it is now, unless it was removed, and its history. */
function recordLinks({ kind, key, change }) {
  const [npa, nxx] = key.split("-");
  const now = kind === "carrier" ? ocnLink(key) : viewLink("area-code", { npa, nxx }, key);
  const history = { carrier: { carrier: key }, exchange: { exchange: key }, area_code: { npa: key, kind } }[kind];
  return [change === "removed" ? key : now, element("small", {}, " ", viewLink("changes", history, "History"))];
}

const FIELD_NAMES = { ocn: "OCN", npa: "NPA", nxx: "NXX", company_name: "Legal name", common_name: "Everyday name" };

/** The name of a field such as `exchanges.by_state.CA` in words. */
function fieldName(name) {
  const words = (part) => FIELD_NAMES[part] ?? toWords(part);
  const [first, second, third] = name.split(".");
  if (name === "exchanges.total") return "Exchanges";
  if (second === "by_state") return `Exchanges in ${stateName(third)}`;
  if (first === "blocks") return `Block ${second}: ${words(third)}`;
  return second ? `${words(first)}: ${words(second).toLowerCase()}` : words(first);
}

const fieldValue = (value) => (value === null ? "none" : value.toLocaleString("en") || "none");

/** The fields that differ, with their values before and after. */
function fieldChanges(fields) {
  return element("ul", { class: "field-changes" }, Object.entries(fields).map(([name, { before, after }]) =>
    element("li", {}, element("span", {}, fieldName(name)), ` ${fieldValue(before)} → ${fieldValue(after)}`)));
}
