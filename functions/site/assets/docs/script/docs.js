// The documentation: tasks in HTML, to which the OpenAPI description adds endpoints and fields.

const tasksWithOperations = tasks.filter(({ dataset }) => dataset.operations);

function addOperations(operations) {
  for (const task of tasksWithOperations) {
    const named = task.dataset.operations.split(" ").map((name) => operations.find(({ id }) => id === name));
    task.append(element("h2", {}, "Endpoints"), ...named.filter(Boolean).map(operationCard));
  }
}

function showFailure(status) {
  for (const task of tasksWithOperations) {
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
    const { ErrorBody, Problem } = description.components.schemas;
    byId("error-fields").append(fieldList(ErrorBody), folded("Fields of problem details", () => fieldList(Problem)));
    showNamed({ isFirst: true });
  } else {
    showFailure(status);
  }
  listEntries(operations);
  startFilter();
}

start();
