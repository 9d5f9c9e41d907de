// The documentation: tasks in HTML, to which the OpenAPI description adds endpoints, fields and headers.

/** Adds operations to the tasks that name them, and the rest to the last task. */
function addOperations(operations) {
  for (const task of tasks) {
    const names = task.dataset.operations?.split(" ");
    if (!names) continue;
    const isLast = task === tasks.at(-1);
    const named = names.map((name) => operations.find(({ id }) => id === name)).filter(Boolean);
    const others = operations.filter(({ id }) => isLast && !document.querySelector(`[data-operations~="${id}"]`));
    task.append(element("h2", {}, "Endpoints"), ...[...named, ...others].map(operationCard));
  }
}

/** The request headers and the error body, which all operations share. */
function addCommonParts({ components }) {
  const headers = Object.values(components.parameters).map(resolve).filter(isCommon);
  byId("common-headers").append(element("ul", { class: "parts" }, headers.map(({ name, description: text }) =>
    element("li", {}, element("code", {}, name), prose(text)))));
  byId("error-fields").append(fieldList(components.schemas.ErrorBody));
}

function showFailure(status) {
  for (const task of tasks.filter(({ dataset }) => dataset.operations)) {
    task.append(element("p", { class: "field-error" },
      `Could not load the endpoints (${status ? `status ${status}` : "no response"}). Reload the page to try again.`));
  }
}

async function start() {
  byId("back").href = `${BASE_PATH}/`;
  byId("openapi").href = `${BASE_PATH}/openapi.json`;
  for (const place of document.querySelectorAll(".base-url")) place.textContent = absolute("");
  for (const place of document.querySelectorAll(".request")) place.append(sample(() => ({ requested: place.dataset.path })).block);
  startTasks();
  startKeyForm(() => rejectedForm?.requestSubmit());
  showKey();
  receiveKey();
  const { status, body } = await send("/openapi.json", { withKey: false });
  const isLoaded = status === 200 && body !== null;
  description = isLoaded ? body : { paths: {} };
  const operations = parseOperations(description);
  if (isLoaded) {
    addOperations(operations);
    addCommonParts(description);
    showNamed({ isFirst: true });
  } else {
    showFailure(status);
  }
  listEntries(operations);
  startFilter();
}

start();
