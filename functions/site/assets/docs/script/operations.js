// The operations in the OpenAPI description, with their references resolved.

const METHODS = ["get", "put", "post", "patch", "delete"];

const parseOperations = ({ paths }) => Object.entries(paths).flatMap(([path, methods]) =>
  METHODS.filter((method) => methods[method]).map((method) => parseOperation(path, method, methods)));

function parseOperation(path, method, { parameters: shared = [], [method]: spec }) {
  const { summary, description: text, operationId: id, responses } = spec;
  const contents = Object.entries(resolve(responses["200"]).content ?? {});
  const bodies = Object.entries(spec.requestBody ? resolve(spec.requestBody).content : {});
  // All operations have the same header parameters, which the page explains once.
  const operation = {
    path, method, summary, text, id, route: `${method.toUpperCase()} ${path}`,
    parameters: [...shared, ...(spec.parameters ?? [])].map(resolve).filter(({ in: place }) => place !== "header"),
    bodies: bodies.map(([type, content]) => ({ type, example: asText(examplesOf(content)[0]?.value ?? "") })),
    types: contents.map(([type]) => type),
    schema: contents[0]?.[1].schema,
    examples: contents.flatMap(([type, content]) => examplesOf(content, type)),
    errors: Object.keys(responses).filter((status) => status >= "400"),
    needsKey: !(spec.security ?? []).some((scheme) => Object.keys(scheme).length === 0),
  };
  return { ...operation, values: exampleValues(operation) };
}

/** A value's examples. The unnamed one gets this summary. */
function examplesOf({ example, examples = {} }, summary) {
  const named = Object.values(examples).map(resolve);
  return example === undefined ? named : [{ summary, value: example }, ...named];
}

const asText = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** A parameter's example as a query would contain it. */
function parameterExample({ schema, ...parameter }) {
  const { value } = examplesOf(parameter)[0] ?? { value: flatten(schema).example };
  return value === undefined ? null : String(value);
}

/** The parameters of the first example, whose summary is its request; otherwise the required ones. */
function exampleValues({ path, parameters, examples: [first] }) {
  const pattern = new RegExp(`^[A-Z]+ ${path.replace(/\{(\w+)\}/g, "(?<$1>[^/?]+)")}(?:\\?(?<query>.*))?$`);
  const { query, ...segments } = first?.summary?.match(pattern)?.groups ?? {};
  const required = parameters.filter((parameter) => parameter.required)
    .map((parameter) => [parameter.name, parameterExample(parameter)]);
  return Object.fromEntries([
    ...required,
    ...Object.entries(segments).map(([name, value]) => [name, decodeURIComponent(value)]),
    // The service reads a leading `+` in a value as a plus sign.
    ...new URLSearchParams(query?.replaceAll("=+", "=%2B")),
  ]);
}
