// The request that an operation's form describes.

const fieldValue = (form, name) => form.elements.namedItem(name)?.value.trim() ?? "";

/** Builds a form's request, without the key. Omits the header that asks for what the operation returns anyway. */
function buildRequest({ path, method, parameters, bodies, types }, form) {
  const given = parameters.map(({ name, in: place }) => [place, name, fieldValue(form, name)]);
  const values = (wanted) => given.filter(([place]) => place === wanted).map(([, name, value]) => [name, value]);
  const filled = values("path").reduce((result, [name, value]) => result.replace(`{${name}}`, segment(value)), path);
  const headers = Object.fromEntries(["Content-Type", "Accept"].map((name) => [name, fieldValue(form, name)])
    .filter(([name, value]) => value && (name !== "Accept" || value !== types[0])));
  return {
    requested: target(filled, Object.fromEntries(values("query"))),
    method: method.toUpperCase(), headers,
    body: bodies.length > 0 ? form.elements.namedItem("body").value : undefined,
  };
}
