// The request that an operation's form describes.

const fieldValue = (form, name) => form.elements.namedItem(name)?.value.trim() ?? "";

/** Builds a form's request, without the key. */
function buildRequest({ path, method, parameters, bodies }, form) {
  const given = parameters.map(({ name, in: place }) => [place, name, fieldValue(form, name)]);
  const values = (wanted) => given.filter(([place]) => place === wanted).map(([, name, value]) => [name, value]);
  const filled = values("path").reduce((result, [name, value]) => result.replace(`{${name}}`, segment(value)), path);
  const headers = Object.fromEntries(
    ["Accept", "Content-Type"].map((name) => [name, fieldValue(form, name)]).filter(([, value]) => value));
  return {
    requested: target(filled, Object.fromEntries(values("query"))),
    method: method.toUpperCase(), headers, body: bodies ? form.elements.namedItem("body").value : undefined,
  };
}

/** Quotes text as a shell word. */
const shellQuote = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlCommand({ requested, method, headers, body }, needsKey) {
  const key = needsKey ? ['-H "Authorization: Bearer $TNR_KEY"'] : [];
  const otherHeaders = Object.entries(headers).map(([name, value]) => `-H ${shellQuote(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : [`--data-binary ${shellQuote(body)}`];
  const verb = method === "GET" ? "curl" : `curl -X ${method}`;
  return [verb, ...key, ...otherHeaders, ...data, shellQuote(absolute(requested))].join(" \\\n  ");
}
