// Points RapiDoc at this service, which may be behind a stage or a base path, and then loads it.

const BASE_PATH = location.pathname.replace(/\/docs\/?$/, "");
const COLORS = {
  light: {
    theme: "light", "bg-color": "#ffffff", "text-color": "#171a21", "primary-color": "#2b50c8",
    "nav-bg-color": "#f6f7f9", "nav-text-color": "#4a505d", "nav-hover-bg-color": "#e9ecf2",
    "nav-hover-text-color": "#171a21", "nav-accent-color": "#2b50c8",
  },
  dark: {
    theme: "dark", "bg-color": "#101217", "text-color": "#e9ebf0", "primary-color": "#93adff",
    "nav-bg-color": "#181b22", "nav-text-color": "#b4bac6", "nav-hover-bg-color": "#232833",
    "nav-hover-text-color": "#ffffff", "nav-accent-color": "#93adff",
  },
};

const docs = document.getElementById("docs");
const isDark = matchMedia("(prefers-color-scheme: dark)");

function setColors() {
  for (const [name, value] of Object.entries(isDark.matches ? COLORS.dark : COLORS.light)) docs.setAttribute(name, value);
}

document.getElementById("back").href = `${BASE_PATH}/`;
docs.setAttribute("spec-url", `${location.origin}${BASE_PATH}/openapi.json`);
docs.setAttribute("server-url", location.origin + BASE_PATH);
docs.setAttribute("default-api-server", location.origin + BASE_PATH);
setColors();
isDark.addEventListener("change", setColors);

// The key that the other page has put into this tab is sent from here, too, unless one is typed here. RapiDoc
// itself does not learn of it, since it would show it.
const key = sessionStorage.getItem("tnr-api-key");
document.getElementById("key-present").hidden = key === null;
docs.addEventListener("before-try", ({ detail: { request } }) => {
  const isTyped = request.headers.has("Authorization") || request.headers.has("X-API-Key")
    || new URL(request.url).searchParams.has("apiKey");
  if (key !== null && !isTyped) request.headers.set("Authorization", `Bearer ${key}`);
});

const rapidoc = document.createElement("script");
rapidoc.src = `${BASE_PATH}/docs/{{rapidoc}}`;
document.head.append(rapidoc);
