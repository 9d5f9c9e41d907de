// Filters endpoints, parameters, errors and headings.

let entries = [];

const entry = (id, name, note, words = note) => ({ id, name, note, text: `${name} ${words}`.toLowerCase() });

function listEntries(operations) {
  const headings = [...document.querySelectorAll(".task h1, .task h2[id]")].map((heading) =>
    entry(heading.id || heading.parentElement.id, heading.textContent, "page"));
  const errors = [...document.querySelectorAll("#error-codes tr[id]")].map(({ id, cells: [code, cause] }) =>
    entry(id, code.textContent, cause.textContent));
  const endpoints = operations.map(({ id, route, summary }) => entry(id, route, summary, `${summary} ${id}`));
  const parameters = operations.flatMap(({ id, route, parameters: all }) => all.map(({ name }) =>
    entry(`${id}-${name}`, name, `parameter of ${route}`)));
  entries = [...headings, ...endpoints, ...errors, ...parameters];
}

/** Entries that contain every word, those with the query in their name first. */
function matching(query) {
  const words = query.split(/\s+/);
  const isOther = ({ name }) => !name.toLowerCase().includes(query);
  return entries.filter(({ text }) => words.every((word) => text.includes(word)))
    .sort((one, other) => isOther(one) - isOther(other));
}

function showMatches() {
  const query = byId("filter").value.trim().toLowerCase();
  byId("contents").hidden = query !== "";
  byId("matches").hidden = query === "";
  if (query === "") return;
  const found = matching(query);
  const rows = found.map(({ name, note, id }) => element("li", {},
    element("a", { href: `#${id}` }, element("code", {}, name), element("span", {}, note))));
  if (rows.length === 0) rows.push(element("li", { class: "hint" }, "No matches."));
  byId("matches").replaceChildren(...rows);
  announce(formatCount(found.length, "match", "matches"));
}

function clearFilter() {
  byId("filter").value = "";
  showMatches();
}

/** Arrow keys move between the field and the matches, Escape clears, Enter opens the first match. */
function moveInMatches(event) {
  const places = [byId("filter"), ...byId("matches").querySelectorAll("a")];
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step) places[places.indexOf(event.target) + step]?.focus();
  else if (event.key === "Escape") {
    clearFilter();
    byId("filter").focus();
  } else if (event.key === "Enter" && event.target === places[0]) places[1]?.click();
  else return;
  event.preventDefault();
}

function startFilter() {
  byId("filter-form").hidden = false;
  byId("filter").addEventListener("input", showMatches);
  document.querySelector(".menu").addEventListener("keydown", moveInMatches);
  byId("matches").addEventListener("click", ({ target: clicked }) => { if (clicked.closest("a")) clearFilter(); });
  addEventListener("keydown", (event) => {
    if (event.key !== "/" || event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select, textarea")) return;
    event.preventDefault();
    byId("filter").focus();
  });
}
