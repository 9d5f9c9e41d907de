// The theme switch in the bar at the top of every page. The theme is applied before this script runs.

const THEME_NAME = "tnr-theme";
const THEMES = ["system", "light", "dark"];

function applyTheme(theme) {
  document.documentElement.dataset.theme = theme;
  document.querySelector("#theme").value = theme;
}

function startThemeSwitch() {
  const { theme = "system" } = document.documentElement.dataset;
  const options = THEMES.map((name) => element("option", { value: name }, toWords(name)));
  const select = element("select", { id: "theme", "aria-label": "Theme" }, options);
  document.querySelector(".top nav").append(element("span", { class: "theme" }, select));
  applyTheme(theme);
  select.addEventListener("change", () => {
    if (select.value === "system") localStorage.removeItem(THEME_NAME);
    else localStorage.setItem(THEME_NAME, select.value);
    applyTheme(select.value);
  });
  addEventListener("storage", ({ key, newValue }) => { if (key === THEME_NAME) applyTheme(newValue ?? "system"); });
}

startThemeSwitch();
