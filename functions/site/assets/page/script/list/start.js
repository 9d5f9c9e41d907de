// The list view. The page loads this script on demand, and passes in the functions that both use.

let COUNTRIES, CHOICES, announce, bar, byId, clearFieldErrors, describeFailure, element, formatCount, relativeTime, send,
  showFieldError, showKeyError, table, target, timeWords, toWords, useEnteredKey;

/** Starts the view with the page's functions. Returns the view's. */
export default function start(page) {
  ({
    COUNTRIES, CHOICES, announce, bar, byId, clearFieldErrors, describeFailure, element, formatCount, relativeTime, send,
    showFieldError, showKeyError, table, target, timeWords, toWords, useEnteredKey,
  } = page);
  startSource();
  return { open: openList, resume: resumeList, show: showList };
}
