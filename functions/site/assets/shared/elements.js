// Builds elements. Data only ever becomes text: nothing here parses HTML, and the content security policy forbids it.

/** The height in pixels of an element's top that must be visible. */
const MIN_IN_VIEW = 200;

const byId = (id) => document.getElementById(id);

/** Creates an element. Null or false attributes and children are omitted. */
function element(name, attributes = {}, ...children) {
  const created = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "onclick") created.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) created.setAttribute(attribute, value);
  }
  created.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return created;
}

/** A button that copies the text returned by `text`. */
function copyButton(label, text) {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy ${label}` }, "Copy");
  button.addEventListener("click", () => copy(button, text()));
  return button;
}

async function copy(button, text) {
  const isCopied = await copyText(text);
  button.textContent = isCopied ? "Copied" : "Copy failed";
  announce(isCopied ? "Copied" : "The browser blocked copying; select the text instead");
  clearTimeout(button.restoring);
  button.restoring = setTimeout(() => { button.textContent = "Copy"; }, 1600);
}

/** Copies text, and returns true on success. Falls back to a selection, since the clipboard needs a secure context. */
async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const area = element("textarea", { class: "hidden", readonly: "" });
    area.value = text;
    document.body.append(area);
    const focused = document.activeElement;
    area.select();
    const isCopied = document.execCommand("copy");
    area.remove();
    focused?.focus();
    return isCopied;
  }
}

/** Returns true if the top of an element is in view. */
function isInView(target) {
  const { top, height } = target.getBoundingClientRect();
  return top >= 0 && top + Math.min(height, MIN_IN_VIEW) <= innerHeight;
}

/** Announces a change to screen readers. */
function announce(text) {
  byId("announcement").textContent = text;
}

/** Makes a code such as `UNASSIGNED` readable. */
const toWords = (code) => {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
};

const formatCount = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
