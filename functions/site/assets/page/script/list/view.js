// The current list: its source, its job, and its result.

const PASTED = "Pasted list";

/** The current list, and its job once it has started. Both persist while other views are open. */
const shownList = { list: null, job: null, update: null, isSaved: true };

/** Opens a file or pasted text. */
async function openList(blob, name) {
  if (!mayCloseList()) return;
  resetList();
  byId("list-source").setAttribute("aria-busy", "true");
  try {
    const source = await findEncoding(blob);
    const { value: head = "" } = await decodedParts(blob, source.encoding).next();
    if (/^\s*(\{\s*"|\[\s*["[{])/.test(head)) throw new ListError("The list is JSON. Save it as CSV, or paste one number per line");
    const list = { blob, name, head, ...source, layout: findLayout(head), defaultCountry: "US", fields: DEFAULT_FIELDS };
    const counted = { ...list, ...await countRows(list) };
    if (counted.rows === 0) throw new ListError("The list has no rows");
    shownList.list = counted;
  } catch (error) {
    showFieldError(byId("list-text"), `${readingProblem(error)}.`);
  }
  byId("list-source").removeAttribute("aria-busy");
  if (shownList.list === null) return;
  announce(`${name}: ${formatCount(shownList.list.rows, "row", "rows")}`);
  showSettings();
  byId("list-panel").querySelector("h2").focus();
}

function openPastedList() {
  const text = byId("list-text").value;
  clearFieldErrors();
  if (text.trim() === "") return showFieldError(byId("list-text"), "Paste at least one number.");
  openList(new Blob([text]), PASTED);
}

/** Changes the layout, and counts the rows again. */
async function changeLayout(layout) {
  const previous = shownList.list;
  const list = { ...previous, layout };
  const focused = document.activeElement.id;
  shownList.list = list;
  let counted = previous;
  try {
    counted = { ...list, ...await countRows(list) };
  } catch (error) {
    announce(readingProblem(error));
  }
  if (shownList.list !== list || shownList.job) return;
  shownList.list = counted;
  showSettings();
  byId(focused)?.focus();
}

function showSettings() {
  byId("list-source").hidden = true;
  byId("list-panel").replaceChildren(settingsCard(shownList.list));
}

function startList() {
  const { list } = shownList;
  clearFieldErrors();
  useEnteredKey();
  if (list.layout.numberColumn === null) return showFieldError(byId("list-number"), "Choose the column with phone numbers.");
  if (list.fields.length === 0) return announce("Choose at least one column to add");
  const job = new Job(list, list.fields, list.defaultCountry, onJobChange);
  shownList.job = job;
  addEventListener("beforeunload", warnBeforeUnload);
  const { card, update } = jobCard(job);
  shownList.update = update;
  byId("list-panel").replaceChildren(card);
  card.querySelector("h2").focus();
  job.run();
}

let jobClock;

function onJobChange() {
  const { job, update } = shownList;
  update?.();
  clearInterval(jobClock);
  if (job.status === "running") {
    shownList.isSaved = false;
    jobClock = setInterval(update, 1000);
  } else if (job.halt?.kind === "key") showKeyError();
}

function downloadResult(job) {
  const { name, layout } = job.list;
  const url = URL.createObjectURL(job.result());
  const extension = layout.delimiter === "\t" ? "tsv" : "csv";
  element("a", { href: url, download: `${name.replace(/\.\w+$/, "")} - result.${extension}` }).click();
  setTimeout(() => URL.revokeObjectURL(url), 60_000);
  shownList.isSaved = true;
  if (job.status === "done") removeEventListener("beforeunload", warnBeforeUnload);
}

function warnBeforeUnload(event) {
  if (shownList.job.status === "running" || !shownList.isSaved) event.preventDefault();
}

/** Asks before a result is lost. */
function mayCloseList() {
  const { job, isSaved } = shownList;
  return job === null || (isSaved && job.status !== "running") || confirm("Discard the result of this list? It has not been downloaded.");
}

function resetList() {
  shownList.job?.stop();
  clearInterval(jobClock);
  removeEventListener("beforeunload", warnBeforeUnload);
  Object.assign(shownList, { list: null, job: null, update: null, isSaved: true });
  byId("list-panel").replaceChildren();
  byId("list-source").hidden = false;
  byId("list-text").value = "";
  byId("list-file").value = "";
  clearFieldErrors();
}

function closeList() {
  if (!mayCloseList()) return;
  resetList();
  byId("list-choose").focus();
}

/** Handles the fields for a file and for pasted text. */
function startSource() {
  const file = byId("list-file");
  byId("list-choose").addEventListener("click", () => file.click());
  file.addEventListener("change", () => file.files.length > 0 && openList(file.files[0], file.files[0].name));
  byId("list-form").addEventListener("submit", openPastedList);
  byId("list-text").addEventListener("paste", (event) => {
    const text = event.clipboardData.getData("text");
    const [pasted] = event.clipboardData.files;
    if (!pasted && !/[\r\n]./.test(text)) return;
    event.preventDefault();
    openList(pasted ?? new Blob([text]), pasted?.name ?? PASTED);
  });
}

/** Shows the list, or the fields for one. */
function showList() {
  byId("list-source").hidden = shownList.list !== null;
  shownList.update?.();
}

/** Resumes a list that is waiting for a key. */
function resumeList() {
  if (shownList.job?.halt?.kind === "key") shownList.job.run();
}
