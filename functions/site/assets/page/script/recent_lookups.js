// The last lookups as links. They are stored where the key is: in this tab or, if the user chooses to, on this device.

const MAX_RECENT_LOOKUPS = 10;
/** The views whose lookups are stored, and the parameter that identifies a lookup. Lists and their pages are not stored. */
const LOOKUP_PARAMS = { number: "tn", "area-code": "npa", carriers: "ocn" };

function recentLookups() {
  const stored = parseJson(readStored(LOOKUPS_NAME));
  const isLookup = (it) => typeof it?.name === "string" && typeof it.hash === "string" && it.hash.startsWith("#");
  return Array.isArray(stored) ? stored.filter(isLookup) : [];
}

/** Stores a lookup under the heading of its result. */
function storeLookup(view, { offset, ...params }, response) {
  const name = byId("result").querySelector("h2")?.textContent;
  if (!name || !params[LOOKUP_PARAMS[view]] || offset || response.body.valid === false) return;
  const others = recentLookups().filter((other) => other.name !== name);
  const lookups = [{ name, hash: viewUrl(view, params) }, ...others].slice(0, MAX_RECENT_LOOKUPS);
  writeStored(LOOKUPS_NAME, JSON.stringify(lookups));
}

/** Shows all lookups except the one in the URL. */
function showRecentLookups() {
  const others = recentLookups().filter(({ hash }) => hash !== location.hash);
  byId("recent").hidden = others.length === 0;
  byId("recent").replaceChildren(
    element("span", {}, "Recent"),
    element("ul", {}, others.map(({ name, hash }) => element("li", {}, element("a", { href: hash }, name)))),
    element("button", { type: "button", onclick: clearRecentLookups }, "Clear"));
}

function clearRecentLookups() {
  removeStored(LOOKUPS_NAME);
  showRecentLookups();
  announce("Recent lookups cleared");
  byId("lookup").focus();
}
