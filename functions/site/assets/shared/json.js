/** Renders multi-line JSON, with each name, string and other value in its own span. */
function highlightJson(value) {
  const text = JSON.stringify(value, null, 2);
  const parts = [];
  let end = 0;
  for (const found of text.matchAll(/("(?:[^"\\]|\\.)*")(\s*:)?|\b(?:true|false|null)\b|-?\d[\d.eE+-]*/g)) {
    const [whole, quoted, colon] = found;
    parts.push(text.slice(end, found.index));
    const kind = colon ? "json-key" : quoted ? "json-text" : "json-value";
    parts.push(element("span", { class: kind }, quoted ?? whole), colon ?? "");
    end = found.index + whole.length;
  }
  return [...parts, text.slice(end)].filter((part) => part !== "");
}
