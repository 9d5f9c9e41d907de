// Which view is open: it stands after the `#` of the address, so that a link can be shared and Back works.

const VIEWS = { number: numberView, "area-code": areaCodeView, carriers: carriersView, search: searchView };
const NAME = "Telephone numbers";
let pending = new AbortController();

/** The address of a view with those parameters that have a value. */
function hashOf(view, params) {
  return target(`#${view}`, params);
}

/** The view and the parameters of the address. */
function opened() {
  const [view, query] = location.hash.slice(1).split("?");
  const name = Object.hasOwn(VIEWS, view) ? view : "number";
  return { name, params: Object.fromEntries(new URLSearchParams(query)) };
}

/** Opens a view. `state` is what its address does not tell. */
function go(hash, state = null) {
  history.pushState(state, "", hash);
  open();
}

async function open() {
  takeKeyFromAddress();
  showKey();
  const { name, params } = opened();
  const view = VIEWS[name];
  const { version = "", isPaging = false } = history.state ?? {};
  pending.abort();
  pending = new AbortController();
  showForm(name, params);
  const requested = view.requestOf(params, version);
  document.title = requested === null || !view.title(params) ? NAME : `${view.title(params)} · ${NAME}`;
  if (requested === null || (!currentKey() && name === "carriers" && Object.keys(params).length === 0)) {
    showCode(requested);
    byId("answer").replaceChildren(element("p", { class: "empty" }, view.empty || "Carriers will stand here."));
    return;
  }
  showCode(requested);
  byId("answer").setAttribute("aria-busy", "true");
  try {
    const answer = await send(requested, { signal: pending.signal });
    // A version of the data is retained for some days only; a page of a later one is better than none.
    if (answer.status === 400 && version) {
      history.replaceState({ isPaging }, "");
      return open();
    }
    show(view, params, requested, answer);
    if (isPaging) byId("answer").querySelector("h2")?.focus();
  } catch (error) {
    if (error.name !== "AbortError") throw error;
  }
}

function show(view, params, requested, answer) {
  const isGood = answer.status === 200 && answer.body !== null;
  byId("answer").removeAttribute("aria-busy");
  byId("answer").replaceChildren(isGood ? view.show(answer, params) : failureCard(answer));
  showCode(requested, answer);
  if (answer.status === 401) askForKey();
}

/** Shows the form of a view, filled in as its address says. */
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
}

function submitted(event) {
  event.preventDefault();
  const form = event.target;
  const params = Object.fromEntries([...new FormData(form)].map(([name, value]) => [name, value.trim()]));
  if (form.dataset.view === "number" && params.country === "US") delete params.country;
  go(hashOf(form.dataset.view, params));
}

/** Says which version of the data answers, and how old it is. */
async function showDataAge() {
  const { status, body, headers } = await send("/v1/stats", { withKey: false });
  if (status !== 200 || !body) return;
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
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    const key = byId("key").value.trim();
    if (!key) return;
    storeKey(key);
    announce("The key is kept in this tab");
    open();
    document.querySelector("form.lookup:not([hidden]) input")?.focus();
  });
  byId("key-forget").addEventListener("click", () => {
    forgetKey();
    announce("The key is forgotten");
    byId("key").focus();
  });
  document.querySelector(".skip").addEventListener("click", (event) => {
    event.preventDefault();
    byId("lookup").focus();
  });
  addEventListener("popstate", open);
  open();
  showDataAge();
}

start();
