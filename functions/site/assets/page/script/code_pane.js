// The request with its response, and code that sends the request.

const tabs = [...document.querySelectorAll('[role="tab"]')];
const shown = { requested: "", response: null, language: "response", isOpenBelow: false };

/** Opens the pane beside a number. Below a list or card, it stays as the user left it. */
function placeCodePane(view) {
  const isBeside = view === "number";
  byId("code").parentElement.classList.toggle("wide", !isBeside);
  if (isBeside) byId("code-details").open = true;
  else byId("code-details").open = shown.isOpenBelow;
}

/** Opens the code pane below a list, scrolls to it and focuses it. */
function showCodePane() {
  byId("code-details").open = true;
  byId("code").scrollIntoView({ block: "nearest" });
  byId("code-details").querySelector("summary").focus({ preventScroll: true });
}

/** Shows a request with its response. */
function showCode(requested, response) {
  shown.requested = requested;
  shown.response = response;
  byId("request").textContent = `GET ${requested}`;
  byId("outcome").textContent = response.status ? `${response.status} in ${response.milliseconds} ms` : "";
  fillPanel();
}

function fillPanel() {
  const { requested, response, language } = shown;
  const code = byId("code-text");
  if (language !== "response") {
    code.replaceChildren(CODE[language](absolute(requested)));
  } else if (response.body === null) {
    code.replaceChildren(response.status ? "The response is not JSON." : "No response.");
  } else {
    code.replaceChildren(...highlightJson(response.body));
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
  byId("code-details").addEventListener("toggle", ({ target: details }) => {
    if (byId("code").parentElement.classList.contains("wide")) shown.isOpenBelow = details.open;
  });
  for (const tab of tabs) {
    tab.addEventListener("click", () => selectTab(tab));
    tab.addEventListener("keydown", moveBetweenTabs);
  }
  const button = byId("copy-code");
  button.addEventListener("click", () => copy(button, byId("code-text").textContent));
}
