// Builds elements. Answers only ever become text: nothing here parses HTML, and the content security policy forbids it.

/** How many pixels of an element must be visible. */
const MIN_IN_VIEW = 200;

const byId = (id) => document.getElementById(id);

/** Creates an element with attributes and children, except null or false children. */
function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [attribute, value] of Object.entries(attributes)) {
    if (attribute === "onclick") made.addEventListener("click", value);
    else if (value !== null && value !== undefined && value !== false) made.setAttribute(attribute, value);
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A button that copies the result of `text`. */
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

/** Copies a text, and returns true on success. Browsers require a secure connection. */
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

/** True if the top of an element is in view. */
function isInView(shown) {
  const { top, height } = shown.getBoundingClientRect();
  return top >= 0 && top + Math.min(height, MIN_IN_VIEW) <= innerHeight;
}

/** Announces a change to screen readers. */
function announce(text) {
  byId("announcement").textContent = text;
}

/** Makes `LANDLINE_OR_MOBILE` readable. */
const inWords = (code) => {
  const words = code.toLowerCase().replaceAll("_", " ");
  return words[0].toUpperCase() + words.slice(1);
};

const counted = (number, one, many) => `${number.toLocaleString("en")} ${number === 1 ? one : many}`;
