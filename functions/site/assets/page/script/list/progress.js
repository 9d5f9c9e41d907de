// A running or finished list: its progress, counts and result.

const COUNT_NAMES = { valid: "Valid", repaired: "Repaired", rejected: "Rejected", empty: "Empty", duplicates: "Duplicates" };
const COUNTS_NOTE = "Repaired numbers are valid, but Google's rules alone parse the text differently. Duplicates are valid "
  + "numbers that repeat an earlier one in any format.";

/** A list's status as a sentence. */
function progressWords({ status, done, end, wait, halt, list: { rows } }) {
  const range = `${done.toLocaleString("en")} of ${formatCount(rows, "row", "rows")}`;
  if (status === "done") return `${formatCount(rows, "row", "rows")} done.`;
  if (halt) return `${range} done. ${haltWords(halt)}`;
  if (wait?.until > Date.now()) return `${range} done. ${wait.reason}. Continues ${relativeTime(new Date(wait.until))}.`;
  return done === 0 ? `${range} done.` : `${range} done. The rest is ready ${relativeTime(new Date(end))}.`;
}

function haltWords({ kind, message }) {
  if (kind === "stopped") return "Stopped.";
  if (kind === "key") return "Enter a valid API key above to continue.";
  return `${message}.`;
}

/** A list that was started. Returns the card, and a function that updates it while the list runs. */
function jobCard(job) {
  const { list } = job;
  const progress = element("progress", { max: list.rows, "aria-label": "Rows done" });
  const words = element("p", { class: "progress-words" });
  const buttons = element("div", { class: "buttons" });
  const counts = element("section", {});
  const result = element("section", {});
  const card = element("article", { class: "card" },
    listHead(list.name, ""), element("section", {}, progress, words, buttons), counts, result);
  let shownStatus = null;
  const update = () => {
    progress.value = job.done;
    words.textContent = progressWords(job);
    counts.replaceChildren(element("h3", {}, "Numbers"), countList(job), element("p", { class: "hint" }, COUNTS_NOTE));
    if (shownStatus === job.status) return;
    shownStatus = job.status;
    progress.hidden = job.status === "done";
    card.querySelector("#list-facts").textContent = job.status === "running" ? "Keep this tab open." : "";
    const hadFocus = buttons.contains(document.activeElement);
    buttons.replaceChildren(...jobButtons(job));
    if (hadFocus) buttons.firstChild.focus();
    result.hidden = job.status === "running" || job.done === 0;
    result.replaceChildren(...resultParts(job));
    announce(job.status === "running" ? "Looking up the list" : `${progressWords(job)} ${countWords(job)}`);
  };
  update();
  return { card, update };
}

function jobButtons(job) {
  const button = (name, onclick, kind) => element("button", { type: "button", onclick, class: kind }, name);
  if (job.status === "running") return [button("Stop", () => job.stop())];
  const rows = job.status === "done" ? "" : ` of ${formatCount(job.done, "row", "rows")}`;
  return [
    job.done > 0 && button(`Download CSV${rows}`, () => downloadResult(job), "primary"),
    job.status === "halted" && job.halt.kind !== "unreadable" && button("Resume", () => job.run(), job.done === 0 && "primary"),
    button("Another list", closeList),
  ].filter(Boolean);
}

const countWords = ({ counts }) =>
  Object.entries(COUNT_NAMES).map(([kind, name]) => `${name}: ${counts[kind].toLocaleString("en")}`).join(", ");

function countList({ counts, done }) {
  return element("ul", { class: "bars" }, Object.entries(COUNT_NAMES).map(([kind, name]) => element("li", {},
    element("span", {}, name), counts[kind] > 0 ? bar(counts[kind] / done) : element("span"), element("span", {}, counts[kind].toLocaleString("en")))));
}

/** The reasons and the first rows of the result. */
function resultParts(job) {
  const reasons = [...job.reasons.values()].filter(({ code, count }) => count > 0 && code !== "EMPTY").sort((a, b) => b.count - a.count);
  const columns = [
    ["Count", ({ count }) => count.toLocaleString("en"), "short"],
    ["Reason", ({ message, verdict }) => (verdict === "rejected" ? message : `Valid, but: ${message}`)],
    ["Code", ({ code }) => code, "mono"],
    ["First on", ({ line }) => `line ${line.toLocaleString("en")}`, "short"],
  ];
  // The number, and the columns that were added.
  const { names, numberColumn } = job.list.layout;
  const shown = (cells) => [cells[numberColumn], ...cells.slice(names.length)];
  return [
    reasons.length > 0 && element("h3", {}, "Reasons"),
    reasons.length > 0 && table("Reasons", columns, reasons),
    element("h3", {}, "The first rows of the result"),
    sheet("Rows of the result", shown(job.names), job.preview.map(shown), 0),
  ].filter(Boolean);
}
