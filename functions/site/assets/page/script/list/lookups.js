// Looks up the numbers of a list through the API: one batch at a time, repeated until each number has its result.

/** The maximum numbers and characters in a batch. A character may take six bytes of the body's 512 KB. */
const MAX_BATCH_NUMBERS = 1000;
const MAX_BATCH_LENGTH = 80_000;
/** The service rejects longer text unread, so its end is not sent. */
const MAX_TEXT_LENGTH = 1000;
/** Seconds between attempts while the service cannot be reached. */
const RETRY_SECONDS = [1, 2, 4, 8, 15];
/** Milliseconds; a quota that resets later than this stops the list. */
const MAX_WAIT = 15 * 60_000;

/** Thrown to stop the list. `kind` is `stopped` (by the user), `key`, `quota`, `unreachable` or `failed`. */
class Halt extends Error {
  constructor(kind, message = "") {
    super(message);
    this.kind = kind;
  }
}

/** Waits, unless the list stops. */
function pause(milliseconds, signal) {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(new Halt("stopped"));
    };
    const timer = setTimeout(() => {
      signal.removeEventListener("abort", stop);
      resolve();
    }, milliseconds);
    if (signal.aborted) stop();
    else signal.addEventListener("abort", stop, { once: true });
  });
}

/**
 * Looks up a list's numbers. All batches of a list share one, since they share the key's quota: if one has to wait, so do
 * the others.
 */
class Lookups {
  /** `onWait` gets the reason for a wait and the time at which it ends. */
  constructor(requested, onWait) {
    this.requested = requested;
    this.onWait = onWait;
    this.maxNumbers = MAX_BATCH_NUMBERS;
    /** The numbers that the quota has room for, if known. */
    this.fitting = Infinity;
    this.waitsUntil = 0;
  }

  /** Removes items from the front of `items` as they get their result, which `onResult` receives. */
  async send(items, onResult, signal) {
    let failures = 0;
    while (items.length > 0) {
      await this.#waitForQuota(signal);
      const sent = items.slice(0, Math.min(this.maxNumbers, this.fitting));
      this.fitting = Infinity;
      const response = await send(this.requested, {
        method: "POST", headers: { "Content-Type": "application/json" }, signal,
        body: JSON.stringify(sent.map(({ tn, defaultCountry }) => ({ tn: tn.slice(0, MAX_TEXT_LENGTH), defaultCountry }))),
      });
      if (signal.aborted) throw new Halt("stopped");
      const results = response.status === 200 && response.body?.results;
      if (results?.length === sent.length) {
        failures = 0;
        items.splice(0, sent.length).forEach((item, index) => onResult(item, results[index]));
      } else {
        failures = await this.#recover(response, sent.length, failures, signal);
      }
    }
  }

  async #waitForQuota(signal) {
    while (Date.now() < this.waitsUntil) await pause(this.waitsUntil - Date.now(), signal);
  }

  /** Prepares another attempt after a failed one, or stops. Returns the number of failures in a row. */
  async #recover(response, count, failures, signal) {
    const { status, body, headers } = response;
    if (status === 401) throw new Halt("key");
    const { details } = body ?? {};
    const waitSeconds = Number(headers.get("Retry-After") ?? NaN);
    if (status === 429 && (details || waitSeconds)) {
      this.#adaptToQuota(response, count, details, waitSeconds);
      return failures;
    }
    const mayRecover = [0, 200, 408, 429].includes(status) || status >= 500;
    const { title, message } = describeFailure(response);
    const sentence = [title, message].filter(Boolean).join(": ");
    if (!mayRecover) throw new Halt("failed", sentence);
    if (failures === RETRY_SECONDS.length) throw new Halt("unreachable", sentence);
    const milliseconds = 1000 * Math.max(RETRY_SECONDS[failures], Math.min(waitSeconds || 0, 60));
    this.onWait(sentence, Date.now() + milliseconds);
    await pause(milliseconds, signal);
    return failures + 1;
  }

  /** Sends as many numbers as fit now, otherwise waits until the quota resets. */
  #adaptToQuota({ headers }, count, details, waitSeconds) {
    const left = ["X-RateLimit-Remaining", "X-RateLimit-Minute-Remaining"]
      .filter((name) => headers.has(name)).map((name) => Number(headers.get(name)));
    const fitting = Math.min(details?.remaining ?? 0, ...left);
    if (details) this.maxNumbers = Math.min(this.maxNumbers, Math.max(details.limit, 1));
    if (fitting > 0 && fitting < count) {
      this.fitting = fitting;
      return;
    }
    // If the daily quota has requests left, the per-minute quota is exhausted.
    const minuteReset = details?.remaining > 0 && headers.get("X-RateLimit-Minute-Reset");
    const reset = minuteReset || !waitSeconds ? 1000 * (minuteReset || details.reset) : Date.now() + 1000 * waitSeconds;
    const isDay = details?.limit_type === "daily" && !minuteReset;
    const quota = !details || minuteReset ? "The key's quota is used up"
      : `The key's quota of ${details.limit.toLocaleString("en")} requests per ${isDay ? "day" : "minute"} is used up`;
    if (isDay || reset - Date.now() > MAX_WAIT) throw new Halt("quota", `${quota}. It resets ${timeWords(reset)}`);
    this.waitsUntil = Math.max(this.waitsUntil, reset, Date.now() + 1000);
    this.onWait(quota, this.waitsUntil);
  }
}
