// The request with its response, and the same request in other languages.

const tabs = [...document.querySelectorAll('[role="tab"]')];
const shown = { requested: "", answer: null, language: "response" };

/** Shows a request with its answer. */
function showCode(requested, answer) {
  shown.requested = requested;
  shown.answer = answer;
  byId("request").textContent = `GET ${requested}`;
  byId("outcome").textContent = answer.status ? `${answer.status} in ${answer.milliseconds} ms` : "";
  fillPanel();
}

function fillPanel() {
  const { requested, answer, language } = shown;
  const code = byId("code-text");
  if (language !== "response") {
    code.replaceChildren(CODE[language](absolute(requested)));
  } else if (answer.body === null) {
    code.replaceChildren(answer.status ? "The response has no JSON." : "There was no response.");
  } else {
    code.replaceChildren(...highlighted(answer.body));
  }
  byId("code-panel").scrollTop = 0;
}

function selectTab(tab) {
  for (const other of tabs) {
    other.setAttribute("aria-selected", String(other === tab));
    other.tabIndex = other === tab ? 0 : -1;
  }
  shown.language = tab.id.replace("tab-", "");
  byId("code-panel").setAttribute("aria-labelledby", tab.id);
  fillPanel();
}

/** Arrow keys move between tabs (https://www.w3.org/WAI/ARIA/apg/patterns/tabs/). */
function moveBetweenTabs(event) {
  const index = tabs.indexOf(event.target);
  const places = { ArrowRight: index + 1, ArrowLeft: index - 1 + tabs.length, Home: 0, End: tabs.length - 1 };
  if (!(event.key in places)) return;
  event.preventDefault();
  const tab = tabs[places[event.key] % tabs.length];
  selectTab(tab);
  tab.focus();
}

function startCodePane() {
  for (const tab of tabs) {
    tab.addEventListener("click", () => selectTab(tab));
    tab.addEventListener("keydown", moveBetweenTabs);
  }
  const button = byId("copy-code");
  button.addEventListener("click", () => copy(button, byId("code-text").textContent));
}
