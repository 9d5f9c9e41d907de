// The API key. It stays in this tab and tabs opened from it, or on this device if the user chooses to, and leaves them
// only in the headers of requests to this service. It is never in a URL, since browsers remember URLs. Every page has a
// form with these ids.

const VISIBLE_ASCII = /^[!-~]+$/;
/** Milliseconds in which a tab opened from this one may ask for the key. */
const OFFER_DURATION = 60_000;
/** Milliseconds that a new tab waits for a key. */
const MAX_WAIT_FOR_KEY = 300;

const otherTabs = new BroadcastChannel(KEY_NAME + BASE_PATH);
let offer = { url: null, ends: 0 };

const currentKey = () => readStored(KEY_NAME);

/** A key's prefix, which identifies it to the operator. */
const keyPrefix = (key) => (key.length > 24 ? `${key.slice(0, 15)}…` : "…");

/** Stores the key on this device as well, which the user chooses before or after entering it. */
const rememberChoice = element("input", { type: "checkbox", id: "key-remember" });
const rememberLabel = element("label", { class: "choice" }, rememberChoice, "Remember on this device");

function showKey() {
  const key = currentKey();
  byId("key-form").hidden = key !== null;
  byId("key-present").hidden = key === null;
  byId("key-shown").textContent = key === null ? "" : keyPrefix(key);
  rememberChoice.checked = isRemembering();
  byId("key-note").textContent = rememberChoice.checked
    ? "Stored with your recent lookups in this browser, for everyone who uses it, until you forget the key."
    : "Stored in this tab and tabs you open from it, until you close them.";
  if (key === null) byId("key-note").before(rememberLabel);
  else byId("key-forget").before(rememberLabel);
}

function storeKey(key) {
  writeStored(KEY_NAME, key);
  byId("key").value = "";
  showKey();
}

/** Stores a key that is in its field, so that a lookup uses it without another button. */
function useEnteredKey() {
  const key = byId("key").value.trim();
  if (currentKey() === null && VISIBLE_ASCII.test(key)) storeKey(key);
}

/** Shows an error at the key field: the key is missing, or unknown. An unknown key stays in the field. */
function showKeyError() {
  const rejected = currentKey();
  removeStored(KEY_NAME);
  showKey();
  byId("key").value = rejected ?? byId("key").value;
  showFieldError(byId("key"), rejected !== null
    ? "Unknown API key. It may be mistyped, expired or revoked."
    : byId("key").value.trim() ? byId("key").title
      : "An API key is required. The service's operator can create one with tnr keys create.");
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

/** Sets up the key form. Calls `onKey` after a key is entered, and `onChange` if something stored was moved or removed. */
function startKeyForm(onKey, onChange = () => {}) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    clearFieldErrors();
    useEnteredKey();
    announce(isRemembering() ? "Key stored on this device" : "Key stored in this tab");
    onKey();
  });
  rememberChoice.addEventListener("change", () => {
    setRemembering(rememberChoice.checked);
    showKey();
    rememberChoice.focus();
  });
  byId("key-forget").addEventListener("click", () => {
    forgetStored();
    showKey();
    onChange();
    announce("Key and recent lookups forgotten");
    byId("key").focus();
  });
  // Another tab changed what is stored on this device.
  addEventListener("storage", () => {
    showKey();
    onChange();
  });
  for (const opening of ["click", "auxclick", "contextmenu"]) addEventListener(opening, offerKey, { capture: true });
  otherTabs.addEventListener("message", sendKey);
}
