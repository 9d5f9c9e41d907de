// The API key. It stays in session storage, in this tab and tabs opened from it, and leaves them only in the headers
// of requests to this service. It is never in a URL, since browsers remember URLs. Every page has a form with these ids.

const STORAGE_KEY = "tnr-api-key";
const VISIBLE_ASCII = /^[!-~]+$/;
/** Milliseconds in which a tab opened from this one may ask for the key. */
const OFFER_DURATION = 60_000;
/** Milliseconds that a new tab waits for a key. */
const MAX_WAIT_FOR_KEY = 300;

const otherTabs = new BroadcastChannel(STORAGE_KEY + BASE_PATH);
let offer = { url: null, ends: 0 };

const currentKey = () => sessionStorage.getItem(STORAGE_KEY);

/** A key's prefix, which identifies it to the operator. */
const keyPrefix = (key) => (key.length > 24 ? `${key.slice(0, 15)}…` : "…");

function showKey() {
  const key = currentKey();
  byId("key-form").hidden = key !== null;
  byId("key-present").hidden = key === null;
  byId("key-shown").textContent = key === null ? "" : keyPrefix(key);
}

function storeKey(key) {
  sessionStorage.setItem(STORAGE_KEY, key);
  byId("key").value = "";
  showKey();
}

function forgetKey() {
  sessionStorage.removeItem(STORAGE_KEY);
  showKey();
}

/** Shows an error at the key field: the key is missing, or unknown. An unknown key stays in the field. */
function showKeyError() {
  const rejected = currentKey();
  forgetKey();
  byId("key").value = rejected ?? "";
  showFieldError(byId("key"), rejected === null
    ? "An API key is required. The service's operator can create one with tnr keys create."
    : "Unknown API key. It may be mistyped, expired or revoked.");
}

/** Offers the key to a tab that a link may open. */
function offerKey({ target }) {
  const link = target.closest("a[href]");
  // A link in an SVG has no string in `href`.
  if (link) offer = { url: new URL(link.getAttribute("href"), location).href, ends: Date.now() + OFFER_DURATION };
}

/** Sends the key, but only to a tab that the user just opened from this one. */
function sendKey({ data: { requestedBy } }) {
  if (requestedBy !== offer.url || Date.now() > offer.ends || currentKey() === null) return;
  offer.url = null;
  otherTabs.postMessage({ recipient: requestedBy, key: currentKey() });
}

/** Waits briefly for a key from the tab that opened this one, unless this tab has a key. */
async function receiveKey() {
  if (currentKey() !== null) return;
  await new Promise((resolve) => {
    setTimeout(resolve, MAX_WAIT_FOR_KEY);
    otherTabs.addEventListener("message", ({ data: { recipient, key } }) => {
      if (recipient !== location.href || currentKey() !== null || !VISIBLE_ASCII.test(key)) return;
      storeKey(key);
      resolve();
    });
    otherTabs.postMessage({ requestedBy: location.href });
  });
}

/** Sets up the key form. Calls `onKey` after a key is entered. */
function startKeyForm(onKey) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    clearFieldErrors();
    storeKey(byId("key").value.trim());
    announce("Key stored in this tab");
    onKey();
  });
  byId("key-forget").addEventListener("click", () => {
    forgetKey();
    announce("Key forgotten");
    byId("key").focus();
  });
  for (const opening of ["click", "auxclick", "contextmenu"]) addEventListener(opening, offerKey, { capture: true });
  otherTabs.addEventListener("message", sendKey);
}
