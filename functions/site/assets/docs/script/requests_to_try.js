// The request described by an operation's form.

const inForm = (form, name) => form.elements.namedItem(name)?.value.trim() ?? "";

/** Target, method, headers and body, without the key. */
function requestOf({ path, method, parameters, bodies }, form) {
  const given = parameters.map(({ name, in: place }) => [place, name, inForm(form, name)]);
  const values = (wanted) => given.filter(([place]) => place === wanted).map(([, name, value]) => [name, value]);
  const filled = values("path").reduce((result, [name, value]) => result.replace(`{${name}}`, segment(value)), path);
  const headers = Object.fromEntries(
    ["Accept", "Content-Type"].map((name) => [name, inForm(form, name)]).filter(([, value]) => value));
  return {
    requested: target(filled, Object.fromEntries(values("query"))),
    method: method.toUpperCase(), headers, body: bodies ? form.elements.namedItem("body").value : undefined,
  };
}

/** Quotes a text as one shell word. */
const quotedForShell = (text) => `'${text.replaceAll("'", "'\\''")}'`;

function curlOf({ requested, method, headers, body }, needsKey) {
  const key = needsKey ? ['-H "Authorization: Bearer $TNR_KEY"'] : [];
  const others = Object.entries(headers).map(([name, value]) => `-H ${quotedForShell(`${name}: ${value}`)}`);
  const data = body === undefined ? [] : [`--data-binary ${quotedForShell(body)}`];
  const verb = method === "GET" ? "curl" : `curl -X ${method}`;
  return [verb, ...key, ...others, ...data, quotedForShell(absolute(requested))].join(" \\\n  ");
}
