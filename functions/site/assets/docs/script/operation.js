// An operation: its description, a form to send it, and its responses.

/** Returns true for parameters that every operation has, which are shown only once. */
const isCommon = ({ in: place }) => place === "header";

/** Parses an operation, with its references resolved. */
function parseOperation(path, method, spec) {
  const { summary, description: text, operationId: id, tags: [tag], responses } = spec;
  return {
    path, method, summary, text, id, tag,
    parameters: (spec.parameters ?? []).map(resolve).filter((parameter) => !isCommon(parameter)),
    bodies: spec.requestBody && resolve(spec.requestBody).content,
    responses: Object.entries(responses).map(([status, response]) => ({ status, ...resolve(response) })),
    needsKey: !(spec.security ?? []).some((scheme) => Object.keys(scheme).length === 0),
  };
}

function operationCard(operation) {
  const { id, method, path, summary, text } = operation;
  return element("article", { id, class: "operation" },
    element("h3", {}, summary),
    element("p", { class: "route" }, element("span", { class: `method ${method}` }, method.toUpperCase()), " ",
      element("code", {}, path)),
    prose(text),
    tryForm(operation),
    element("h4", {}, "Responses"),
    element("div", { class: "responses" }, operation.responses.map(responseRow)));
}

function tryForm(operation) {
  const { id, parameters, bodies, responses, needsKey } = operation;
  const types = Object.keys(responses[0].content ?? { "application/json": {} });
  const curl = element("code", {});
  const output = element("div", { class: "tried", role: "status" });
  const form = element("form", { class: "try", "aria-label": `Try ${operation.summary}` },
    parameters.map((parameter) => parameterRow(id, parameter)),
    ...(bodies ? bodyRows(id, bodies) : []),
    types.length > 1 && selectRow(`${id}-Accept`, "Accept", types, "Content type of the response."),
    element("div", { class: "code" },
      element("div", { class: "code-bar" }, element("span", {}, "curl"), copyButton("curl", () => curl.textContent)),
      element("pre", {}, curl)),
    element("button", { class: "primary" }, "Send"),
    output);
  const showCommand = () => {
    const { requested, ...request } = buildRequest(operation, form);
    curl.textContent = CODE.curl(absolute(requested), { ...request, needsKey });
  };
  form.addEventListener("input", showCommand);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tryOut(operation, form, output);
  });
  showCommand();
  return form;
}

/** The form whose key was rejected, to resend with another key. */
let rejectedForm = null;

async function tryOut(operation, form, output) {
  clearFieldErrors();
  rejectedForm = null;
  const { requested, ...request } = buildRequest(operation, form);
  form.setAttribute("aria-busy", "true");
  const { status, text, body, milliseconds } = await send(requested, request);
  form.removeAttribute("aria-busy");
  output.replaceChildren(
    element("p", { class: status < 400 && status > 0 ? "good" : "bad" },
      status ? `${status} in ${milliseconds} ms` : "Could not reach the service."),
    text && element("pre", { tabindex: "0", "aria-label": "Response" },
      element("code", {}, ...(body === null ? [text] : highlightJson(body)))));
  if (status !== 401) return;
  showKeyError();
  rejectedForm = form;
}

function row(id, name, field, note, text) {
  return element("div", { class: "row" },
    element("div", {}, element("label", { for: id }, name), field),
    element("div", { id: `${id}-note` }, element("p", { class: "type" }, note), prose(text)));
}

function selectElement(attributes, values) {
  return element("select", attributes, values.map((value) => element("option", { value }, value || "–")));
}

function selectRow(id, name, values, text) {
  return row(id, name, selectElement({ id, name, "aria-describedby": `${id}-note` }, values), "header", text);
}

/** A parameter's field. Required fields start with the documented example. */
function parameterRow(operation, { name, in: place, required, schema, example, description: text }) {
  const id = `${operation}-${name}`;
  const values = flatten(schema).enum;
  const attributes = { id, name, required: required ? "" : null, "aria-describedby": `${id}-note` };
  const field = values
    ? selectElement(attributes, ["", ...values])
    : element("input", {
      ...attributes, autocomplete: "off", spellcheck: "false", value: required ? example : null,
      placeholder: required ? null : example,
    });
  return row(id, name, field, [place, describeType(schema), required && "required"].filter(Boolean).join(", "), text);
}

function bodyRows(operation, bodies) {
  const exampleBody = (type) => {
    const { value } = Object.values(bodies[type].examples ?? {})[0] ?? { value: "" };
    return typeof value === "string" ? value : JSON.stringify(value, null, 2);
  };
  const [typeId, bodyId] = [`${operation}-Content-Type`, `${operation}-body`];
  const text = element("textarea", { id: bodyId, name: "body", rows: 8, spellcheck: "false" });
  const types = selectRow(typeId, "Content-Type", Object.keys(bodies), "Content type of the body.");
  text.value = exampleBody(Object.keys(bodies)[0]);
  types.addEventListener("change", ({ target: { value } }) => { text.value = exampleBody(value); });
  return [types, element("div", {}, element("label", { for: bodyId }, "Body"), text)];
}

/** A status row. Only 200 shows fields and examples, since all errors have the same body. */
function responseRow({ status, description: text, content }) {
  const summary = [element("code", {}, status), " ", ...line(text)];
  if (status !== "200") return element("p", {}, summary);
  const examples = Object.values(content).flatMap(({ examples: all }) => Object.values(all ?? {}));
  const [first] = Object.values(content);
  return element("details", {}, element("summary", {}, summary),
    first.schema && fieldList(first.schema),
    examples.map(({ summary: request, value }) => [
      element("p", { class: "type" }, request),
      element("pre", { tabindex: "0", "aria-label": `Example of ${request}` },
        element("code", {}, ...(typeof value === "string" ? [value] : highlightJson(value)))),
    ]));
}
