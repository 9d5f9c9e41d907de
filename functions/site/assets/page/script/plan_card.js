// An area code's place in the numbering plan.

const npaLink = (npa) => viewLink("area-code", { npa }, npa);

/** Links to area codes, separated by commas. */
const npaLinks = (codes) => codes.flatMap((npa, index) => (index ? [", ", npaLink(npa)] : [npaLink(npa)]));

const longDate = (date) => new Date(date).toLocaleDateString("en", { dateStyle: "long", timeZone: "UTC" });

/** The status, with its date if known. */
function planSummary({ status, in_service_on: date }) {
  if (status === "PLANNED") return date ? `Planned for ${longDate(date)}` : "Planned";
  return date ? `${toWords(status)} since ${longDate(date)}` : toWords(status);
}

function planCard(plan) {
  const { npa, states, country, status } = plan;
  const place = [...states.map(stateName), country && countryName(country)].filter(Boolean).join(", ");
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      element("div", { class: "title" },
        element("h2", { tabindex: "-1" }, `Area code ${npa}`), element("p", {}, place || toWords(plan.service))),
      element("span", { class: `badge ${status === "IN_SERVICE" ? "good" : "warning"}` }, toWords(status))),
    element("section", { class: "plan" },
      element("dl", { class: "pairs" }, planRows(plan)), states.length > 0 && stateMap(states)),
    plan.holders.length > 0 && holderSection(plan));
}

function planRows(plan) {
  const { npa, notes, overlay, parent, service, time_zones: zones, dialing, relief } = plan;
  const others = overlay.filter((other) => other !== npa);
  const rows = [
    ["Service", toWords(service)],
    ["Status", planSummary(plan)],
    ["Time zone", zones.map((zone) => element("p", {}, zone))],
    ["Parent", parent && npaLink(parent)],
    ["Overlays", npaLinks(others)],
    ["Exchanges", exchangeCounts(plan)],
    ["Rate centers", rateCenters(plan)],
    ["Local calls", dialingRule(dialing.home_local, dialing.foreign_local)],
    ["Toll calls", dialingRule(dialing.home_toll, dialing.foreign_toll)],
    ["Dialing", dialing.notes],
    ["Relief", reliefPlan(relief)],
    ["Notes", notes],
    ["History", viewLink("changes", { npa }, "Changes to it and its exchanges")],
  ];
  return rows.filter(([, content]) => content?.length !== 0 && content).map(([name, content]) => pair(name, content));
}

function exchangeCounts({ total_exchanges: total, exchanges_by_status: counts }) {
  const parts = Object.entries(counts ?? {}).filter(([, count]) => count > 0);
  const words = parts.map(([status, count]) => `${count.toLocaleString("en")} ${toWords(status).toLowerCase()}`);
  return total > 0 && words.join(", ");
}

function rateCenters({ rate_centers: largest, total_rate_centers: total }) {
  const names = largest.map(({ rate_center: name }) => name).join(", ");
  return total > largest.length ? `${names} and ${(total - largest.length).toLocaleString("en")} more` : names;
}

/** The digits to dial within the area code and to others, in words. */
function dialingRule(home, foreign) {
  const words = (digits) => digits.replace(/^1\+/, "1 plus ").replace(/\b(\d+)D$/, "$1 digits");
  if (home === foreign || !foreign) return home && words(home);
  return home ? `${words(home)}; to other area codes, ${words(foreign)}` : `To other area codes, ${words(foreign)}`;
}

/** The state of relief planning in words; empty if there is none. */
function reliefPlan({ is_in_jeopardy: isInJeopardy, is_in_progress: isInProgress, status, planning_letters: letters }) {
  const parts = [
    isInJeopardy && "In jeopardy: exchanges may run out before relief is in place.", isInProgress && "In progress.",
    status && `Status: ${status}.`,
  ].filter(Boolean);
  if (parts.length === 0) return "";
  return [...parts, letters.length > 0 && `Planning letters: ${letters.join(", ")}.`].filter(Boolean).join(" ");
}

/** The largest holders, with bars that show their share. */
function holderSection({ holders, total_holders: total }) {
  const count = ({ exchanges, blocks }) => exchanges + blocks;
  const most = Math.max(...holders.map(count));
  const scope = holders.length < total ? `${holders.length} largest of ${total} holders` : "Holders";
  return element("section", {},
    element("h3", {}, `${scope}, by exchanges`),
    element("ul", { class: "bars holders" }, holders.map((holder) => element("li", {},
      holderName(holder), bar(count(holder) / most), element("span", {}, holdings(holder))))));
}

/** The everyday name as a link to the carrier, and the company's name. */
function holderName(holder) {
  const { ocn, company_name: company, common_name: common } = holder;
  const name = common ?? company ?? (ocn ? `OCN ${ocn}` : "No company");
  return element("span", { class: "name" },
    ocn ? viewLink("carriers", { ocn }, name) : name,
    common && company && element("small", {}, " ", company));
}

const holdings = ({ exchanges, blocks }) => (blocks > 0
  ? `${exchanges.toLocaleString("en")} + ${formatCount(blocks, "block", "blocks")}` : exchanges.toLocaleString("en"));
