// Requests to the service. The page's path without its name is the base path, such as a stage.

const BASE_PATH = location.pathname.replace(/(?:\/docs)?\/*$/, "");

/** Encodes a value as one path segment, including quotes, which could end a shell string. */
const segment = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2B", "+");

/** Builds a request target from a path and the parameters that have a value. */
function target(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `${path}?${query}` : path;
}

const absolute = (requested) => `${location.origin}${BASE_PATH}${requested}`;

/**
 * Sends a request with `fetch` options. Returns the response's status, text, headers, and body if it is JSON. The status
 * is 0 if the service cannot be reached.
 */
async function send(requested, { withKey = true, ...request } = {}) {
  const headers = { Accept: "application/json", ...request.headers };
  if (withKey) useEnteredKey();
  if (withKey && currentKey()) headers.Authorization = `Bearer ${currentKey()}`;
  const start = performance.now();
  const duration = () => Math.round(performance.now() - start);
  try {
    const response = await fetch(absolute(requested), { ...request, headers, credentials: "omit" });
    const text = await response.text();
    return { status: response.status, text, body: parseJson(text), headers: response.headers, milliseconds: duration() };
  } catch {
    return { status: 0, text: "", body: null, headers: new Headers(), milliseconds: duration() };
  }
}

function parseJson(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The parameters of the next and previous pages, from a `Link` header (RFC 8288). */
function linkedPages(headers) {
  const pages = {};
  for (const [, url, relation] of (headers.get("Link") ?? "").matchAll(/<([^>]*)>; rel="(next|prev)"/g)) {
    pages[relation] = new URLSearchParams(url.split("?")[1]);
  }
  return pages;
}
