// The open view. It is in the URL after `#`, so that links can be shared and Back works.

const VIEWS = { number: numberView, "area-code": areaCodeView, carriers: carriersView, search: searchView };
const NAME = "Telephone numbers";
/** Milliseconds after which an answer counts as slow. */
const SPINNER_DELAY = 200;
/** True if focusing a field does not open an on-screen keyboard. */
const HAS_MOUSE = matchMedia("(hover: hover) and (pointer: fine)");
let pending = new AbortController();
let waiting;

/** A view's URL, with the parameters that have a value. */
function hashOf(view, params) {
  return target(`#${view}`, params);
}

/** The view and parameters in the URL. */
function opened() {
  const [view, query] = location.hash.slice(1).split("?");
  const name = Object.hasOwn(VIEWS, view) ? view : "number";
  return { name, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Opens a view for the user. `state` has what is not in its URL. */
function go(hash, state = null) {
  history.pushState(state, "", hash);
  open("user");
}

/** Opens the view in the URL. The cause is `user`, `history` (Back and Forward) or `new` (the page was loaded). */
async function open(cause) {
  showKey();
  const { name, params } = opened();
  const view = VIEWS[name];
  const { version = "" } = history.state ?? {};
  stopWaiting();
  clearFieldErrors();
  const form = showForm(name, params);
  const requested = view.requestOf(params, version);
  document.title = requested === null || !view.title(params) ? NAME : `${view.title(params)} · ${NAME}`;
  const isEmpty = Object.keys(params).length === 0;
  if (isEmpty && cause !== "history" && HAS_MOUSE.matches) form.querySelector("input").focus({ preventScroll: true });
  const { signal } = pending;
  const keyHandedOver = cause === "new" ? receiveKey() : null;
  if (requested !== null) await keyHandedOver;
  if (signal.aborted) return;
  if (requested === null || (isEmpty && currentKey() === null)) return showExample(name);
  const answer = await answerTo(requested);
  if (answer === null) return;
  // A data version is retained for only a few days; a page from a later one is better than none.
  if (answer.status === 400 && version) {
    history.replaceState(null, "");
    return open(cause);
  }
  show(view, params, requested, answer, form);
  if (cause === "user" && !isEmpty) goToAnswer();
}

/** Sends a request; returns its answer, or null if a later one replaced it. The page stays as it is meanwhile. */
async function answerTo(requested) {
  const { signal } = pending;
  byId("answer").setAttribute("aria-busy", "true");
  waiting = setTimeout(() => {
    byId("answer").classList.add("slow");
    announce("Loading");
  }, SPINNER_DELAY);
  const answer = await send(requested, { signal });
  if (signal.aborted) return null;
  stopWaiting();
  return answer;
}

/** Aborts the pending request, if any. */
function stopWaiting() {
  pending.abort();
  pending = new AbortController();
  clearTimeout(waiting);
  byId("answer").classList.remove("slow");
  byId("answer").removeAttribute("aria-busy");
}

function showExample(name) {
  const { params, body } = EXAMPLES[name];
  const answer = { body, headers: new Headers() };
  byId("about").textContent = VIEWS[name].about;
  byId("example").hidden = false;
  showCode(VIEWS[name].requestOf(params), answer);
  byId("answer").replaceChildren(VIEWS[name].show(answer, params));
}

function show(view, params, requested, answer, form) {
  byId("example").hidden = true;
  showCode(requested, answer);
  byId("answer").replaceChildren();
  if (answer.status !== 200 || answer.body === null) return showFailure(answer, form);
  announce(view.summary(answer, params));
  byId("answer").append(view.show(answer, params));
}

/** Focuses the answer and scrolls it into view. An error at a field already has the focus. */
function goToAnswer() {
  const heading = byId("answer").querySelector("h2");
  if (heading === null) return;
  heading.focus({ preventScroll: true });
  if (!isInView(byId("answer"))) byId("answer").scrollIntoView();
}

/** Shows a view's form, filled in from its URL, and returns it. */
function showForm(name, params) {
  for (const link of document.querySelectorAll(".views a")) {
    if (link.dataset.view === name) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  for (const form of document.querySelectorAll("form.lookup")) {
    form.hidden = form.dataset.view !== name;
    if (form.hidden) continue;
    for (const field of form.querySelectorAll("[name]")) {
      field.value = params[field.name] ?? (field.name === "country" && name === "number" ? "US" : "");
    }
    const details = form.querySelector("details");
    const hasMore = details && [...details.querySelectorAll("[name]")].some((field) => field.value);
    if (hasMore) details.open = true;
  }
  return document.querySelector("form.lookup:not([hidden])");
}

function submitted(event) {
  event.preventDefault();
  const form = event.target;
  const params = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  if (form.dataset.view === "number" && params.country === "US") delete params.country;
  go(hashOf(form.dataset.view, params));
}

/** Follows a link to a view within this page, unless it is opened elsewhere. */
function followed(event) {
  const link = event.target.closest('a[href^="#"]:not(.skip)');
  if (link === null || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
  event.preventDefault();
  const { version } = link.dataset;
  go(link.getAttribute("href"), version ? { version } : null);
}

/** Shows the data's version and age, and a note if it is the sample. */
async function showData() {
  const { status, body, headers } = await send("/v1/stats", { withKey: false });
  if (status !== 200 || !body) return;
  byId("sample").hidden = headers.get("X-Numbering-Data") !== "sample";
  const imported = new Date(body.last_updated.NANPA);
  const date = imported.toLocaleString("en", { dateStyle: "long", timeStyle: "short", timeZone: "UTC" });
  byId("data-age").replaceChildren(
    `${counted(body.total_records, "exchange", "exchanges")} in ${counted(body.coverage.area_codes, "area code", "area codes")}`
      + " · Data ",
    element("code", {}, headers.get("X-Data-Version")), ", imported ",
    element("time", { datetime: body.last_updated.NANPA, title: `${date} UTC` }, relativeTime(imported)),
    ` (${date} UTC) ·`);
}

function start() {
  for (const link of document.querySelectorAll("a[data-path]")) link.href = BASE_PATH + link.dataset.path;
  fillCodes();
  startCodePane();
  for (const form of document.querySelectorAll("form.lookup")) form.addEventListener("submit", submitted);
  startKeyForm(() => open("user"));
  addEventListener("click", followed);
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("lookup").focus();
  });
  addEventListener("popstate", () => open("history"));
  open("new");
  showData();
}

start();
