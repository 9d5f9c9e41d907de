// A list of numbers. Its script is a quarter of the page's, so it is loaded on demand. See the `list` folder.

/** The script's path, which changes with its content. */
const LIST_SCRIPT = "/flags/{{list_script}}/list.js";
let listScript = null;

const listView = {
  title: () => "List",
  requestTarget: () => null,
  open: () => withList(({ show }) => show()),
};

/** Calls `use` with the script's functions. Shows a message if it cannot be loaded. */
async function withList(use) {
  listScript ??= import(absolute(LIST_SCRIPT)).then(({ default: start }) => start({
    COUNTRIES, CHOICES, announce, bar, byId, clearFieldErrors, describeFailure, element, formatCount, relativeTime, send,
    showFieldError, showKeyError, table, target, timeWords, toWords, useEnteredKey,
  }));
  try {
    const list = await listScript;
    byId("list-failure").replaceChildren();
    use(list);
  } catch {
    listScript = null;
    byId("list-failure").replaceChildren(failureCard({ status: 0, headers: new Headers() }));
  }
}

/** Resumes a list that is waiting for a key, in any view. */
function onListKey() {
  listScript?.then(({ resume }) => resume(), () => undefined);
}

/** Opens a dropped file in the view for lists, wherever it is dropped. */
function startListDrop() {
  const hasFile = ({ dataTransfer }) => dataTransfer?.types.includes("Files");
  const mark = (isOver) => document.body.classList.toggle("dropping", isOver);
  addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    mark(true);
  });
  addEventListener("dragleave", ({ relatedTarget }) => relatedTarget === null && mark(false));
  addEventListener("drop", (event) => {
    mark(false);
    if (!hasFile(event)) return;
    event.preventDefault();
    const [dropped] = event.dataTransfer.files;
    if (currentView().name !== "list") go("#list");
    withList(({ open: openList }) => openList(dropped, dropped.name));
  });
}
