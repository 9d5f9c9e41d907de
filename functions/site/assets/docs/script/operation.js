// An operation: a sample request with its response, and a form that changes and sends the request.

function operationCard(operation) {
  const { id, method, path, summary } = operation;
  const title = [
    element("span", { class: `method ${method}` }, method.toUpperCase()), " ",
    element("code", {}, path), element("h3", {}, summary),
  ];
  const card = folded(title, () => operationParts(operation), { id, class: "operation", "data-route": `${method}-${path}` });
  // The address names the operation opened last.
  card.firstChild.addEventListener("click", () => { if (!card.open) history.replaceState(null, "", `#${id}`); });
  return card;
}

/** Details whose content is built when they are first opened, since most never are. */
function folded(title, content, attributes = {}) {
  const details = element("details", attributes, element("summary", {}, title));
  details.build = () => {
    details.append(...[content()].flat(2).filter(Boolean));
    details.build = () => {};
  };
  details.addEventListener("toggle", () => details.build());
  return details;
}

function operationParts(operation) {
  const { text, schema, needsKey, examples: [first, ...others] } = operation;
  const form = requestForm(operation);
  const { block, show } = sample(() => ({ ...buildRequest(operation, form), needsKey }));
  form.addEventListener("input", show);
  const example = ({ summary: request, value }) => responseBlock(`Example response to ${request}`, asText(value));
  return [
    prose(text), block,
    first && [element("h4", {}, "Response"), example(first)],
    schema && flatten(schema).properties && folded("Response fields", () => fieldList(schema)),
    others.length > 0 && folded(formatCount(others.length, "more example", "more examples"), () =>
      others.map((other) => folded(element("code", {}, other.summary), () => example(other)))),
    form, errorLinks(operation),
  ];
}

/** Links to the statuses' explanations, which all operations share. */
function errorLinks({ errors }) {
  const links = errors.map((status) => {
    const { id } = document.querySelector(`tr[data-status="${status}"]`) ?? { id: "errors" };
    return element("a", { href: `#${id}` }, status);
  });
  return element("p", { class: "hint" }, "Errors: ", links.flatMap((link) => [link, " "]));
}

function requestForm(operation) {
  const { id, summary, parameters, bodies, types, values } = operation;
  const output = element("div", { class: "tried", role: "status" });
  const rows = parameters.map((parameter) => parameterRow(id, parameter, values[parameter.name]));
  if (bodies.length > 0) rows.push(selectRow(id, "Content-Type", bodies.map(({ type }) => type), "Body format"));
  if (types.length > 1) rows.push(selectRow(id, "Accept", types, "Response format"));
  const form = element("form", { class: "try", "aria-label": `Try ${summary}` },
    rows.length > 0 && element("table", {},
      element("thead", {}, element("tr", {}, ["Parameter", "Value", "Description"].map((name) => element("th", {}, name)))),
      element("tbody", {}, rows)),
    bodies.length > 0 && bodyField(id, bodies),
    element("button", { class: "primary" }, "Send request"),
    output);
  form.addEventListener("change", ({ target: { name, value } }) => {
    if (name !== "Content-Type") return;
    form.elements.namedItem("body").value = bodies.find(({ type }) => type === value).example;
    form.dispatchEvent(new Event("input"));
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    tryOut(operation, form, output);
  });
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
    text && responseBlock("Response", text, body));
  if (status !== 401) return;
  showKeyError();
  rejectedForm = form;
}

const row = (id, name, note, field, text) => element("tr", {},
  element("td", {}, element("label", { for: id }, name), element("p", { class: "type" }, note)),
  element("td", {}, field),
  element("td", { id: `${id}-note` }, prose(text)));

const selectElement = (attributes, values) =>
  element("select", attributes, values.map((value) => element("option", { value }, value || "–")));

function selectRow(operation, name, values, text) {
  const id = `${operation}-${name}`;
  return row(id, name, "header", selectElement({ id, name, "aria-describedby": `${id}-note` }, values), text);
}

/** A parameter's field, which starts with the example request's value. */
function parameterRow(operation, { name, in: place, required, schema, description: text, ...parameter }, value) {
  const id = `${operation}-${name}`;
  const values = flatten(schema).enum;
  const attributes = { id, name, required: required ? "" : null, "aria-describedby": `${id}-note` };
  const field = values
    ? selectElement(attributes, ["", ...values])
    : element("input", {
      ...attributes, autocomplete: "off", spellcheck: "false", value, placeholder: parameterExample({ schema, ...parameter }),
    });
  if (values && value) field.value = value;
  return row(id, name, [place, describeType(schema), required && "required"].filter(Boolean).join(", "), field, text);
}

function bodyField(operation, [{ example }]) {
  const id = `${operation}-body`;
  const field = element("textarea", { id, name: "body", rows: 6, spellcheck: "false" });
  field.value = example;
  return element("div", {}, element("label", { for: id }, "Body"), field);
}
