// The reports behind the data: the age, completeness and limitations of each.

const sourcesView = {
  isPublic: true,
  title: () => "Sources",
  requestTarget: () => "/v1/sources",
  summary: ({ body }) => `Sources: ${formatCount(body.reports.length, "report", "reports")}`,
  show: ({ body, headers }) => element("div", { class: "parts" },
    element("div", {},
      element("h2", { tabindex: "-1" }, "Sources"),
      element("p", { class: "hint" }, "Data version ", element("code", {}, body.version), ", imported ",
        momentOf(body.imported_at), headers.get("X-Numbering-Data") === "sample" && ". The sample and its dates are made up", ".")),
    body.reports.map(reportCard)),
};

function reportCard(report) {
  const { title, publisher, date, address, license, cannot_tell: limits } = report;
  return element("article", { class: "card" },
    element("div", { class: "card-head" },
      element("div", { class: "title" },
        element("h2", {}, title), element("p", {}, publisher === "operator" ? "From this service's operator" : publisher)),
      element("span", { class: "badge" }, date ? ageInWords(date) : "No date")),
    element("section", { class: "report" },
      element("dl", { class: "pairs" }, [
        pair("Dated", date ? longDate(date) : "The report states no date."),
        pair("Imported", momentOf(report.read_at)),
        pair("Rows", rowCount(report)),
        pair("Contents", countsInWords(report.counts)),
        pair("Address", /^https?:/.test(address) ? element("a", { href: address, rel: "noreferrer" }, address) : address),
        pair("License", license),
        pair("Cannot tell", element("ul", { class: "plain" }, limits.map((limit) => element("li", {}, limit)))),
        pair("SHA-256", element("code", {}, report.sha256)),
      ]),
      Object.keys(report.percentages).length > 0 && completeness(report)));
}

/** The age of a report, such as `2 months old`. */
function ageInWords(date) {
  const days = Math.floor((Date.now() - new Date(date)) / 86_400_000);
  if (days < 1) return "From today";
  if (days < 45) return `${formatCount(days, "day", "days")} old`;
  return days < 730 ? `${Math.round(days / 30.44)} months old` : `${Math.floor(days / 365.25)} years old`;
}

function rowCount({ rows, skipped, unknown_values: unknown }) {
  const reasons = Object.entries(skipped).map(([reason, count]) => `${count.toLocaleString("en")} ${reason}`);
  const values = Object.entries(unknown).map(([column, count]) => `${count.toLocaleString("en")} unknown in ${column}`);
  const left = reasons.length > 0 ? `left out: ${reasons.join(", ")}` : "";
  return [rows.toLocaleString("en"), left, values.join(", ")].filter(Boolean).join("; ");
}

/** Such as `2,778 holders, 2,761 OCNs`. */
const countsInWords = (counts) => Object.entries(counts).filter(([name]) => name !== "records").map(([name, count]) =>
  `${count.toLocaleString("en")} ${name.replace("distinct_", "").replaceAll("_", " ").replace("ocns", "OCNs")}`).join(", ");

const SHARES = {
  holder: "name a holder", ocn: "have an OCN", state: "have a state", rate_center: "have a rate center",
  carrier_type: "of those with an OCN have a carrier type",
  assigned: "are assigned", unassigned: "are unassigned", reserved: "are reserved",
};

/** The percentages of exchanges in words, with bars. */
function completeness({ percentages }) {
  const known = Object.entries(SHARES).filter(([name]) => name in percentages);
  return element("div", {},
    element("h3", {}, "Of its exchanges"),
    element("ul", { class: "bars shares" }, known.map(([name, words]) => element("li", {},
      element("span", {}, words), bar(percentages[name] / 100),
      element("span", {}, `${percentages[name].toLocaleString("en", { maximumFractionDigits: 1 })}%`)))));
}
