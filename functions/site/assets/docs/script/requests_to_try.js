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
