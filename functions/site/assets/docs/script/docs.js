// Documentation for every operation in the OpenAPI document, which is fetched when the page opens.

const METHODS = ["get", "put", "post", "patch", "delete"];

function parseOperations({ paths }) {
  return Object.entries(paths).flatMap(([path, methods]) => METHODS.filter((method) => methods[method])
    .map((method) => parseOperation(path, method, methods[method])));
}

function contents(tags, operations) {
  const group = (id, name, items) => element("section", {},
    element("p", {}, element("a", { href: `#${id}` }, name)),
    element("ul", {}, items.map((item) => element("li", {}, element("a", { href: `#${item.id}` }, item.summary)))));
  return [
    ...tags.map(({ name }) => group(tagId(name), name, operations.filter(({ tag }) => tag === name))),
    group("common", "Headers and errors", []),
  ];
}

const tagId = (tag) => tag.toLowerCase().replaceAll(" ", "-");

function tagSection({ name, description: text }, operations) {
  return element("section", { id: tagId(name) },
    element("h2", {}, name), prose(text), operations.filter(({ tag }) => tag === name).map(operationCard));
}

/** The request headers and the error body, which all operations share. */
function commonSection({ components }) {
  const headers = Object.values(components.parameters).filter(isCommon);
  return element("section", { id: "common" },
    element("h2", {}, "Headers and errors"),
    element("h3", {}, "Request headers"),
    element("ul", { class: "parts" }, headers.map(({ name, description: text }) =>
      element("li", {}, element("code", {}, name), prose(text)))),
    element("h3", {}, "Error fields"),
    fieldList(components.schemas.ErrorBody));
}

function showDescription() {
  const operations = parseOperations(description);
  byId("contents").replaceChildren(...contents(description.tags, operations));
  byId("operations").append(
    ...prose(description.info.description),
    element("p", {}, "Base URL: ", element("code", {}, absolute("")), ". Send your key as ",
      element("code", {}, "Authorization: Bearer <API_KEY>"), "."),
    ...description.tags.map((tag) => tagSection(tag, operations)),
    commonSection(description));
  // The browser could not scroll to the URL's target before it existed.
  if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
}

async function start() {
  byId("back").href = `${BASE_PATH}/`;
  byId("openapi").href = `${BASE_PATH}/openapi.json`;
  startKeyForm(() => rejectedForm?.requestSubmit());
  showKey();
  receiveKey();
  const { status, body } = await send("/openapi.json", { withKey: false });
  if (body === null) {
    byId("operations").append(element("p", { class: "field-error" },
      `Could not load the OpenAPI description (status ${status}).`));
    return;
  }
  description = body;
  showDescription();
}

start();
