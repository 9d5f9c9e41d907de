// One task at a time, which the URL's fragment names: the task itself, an operation or a parameter or error in it.

const tasks = [...document.querySelectorAll(".task")];
const contentLinks = [...document.querySelectorAll("#contents a")];

/** Names in links to earlier versions of this page. */
const FORMER_NAMES = {
  carriers: "codes", "area-codes": "codes", search: "lists", format: "numbers", lookup: "numbers", common: "errors",
};

function fragment() {
  try {
    return decodeURIComponent(location.hash.slice(1));
  } catch {
    return "";
  }
}

/** Returns the element that a name refers to, including names such as `get-/v1/carrier/{ocn}` or `error-not_found`. */
function findNamed(name) {
  const isNamed = ({ id, dataset }) => dataset.route === name.toLowerCase() || name.startsWith(`${id}-`);
  const operation = [...document.querySelectorAll(".operation")].find(isNamed);
  operation?.build();
  return byId(FORMER_NAMES[name] ?? name.replace(/^errors?[-/]/, "")) ?? operation;
}

/** Shows what the URL names. An unknown name shows the first task. */
function showNamed({ isFirst = false } = {}) {
  const named = findNamed(fragment());
  const task = named?.closest(".task") ?? tasks.find(({ dataset }) => dataset.operations?.split(" ").includes(fragment()));
  if (named && !task && !isFirst) return;
  showTask(task ?? tasks[0]);
  if (!task || !named) return;
  if (named !== task) revealPart(named);
  else if (!isFirst) scrollTo({ top: 0, behavior: "instant" });
  if (!isFirst) moveFocus(named);
}

function showTask(task) {
  for (const other of tasks) other.hidden = other !== task;
  for (const link of contentLinks) link.ariaCurrent = link.hash === `#${task.id}` ? "page" : null;
  byId("pages").value = task.id;
  document.title = `${task.querySelector("h1").textContent} · API documentation`;
  const first = task.querySelector(".operation");
  if (first && !task.querySelector(".operation[open]") && findNamed(fragment()) === task) unfold(first);
}

function unfold(details) {
  details.build?.();
  details.open = true;
}

function revealPart(part) {
  for (let place = part.closest("details"); place; place = place.parentElement.closest("details")) unfold(place);
  part.scrollIntoView({ behavior: "instant", block: part.matches(".operation, h2") ? "start" : "center" });
}

function moveFocus(named) {
  const receiver = named.matches("input, select") ? named : named.querySelector("summary, h1") ?? named;
  if (!receiver.matches("input, select, summary")) receiver.tabIndex = -1;
  receiver.focus({ preventScroll: true });
}

function startTasks() {
  const select = byId("pages");
  select.append(...contentLinks.map(({ hash, textContent }) => element("option", { value: hash.slice(1) }, textContent)));
  select.hidden = false;
  select.addEventListener("change", () => { location.hash = select.value; });
  byId("contents").classList.add("has-select");
  addEventListener("hashchange", showNamed);
  showNamed({ isFirst: true });
}
