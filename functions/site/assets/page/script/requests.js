// Requests to the service. The page may be behind a stage or a base path, which is where the page itself is.

const BASE_PATH = location.pathname.replace(/\/+$/, "");

/** A value as one segment of a path. A quote could end a string of a shell. */
const segment = (value) =>
  encodeURIComponent(value).replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
    .replaceAll("%2B", "+");

/** The target of a request: a path, and those parameters that have a value. */
function target(path, params = {}) {
  const given = Object.entries(params).filter(([, value]) => value !== undefined && value !== null && value !== "");
  const query = new URLSearchParams(given).toString();
  return query ? `${path}?${query}` : path;
}

const absolute = (requested) => `${location.origin}${BASE_PATH}${requested}`;

/**
 * The answer to a request: its status, its body if that is JSON, and what its headers tell. The status is 0 if the
 * service cannot be reached.
 */
async function send(requested, { signal, withKey = true } = {}) {
  const headers = { Accept: "application/json" };
  if (withKey && currentKey()) headers.Authorization = `Bearer ${currentKey()}`;
  const began = performance.now();
  try {
    const response = await fetch(absolute(requested), { headers, signal, credentials: "omit" });
    const text = await response.text();
    const milliseconds = Math.round(performance.now() - began);
    return { status: response.status, body: parsed(text), headers: response.headers, milliseconds };
  } catch (error) {
    if (error.name === "AbortError") throw error;
    return { status: 0, body: null, headers: new Headers(), milliseconds: Math.round(performance.now() - began) };
  }
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** The parameters of the next and the previous page, from a `Link` header (RFC 8288). */
function pagesOf(headers) {
  const pages = {};
  for (const [, url, relation] of (headers.get("Link") ?? "").matchAll(/<([^>]*)>; rel="(next|prev)"/g)) {
    pages[relation] = new URLSearchParams(url.split("?")[1]);
  }
  return pages;
}
