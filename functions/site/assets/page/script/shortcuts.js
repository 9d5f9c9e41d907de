// Keys that lead to the view's first field: / and, even while typing, Ctrl-K or Cmd-K.

const isTyping = (target) => target.closest?.("input:not([type=checkbox]), textarea, select, [contenteditable]");

function isShortcut({ key, target, metaKey, ctrlKey, altKey, shiftKey }) {
  if (altKey) return false;
  const isCommand = metaKey || ctrlKey;
  // On some keyboards, a slash requires Shift.
  return isCommand ? key.toLowerCase() === "k" && !shiftKey : key === "/" && !isTyping(target);
}

function startShortcuts() {
  addEventListener("keydown", (event) => {
    const field = document.querySelector("form.lookup:not([hidden]) :is(input:not([type=file]), textarea, select)");
    if (field === null || !isShortcut(event)) return;
    event.preventDefault();
    field.focus();
    field.select?.();
  });
}
