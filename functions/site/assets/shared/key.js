// The API key. It stays in the session storage of this tab and tabs opened from it, and leaves them only as a header
// of requests to this service. It is never in a URL: browsers remember URLs. Every page has the form with these ids.

const STORED_KEY = "tnr-api-key";
const VISIBLE_ASCII = /^[!-~]+$/;
/** How long a tab opened from this one may ask for the key. */
const OFFER_DURATION = 60_000;
/** How long a new tab waits for a key. */
const MAX_WAIT_FOR_KEY = 300;

const tabsOfPage = new BroadcastChannel(STORED_KEY + BASE_PATH);
let offer = { url: null, ends: 0 };

const currentKey = () => sessionStorage.getItem(STORED_KEY);

/** A key's prefix, by which its operator knows it. */
const beginningOf = (key) => (key.length > 24 ? `${key.slice(0, 15)}…` : "…");

function showKey() {
  const key = currentKey();
  byId("key-form").hidden = key !== null;
  byId("key-present").hidden = key === null;
  byId("key-shown").textContent = key === null ? "" : beginningOf(key);
}

function storeKey(key) {
  sessionStorage.setItem(STORED_KEY, key);
  byId("key").value = "";
  showKey();
}

function forgetKey() {
  sessionStorage.removeItem(STORED_KEY);
  showKey();
}

/** Says at the key field that one is required, or that this one is unknown, and leaves it there. */
function refuseKey() {
  const refused = currentKey();
  forgetKey();
  byId("key").value = refused ?? "";
  showFieldError(byId("key"), refused === null
    ? "An API key is required. The operator of this service can create one with tnr keys create."
    : "The service does not know this key. It may be mistyped, expired or revoked.");
}

/** Offers the key to a tab that a link may open. */
function offerKey({ target }) {
  const link = target.closest("a[href]");
  if (link) offer = { url: link.href, ends: Date.now() + OFFER_DURATION };
}

/** Gives the key only to a tab that the user just opened from this one. */
function handKeyOver({ data: { wantedAt } }) {
  if (wantedAt !== offer.url || Date.now() > offer.ends || currentKey() === null) return;
  offer.url = null;
  tabsOfPage.postMessage({ sentTo: wantedAt, key: currentKey() });
}

/** Briefly waits for the key from the tab that opened this one, unless this tab has a key. */
async function receiveKey() {
  if (currentKey() !== null) return;
  await new Promise((received) => {
    setTimeout(received, MAX_WAIT_FOR_KEY);
    tabsOfPage.addEventListener("message", ({ data: { sentTo, key } }) => {
      if (sentTo !== location.href || currentKey() !== null || !VISIBLE_ASCII.test(key)) return;
      storeKey(key);
      received();
    });
    tabsOfPage.postMessage({ wantedAt: location.href });
  });
}

/** Wires the key form. `onKey` is called after a key is entered. */
function startKeyForm(onKey) {
  byId("key-form").addEventListener("submit", (event) => {
    event.preventDefault();
    clearFieldErrors();
    storeKey(byId("key").value.trim());
    announce("The key is kept in this tab");
    onKey();
  });
  byId("key-forget").addEventListener("click", () => {
    forgetKey();
    announce("The key is forgotten");
    byId("key").focus();
  });
  for (const opening of ["click", "auxclick", "contextmenu"]) addEventListener(opening, offerKey, { capture: true });
  tabsOfPage.addEventListener("message", handKeyOver);
}
