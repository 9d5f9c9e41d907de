// The pages' storage: the tab's session storage or, if the user chooses to, this device's local storage.

const KEY_NAME = "tnr-api-key";
const LOOKUPS_NAME = "tnr-lookups";
const STORED_NAMES = [KEY_NAME, LOOKUPS_NAME];
/** Set on this device if the user chose to store the key and the lookups on it. */
const CHOICE_NAME = "tnr-remember";

const isRemembering = () => localStorage.getItem(CHOICE_NAME) !== null;

const readStored = (name) => sessionStorage.getItem(name) ?? localStorage.getItem(name);

function removeStored(name) {
  sessionStorage.removeItem(name);
  localStorage.removeItem(name);
}

function writeStored(name, value) {
  removeStored(name);
  (isRemembering() ? localStorage : sessionStorage).setItem(name, value);
}

/** Moves everything stored to this device, or back to the tab. */
function setRemembering(isChosen) {
  const values = STORED_NAMES.map((name) => [name, readStored(name)]).filter(([, value]) => value !== null);
  if (isChosen) localStorage.setItem(CHOICE_NAME, "yes");
  else localStorage.removeItem(CHOICE_NAME);
  for (const [name, value] of values) writeStored(name, value);
}

/** Removes everything stored in this tab and on this device, except the theme. */
function forgetStored() {
  for (const name of [...STORED_NAMES, CHOICE_NAME]) removeStored(name);
}
