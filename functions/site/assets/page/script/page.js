// The current view. The URL contains it after `#`, so that links can be shared and Back works.

const VIEWS = {
  number: numberView, list: listView, "area-code": areaCodeView, carriers: carriersView, search: searchView,
  countries: countriesView, changes: changesView, sources: sourcesView,
};
const NAME = "Telephone numbers";
/** The reports whose dates are in the footer. */
const REPORTS = {
  nanpa: "NANPA", cnac: "CNAC", npa_report: "Area codes", thousands_blocks: "NANPA blocks", canadian_blocks: "CNAC blocks",
};
/** Milliseconds to wait before showing a spinner. */
const SPINNER_DELAY = 200;
/** Matches if focusing a field does not open an on-screen keyboard. */
const HAS_MOUSE = matchMedia("(hover: hover) and (pointer: fine)");
let pending = new AbortController();
let spinnerTimer;

/** Matches the path to a country. */
const COUNTRY_PATH = /^country\/([a-z]{2})$/i;

/** A view's URL, with the parameters that have a value. A country's code is part of the path. */
function viewUrl(view, params) {
  const { country, ...others } = params;
  if (view === "countries" && country) return target(`#country/${segment(country)}`, others);
  return target(`#${view}`, params);
}

/** Parses the view and parameters in the URL; null if it has no view. */
function viewInUrl() {
  const [path, query] = location.hash.slice(1).split("?");
  const params = Object.fromEntries(new URLSearchParams(query));
  const [, code] = path.match(COUNTRY_PATH) ?? [];
  if (code) return { name: "countries", params: { country: code.toUpperCase(), ...params } };
  return Object.hasOwn(VIEWS, path) ? { name: path, params } : null;
}

const currentView = () => viewInUrl() ?? { name: "number", params: {} };

/** Navigates to a view. `state` holds the data version, which the URL omits. */
function go(hash, state = null) {
  history.pushState(state, "", hash);
  return open("user");
}

/** Opens the view in the URL. `cause` is `user`, `history` (Back and Forward) or `new` (the page was loaded). */
async function open(cause) {
  cleanUrl();
  if (cause === "user") useEnteredKey();
  showKey();
  const { name, params } = currentView();
  const view = VIEWS[name];
  const { version = "" } = history.state ?? {};
  stopWaiting();
  clearFieldErrors();
  const form = showForm(name, params);
  showRecentLookups();
  placeCodePane(name);
  const requested = view.requestTarget(params, version);
  document.title = requested === null || !view.title(params) ? NAME : `${view.title(params)} · ${NAME}`;
  if (view.open) return view.open();
  const isEmpty = Object.keys(params).length === 0;
  if (isEmpty && cause !== "history" && HAS_MOUSE.matches) form?.querySelector("input, select").focus({ preventScroll: true });
  const { signal } = pending;
  const keyReceived = cause === "new" ? receiveKey() : null;
  if (requested !== null) await keyReceived;
  if (signal.aborted) return;
  const isAllowed = view.isPublic || !isEmpty || currentKey() !== null;
  if (requested === null || !isAllowed) return showIntroduction(name);
  const response = await fetchLatest(requested, view, params);
  if (response === null) return;
  // A data version is retained for only a few days. If it was deleted, show the page from the current one.
  if (response.status === 400 && version) {
    history.replaceState(null, "");
    return open(cause);
  }
  show(name, params, response, form);
  if (cause === "user" && (view.isPublic || !isEmpty)) goToResult();
}

/** Sends requests. Returns the response, or null if a later request replaced it. The page stays unchanged in the meantime. */
async function fetchLatest(requested, view, params) {
  const { signal } = pending;
  byId("result").setAttribute("aria-busy", "true");
  spinnerTimer = setTimeout(() => {
    byId("result").classList.add("slow");
    announce("Loading");
  }, SPINNER_DELAY);
  let response = await (view.send ?? sendOne)(requested, params, signal);
  const retried = view.retryTarget?.(response, params);
  if (retried) response = { requested: retried, ...await send(retried, { signal }) };
  if (params.sort) response.all = await allRows(response, signal);
  if (signal.aborted) return null;
  stopWaiting();
  return response;
}

/** Sends a view's request, unless the view itself sends several. */
async function sendOne(requested, params, signal) {
  return { requested, ...await send(requested, { signal }) };
}

/** Aborts the pending request, if any. */
function stopWaiting() {
  pending.abort();
  pending = new AbortController();
  clearTimeout(spinnerTimer);
  byId("result").classList.remove("slow");
  byId("result").removeAttribute("aria-busy");
}

/** Introduces a view before its first lookup: with a sentence, and for numbers an example. */
function showIntroduction(name) {
  const hasExample = name === "number";
  byId("about").textContent = VIEWS[name].about;
  byId("introduction").hidden = false;
  byId("introduction").querySelector(".badge").hidden = !hasExample;
  byId("code").hidden = !hasExample;
  byId("result").replaceChildren();
  if (!hasExample) return;
  const { params, body } = EXAMPLE;
  const response = { body, headers: new Headers() };
  showCode(numberView.requestTarget(params), response);
  byId("result").append(numberView.show(response, params));
}

