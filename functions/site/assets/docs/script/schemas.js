// Reads schemas in the OpenAPI document. Supports the parts of JSON Schema that this API uses.

let description = {};

/** Follows a reference, and adds its sibling keys. */
function resolve(part) {
  if (!part.$ref) return part;
  const { $ref, ...siblings } = part;
  const found = $ref.slice(2).split("/").reduce((place, name) => place[name], description);
  return { ...resolve(found), ...siblings };
}

/** Resolves references, `null` alternatives and `allOf` parts at a schema's top level. */
function flatten(schema) {
  const { oneOf, allOf, ...own } = resolve(schema);
  if (allOf) {
    const parts = allOf.map(flatten);
    const properties = Object.assign({}, ...parts.map((part) => part.properties), own.properties);
    return { ...own, type: "object", properties, required: parts.flatMap((part) => part.required ?? []) };
  }
  if (!oneOf) return own;
  const choices = oneOf.filter(({ type }) => type !== "null").map(flatten);
  const type = [...choices.map((choice) => choice.type), choices.length < oneOf.length && "null"].filter(Boolean).flat();
  return { ...choices.find(({ properties }) => properties) ?? choices[0], ...own, type };
}

const MAX_LISTED = 12;

/** Describes a value's type and limits. */
function describeType(schema) {
  const { type, enum: values, items, format, minimum, maximum, default: defaultValue } = flatten(schema);
  const types = [type ?? "any"].flat().map((name) => (name === "array" && items ? `array of ${describeType(items)}` : name));
  return [
    types.join(" or "), format === "date-time" && "date and time",
    values && (values.length <= MAX_LISTED ? `one of ${values.join(", ")}` : `one of ${values.length} values`),
    minimum > 0 && `at least ${minimum}`, maximum < Number.MAX_SAFE_INTEGER && `at most ${maximum}`,
    defaultValue !== undefined && `default ${defaultValue}`,
  ].filter(Boolean).join(", ");
}

/** Renders a line of a description. Text in backticks becomes code. */
const line = (text) => text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));

/** Renders a description as paragraphs. */
const prose = (text = "") => text.split("\n\n").filter(Boolean).map((paragraph) => element("p", {}, line(paragraph)));

/** An object's fields, including nested ones. */
function fieldList(schema) {
  const { properties, items, required = [] } = flatten(schema);
  if (!properties) return items ? fieldList(items) : null;
  return element("ul", { class: "parts" }, Object.entries(properties).map(([name, part]) => element("li", {},
    element("code", {}, name), " ",
    element("span", { class: "type" }, describeType(part), required.includes(name) ? "" : ", optional"),
    prose(flatten(part).description),
    fieldList(part))));
}
