// Errors, with what to do next.

/** Shows an error at the invalid field, or in place of the answer. */
function showFailure(answer, form) {
  if (answer.status === 401) return refuseKey();
  const wrong = answer.status === 400 && wrongField(answer.body?.message, form);
  if (wrong) return showFieldError(...wrong);
  const { title, message, advice } = failureOf(answer);
  announce([title, message, advice].filter(Boolean).join(". "));
  byId("answer").replaceChildren(failureCard(answer));
}

/** The field a message is about, by its leading parameter, and the message with the field's name. */
function wrongField(message = "", form) {
  const [start, name] = message.match(/^(?:Invalid )?(\w+)/) ?? [];
  const field = form.elements.namedItem(name === "defaultCountry" ? "country" : name ?? "");
  return field && [field, field.labels[0].textContent + message.slice(start.length)];
}

/** An error's tone, title, message from the service, and advice. */
function failureOf({ status, body, headers }) {
  const message = body?.message ?? "";
  switch (status) {
    case 0:
      return { tone: "bad", title: "The service cannot be reached", advice: "Check your network and the server." };
    case 400:
      return { tone: "doubt", title: "The request is invalid", message };
    case 404:
      return { tone: "calm", title: "Not found", message };
    case 429:
      return { tone: "doubt", title: "Quota exceeded", message, advice: whenAdmitted(body?.details, headers) };
    case 503:
      return { tone: "bad", title: "The service has no data to answer from", message };
    default:
      return { tone: "bad", title: `The service answered with status ${status}`, message };
  }
}

/** When the next request is allowed, in the local time zone. */
function whenAdmitted(details, headers) {
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const reset = details?.reset ?? (Number.isNaN(seconds) ? null : Date.now() / 1000 + seconds);
  if (reset === null) return "Retry in a few seconds.";
  const at = new Date(reset * 1000);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleString("en", isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
  return `Retry at ${time}, ${relativeTime(at)}.`;
}

/** A time relative to now, such as `in 3 minutes`. */
function relativeTime(time) {
  const seconds = (time - Date.now()) / 1000;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, length] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(Math.round(seconds), "second");
}

function failureCard(answer) {
  const { tone, title, message, advice } = failureOf(answer);
  return element("div", { class: `failure ${tone}` },
    element("h2", { tabindex: "-1" }, title),
    message && element("p", {}, message),
    advice && element("p", { class: "hint" }, advice),
    tone === "bad" && element("button", { type: "button", onclick: () => open("user") }, "Retry"));
}
