// Errors shown next to their field.

const errorId = (field) => `${field.id}-error`;

/** Marks a field as invalid, shows the message below it, and scrolls both into view. */
function showFieldError(field, message) {
  markInvalid(field, errorId(field));
  const error = element("p", { id: errorId(field), class: "field-error" }, message);
  (field.closest(".joined") ?? field).after(error);
  announce(message);
  field.focus({ preventScroll: true });
  if (![field, error].every(isInView)) error.scrollIntoView({ block: "center" });
}

/** Marks a field as invalid. The element with the id `describedBy` contains the reason. */
function markInvalid(field, describedBy) {
  field.setAttribute("aria-invalid", "true");
  field.dataset.describedby ??= field.getAttribute("aria-describedby") ?? "";
  field.setAttribute("aria-describedby", `${describedBy} ${field.dataset.describedby}`.trim());
}

function clearFieldErrors() {
  for (const error of document.querySelectorAll(".field-error")) error.remove();
  for (const field of document.querySelectorAll("[aria-invalid]")) {
    field.removeAttribute("aria-invalid");
    if (field.dataset.describedby) field.setAttribute("aria-describedby", field.dataset.describedby);
    else field.removeAttribute("aria-describedby");
  }
}
