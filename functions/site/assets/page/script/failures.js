// Answers that are errors, said so that somebody knows what to do next.

/** What is wrong, and what to do about it. */
function failureOf({ status, body, headers }) {
  const message = body?.message ?? "";
  switch (status) {
    case 0:
      return { title: "The service cannot be reached", advice: "Is the network there, and the server running?" };
    case 400:
      return { title: "The request breaks a rule", message };
    case 401:
      return currentKey()
        ? { title: "The service does not know this key", message, advice: "It may be mistyped, expired or revoked." }
        : { title: "An API key is needed", advice: "The operator of this service makes keys. Type one above." };
    case 404:
      return { title: "Nothing found", message };
    case 429:
      return { title: "A quota is exhausted", message, advice: whenAdmitted(body?.details, headers) };
    case 503:
      return { title: "The service has no data to answer from", message };
    default:
      return { title: `The service answered with status ${status}`, message };
  }
}

/** When the next request is admitted, in the time of this place. */
function whenAdmitted(details, headers) {
  const seconds = Number(headers.get("Retry-After") ?? NaN);
  const reset = details?.reset ?? (Number.isNaN(seconds) ? null : Date.now() / 1000 + seconds);
  if (reset === null) return "Retry in some seconds.";
  const at = new Date(reset * 1000);
  const isToday = at.toDateString() === new Date().toDateString();
  const time = at.toLocaleString("en", isToday ? { timeStyle: "medium" } : { dateStyle: "medium", timeStyle: "short" });
  return `The next request is admitted at ${time}, ${relativeTime(at)}.`;
}

/** How far a time is from now, such as `in 3 minutes`. */
function relativeTime(time) {
  const seconds = (time - Date.now()) / 1000;
  const format = new Intl.RelativeTimeFormat("en", { numeric: "auto" });
  for (const [unit, length] of [["day", 86_400], ["hour", 3600], ["minute", 60]]) {
    if (Math.abs(seconds) >= length) return format.format(Math.round(seconds / length), unit);
  }
  return format.format(Math.round(seconds), "second");
}

function failureCard(answer) {
  const { title, message, advice } = failureOf(answer);
  announce([title, message, advice].filter(Boolean).join(". "));
  return element("div", { class: "failure" },
    element("h2", {}, title),
    message && element("p", {}, message),
    advice && element("p", { class: "hint" }, advice));
}
