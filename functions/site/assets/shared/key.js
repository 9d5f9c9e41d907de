// The API key. It stays in the session storage of this tab and of tabs opened from it, and leaves them only as a
// header of requests to this service. An address never holds one: browsers remember addresses. Every page has the
// form with these ids.

const STORED_KEY = "tnr-api-key";
const VISIBLE_ASCII = /^[!-~]+$/;
/** The time that a tab opened from this one has to ask for the key. */
const OFFER_DURATION = 60_000;
/** The time that a new tab waits for a key. */
const MAX_WAIT_FOR_KEY = 300;

const tabsOfPage = new BroadcastChannel(STORED_KEY + BASE_PATH);
let offer = { url: null, ends: 0 };

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
  byId("key").value = "";
  showKey();
}

function forgetKey() {
  sessionStorage.removeItem(STORED_KEY);
  showKey();
}

/** Says at the field of the key that one is needed, or that the service does not know this one, which stays there. */
function refuseKey() {
  const refused = currentKey();
  forgetKey();
  byId("key").value = refused ?? "";
  showFieldError(byId("key"), refused === null
    ? "An API key is required. The operator of this service can create one with tnr keys create."
    : "The service does not know this key. It may be mistyped, expired or revoked.");
}

/** Offers the key to the tab that a link may be about to open. */
function offerKey({ target }) {
  const link = target.closest("a[href]");
  if (link) offer = { url: link.href, ends: Date.now() + OFFER_DURATION };
}

/** Hands the key to a tab that the user has just opened from this one, and to no other. */
function handKeyOver({ data: { wantedAt } }) {
  if (wantedAt !== offer.url || Date.now() > offer.ends || currentKey() === null) return;
  offer.url = null;
  tabsOfPage.postMessage({ sentTo: wantedAt, key: currentKey() });
}

/** Waits a moment for the key from the tab that opened this one, unless this tab has a key. */
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

/** Wires the form of the key. `onKey` is called after a key was typed. */
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
