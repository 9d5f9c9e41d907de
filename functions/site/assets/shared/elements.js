// Builds elements. Text of answers only ever becomes text: nothing here parses HTML, and the content security policy
// forbids it.

/** The part of an element that must be seen, in pixels. */
const MIN_IN_VIEW = 200;

const byId = (id) => document.getElementById(id);

/** An element with these attributes and children; children that are null or false are left out. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(attribute, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A button that copies what `text` answers. */
function copyButton(label, text) {
  const button = element("button", { type: "button", class: "copy", "aria-label": `Copy ${label}` }, "Copy");
  button.addEventListener("click", () => copy(button, text()));
  return button;
}

async function copy(button, text) {
  const isCopied = await copyText(text);
  button.textContent = isCopied ? "Copied" : "Select it";
  announce(isCopied ? "Copied" : "The browser does not let this page copy; select the text");
  clearTimeout(button.restoring);
  button.restoring = setTimeout(() => { button.textContent = "Copy"; }, 1600);
}

/** Copies a text, and gives true if that worked. Browsers have a clipboard only where the connection is secure. */
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

/** True if the beginning of an element is in view. */
function isInView(shown) {
  const { top, height } = shown.getBoundingClientRect();
  return top >= 0 && top + Math.min(height, MIN_IN_VIEW) <= innerHeight;
}

/** Tells screen readers what has changed. */
function announce(text) {
  byId("announcement").textContent = text;
}

/** `LANDLINE_OR_MOBILE` as people write it. */
const inWords = (code) => {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
};

const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
