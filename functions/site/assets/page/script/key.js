// The API key. It stays in the session storage of this tab, and leaves it only as a header of requests to this
// service.

const STORED_KEY = "tnr-api-key";

const currentKey = () => sessionStorage.getItem(STORED_KEY);

/** The beginning of a key, by which its operator knows it. */
const beginningOf = (key) => (key.length > 24 ? `${key.slice(0, 15)}…` : "…");

function showKey() {
  const key = currentKey();
  byId("key-form").hidden = key !== null;
  byId("key-present").hidden = key === null;
  byId("key-shown").textContent = key === null ? "" : beginningOf(key);
}

function storeKey(key) {
  sessionStorage.setItem(STORED_KEY, key);
  showKey();
}

function forgetKey() {
  sessionStorage.removeItem(STORED_KEY);
  byId("key").value = "";
  showKey();
}

/** Takes a key out of the address, where the local server puts one, so that it is in no shared link. */
function takeKeyFromAddress() {
  const params = new URLSearchParams(location.hash.slice(1));
  const key = params.get("key");
  if (!location.hash.startsWith("#key=") || !key) return;
  // A key has visible signs of ASCII only.
  if (/^[!-~]+$/.test(key)) storeKey(key);
  history.replaceState(null, "", location.pathname + location.search);
}

/** Asks for a key, with the place where one is typed. */
function askForKey() {
  byId("key-form").hidden = false;
  byId("key").focus();
}