function show(name, params, response, form) {
  const view = VIEWS[name];
  byId("introduction").hidden = true;
  byId("code").hidden = false;
  showCode(response.requested, response);
  byId("result").replaceChildren();
  if (response.status !== 200 || response.body === null) return showFailure(response, form);
  announce(view.summary(response, params));
  byId("result").append(view.show(response, params));
  storeLookup(name, params, response);
}

/** Focuses the result and scrolls it into view. Field errors already have focus. */
function goToResult() {
  if (focusSorted()) return;
  const heading = byId("result").querySelector("h2");
  if (heading === null) return;
  heading.focus({ preventScroll: true });
  if (!isInView(byId("result"))) byId("result").scrollIntoView();
}

/** Shows a view's form, fills it in from the URL, and returns it. */
function showForm(name, params) {
  for (const link of document.querySelectorAll(".views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  scrollToCurrentView();
  for (const form of document.querySelectorAll("form.lookup")) {
    form.hidden = form.dataset.view !== name;
    if (form.hidden) continue;
    for (const field of form.querySelectorAll("[name]")) {
      if (field.type === "date") field.value = dayOf(params[field.name]);
      else field.value = params[field.name] ?? (field.name === "country" && name === "number" ? "US" : "");
    }
    const details = form.querySelector("details");
    const hasMore = details && [...details.querySelectorAll("[name]")].some((field) => field.value);
    if (hasMore) details.open = true;
  }
  return document.querySelector("form.lookup:not([hidden])");
}

/** Scrolls the views, which are wider than a phone, to the current one. */
function scrollToCurrentView() {
  const link = document.querySelector(".views [aria-current]");
  if (link) link.parentElement.scrollLeft = link.offsetLeft - link.parentElement.offsetLeft;
}

/** Matches a key, which belongs in its own field. Lookups are in the URL. */
const KEY_IN_TEXT = /\btnr_(?:live|test)_/;

function onSubmit(event) {
  event.preventDefault();
  const form = event.target;
  if (form.dataset.view === "list") return;
  const withKey = [...form.elements].find(({ name, value }) => name && KEY_IN_TEXT.test(value));
  if (withKey) {
    clearFieldErrors();
    showFieldError(withKey, "This is an API key. Enter it in the field named API key.");
    return;
  }
  const params = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  if (form.dataset.view === "number" && params.country === "US") delete params.country;
  go(viewUrl(form.dataset.view, params));
}

/** Follows a link to a view in this tab. */
function onClick(event) {
  const link = event.target.closest('a[href^="#"]:not(.skip)');
  if (link === null || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { version } = link.dataset;
  go(link.getAttribute("href"), version ? { version } : null);
}

/** Shows the data's version and age, and its reports' dates, or a note if it is sample data, whose dates are made up. */
async function showDataVersion() {
  const [{ status, body, headers }, sources] = await Promise.all(
    ["/v1/stats", "/v1/sources"].map((path) => send(path, { withKey: false })));
  if (status !== 200 || !body) return;
  const isSample = headers.get("X-Numbering-Data") === "sample";
  byId("sample").hidden = !isSample;
  const dated = (sources.body?.reports ?? []).filter(({ report, date }) => !isSample && date && REPORTS[report]);
  const imported = new Date(body.last_updated.NANPA);
  const date = imported.toLocaleString("en", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  byId("data-age").replaceChildren(
    `${formatCount(body.total_records, "exchange", "exchanges")} in ${formatCount(body.coverage.area_codes, "area code", "area codes")}`
      + " · ",
    ...dated.flatMap(({ report, date }) => [element("span", {}, `${REPORTS[report]} ${date}`), " · "]),
    "Data ",
    element("code", {}, headers.get("X-Data-Version")), ", imported ",
    element("time", { datetime: body.last_updated.NANPA, title: `${date} UTC` }, relativeTime(imported)),
    ` (${date} UTC) ·`);
}

/** Removes a query, and text after `#` that is not a view, from the URL. Either could contain a key. */
function cleanUrl() {
  const hash = viewInUrl() && !KEY_IN_TEXT.test(location.hash) ? location.hash : "";
  if (location.search || location.hash !== hash) history.replaceState(history.state, "", location.pathname + hash);
}

function start() {
  for (const link of document.querySelectorAll("a[data-path]")) link.href = BASE_PATH + link.dataset.path;
  fillCodes();
  startCodePane();
  for (const form of document.querySelectorAll("form.lookup")) form.addEventListener("submit", onSubmit);
  startListDrop();
  startKeyForm(() => {
    onListKey();
    open("user");
  }, showRecentLookups);
  startShortcuts();
  addEventListener("click", onClick);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("lookup").focus();
  });
  addEventListener("popstate", () => open("history"));
  open("new");
  showDataVersion();
}

start();
