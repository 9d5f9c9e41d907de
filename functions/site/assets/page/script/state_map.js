// A map of states. Each one links to its area codes, as does a list, since the map is small on a phone.

const MAP = "/flags/map.svg";
let mapText = null;

/** The map with these states marked, and a list of all states. The map is requested when it is first shown. */
function stateMap(states) {
  const map = element("div", { class: "map" });
  loadMap().then((text) => (text ? map.append(drawMap(text, states)) : map.remove()));
  return element("div", { class: "places" }, map, statePicker(states[0]));
}

/** The text of the map, or null if it cannot be loaded. */
async function loadMap() {
  if (mapText === null) {
    const { status, text } = await send(MAP, { withKey: false });
    if (status === 200) mapText = text;
  }
  return mapText;
}

function svgElement(name, attributes, ...children) {
  const created = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [attribute, value] of Object.entries(attributes)) created.setAttribute(attribute, value);
  created.append(...children);
  return created;
}

/** Draws the map's paths and labels. Screen readers and keyboards use the list instead. */
function drawMap(text, states) {
  const labels = new Map([...text.matchAll(/<text data-state="..-(..)" x="(\d+)" y="(\d+)"/g)]
    .map(([, state, x, y]) => [state, svgElement("text", { x, y }, state)]));
  const links = [...text.matchAll(/<path id="..-(..)" d="([^"]*)"/g)].map(([, state, d]) => {
    const attributes = { href: viewUrl("area-code", { state }), tabindex: "-1", "data-state": state };
    const link = svgElement("a", attributes, svgElement("title", {}, stateName(state)), svgElement("path", { d }));
    if (labels.has(state)) link.append(labels.get(state));
    if (states.includes(state)) link.classList.add("marked");
    return link;
  });
  // Marked states come last, so that their borders are on top.
  links.sort((a, b) => a.classList.contains("marked") - b.classList.contains("marked"));
  const [, viewBox] = text.match(/viewBox="([^"]*)"/);
  return svgElement("svg", { viewBox, "aria-hidden": "true" }, ...links);
}

function statePicker(state) {
  const options = CHOICES.states.slice(1).map(([code, name]) =>
    element("option", { value: code, selected: code === state && "" }, name));
  const select = element("select", { id: "map-state" }, options);
  const form = element("form", { class: "picker" },
    element("label", { for: "map-state" }, "Area codes in"),
    element("div", { class: "joined" }, select, element("button", {}, "List")));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    go(viewUrl("area-code", { state: select.value }));
  });
  return form;
}
