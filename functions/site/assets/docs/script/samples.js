// Code samples in the language that the reader chose, which this browser remembers.

const LANGUAGES = { curl: "curl", python: "Python", typescript: "TypeScript", go: "Go", rust: "Rust" };
const LANGUAGE_KEY = "tnr-language";

const samples = [];
const stored = localStorage.getItem(LANGUAGE_KEY);
let language = Object.hasOwn(LANGUAGES, stored) ? stored : "curl";

/** Shows all samples in a language, and scrolls so that the control the reader used does not move. */
function chooseLanguage(control) {
  language = control.value;
  localStorage.setItem(LANGUAGE_KEY, language);
  const before = control.getBoundingClientRect().top;
  for (const show of samples) show();
  scrollBy({ top: control.getBoundingClientRect().top - before, behavior: "instant" });
}

/** A code block with the request that `request` returns, and a function that updates it. */
function sample(request) {
  const code = element("code");
  const select = element("select", { class: "language", "aria-label": "Language of all samples" },
    Object.entries(LANGUAGES).map(([value, name]) => element("option", { value }, name)));
  const show = () => {
    const { requested, ...options } = request();
    select.value = language;
    code.textContent = CODE[language](absolute(requested), options);
  };
  select.addEventListener("change", () => chooseLanguage(select));
  samples.push(show);
  show();
  const block = element("div", { class: "code" },
    element("div", { class: "code-bar" }, select, copyButton("code", () => code.textContent)),
    element("pre", { tabindex: "0", "aria-label": "Request as code" }, code));
  return { block, show };
}

/** A response, or an example of one. */
const responseBlock = (label, text, body = parseJson(text)) => element("div", { class: "code response" },
  element("pre", { tabindex: "0", "aria-label": label }, element("code", {}, ...(body === null ? [text] : highlightJson(body)))));
