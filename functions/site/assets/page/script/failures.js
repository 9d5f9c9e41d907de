// Error messages and advice.

/** Shows an error at the invalid field, or in place of the result. */
function showFailure(response, form) {
  if (response.status === 401) return showKeyError();
  const fieldError = response.status === 400 && form && findFieldError(response.body?.message, form);
  if (fieldError) return showFieldError(...fieldError);
  const { title, message, advice } = describeFailure(response);
  announce([title, message, advice].filter(Boolean).join(". "));
  byId("result").replaceChildren(failureCard(response));
}

/** Finds the field of the parameter that starts a message, and replaces the parameter with the field's label. */
function findFieldError(message = "", form) {
  const [start, name] = message.match(/^(?:Invalid )?(\w+)/) ?? [];
  const field = form.elements.namedItem(name === "defaultCountry" ? "country" : name ?? "");
  return field && [field, field.labels[0].textContent + message.slice(start.length)];
}

/** The tone, title and advice for an error, and the service's message. */
function describeFailure({ status, body, headers }) {
  const message = body?.message ?? "";
  switch (status) {
    case 0:
      return { tone: "bad", title: "Could not reach the service", advice: "Check your network and the server." };
    case 400:
      return { tone: "warning", title: "The request is invalid", message };
    case 404:
      return { tone: "neutral", title: "Not found", message };
    case 429:
      return { tone: "warning", title: "Quota exceeded", message, advice: retryAdvice(body?.details, headers) };
    case 503:
      return { tone: "bad", title: "No data available", message };
    default:
      return { tone: "bad", title: `The service returned status ${status}`, message };
  }
}

/** Advice on when to retry, in the local time zone. */
function retryAdvice(details, headers) {
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const reset = details?.reset ?? (Number.isNaN(seconds) ? null : Date.now() / 1000 + seconds);
  if (reset === null) return "Retry in a few seconds.";
  return `Retry ${timeWords(reset * 1000)}.`;
}

/** A time in the local time zone, and relative to now, as in `at 2:03:05 PM, in 3 minutes`. */
function timeWords(time) {
  const at = new Date(time);
  const isToday = at.toDateString() === new Date().toDateString();
  const words = at.toLocaleString("en", isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
  return `at ${words}, ${relativeTime(at)}`;
}

/** Formats a time relative to now, such as `in 3 minutes`. */
function relativeTime(time) {
  const seconds = (time - Date.now()) / 1000;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, length] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(Math.round(seconds), "second");
}

function failureCard(response) {
  const { tone, title, message, advice } = describeFailure(response);
  return element("div", { class: `failure ${tone}` },
    element("h2", { tabindex: "-1" }, title),
    message && element("p", {}, message),
    advice && element("p", { class: "hint" }, advice),
    tone === "bad" && element("button", { type: "button", onclick: () => open("user") }, "Retry"));
}
