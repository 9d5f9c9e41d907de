/**
 * Calls the Telephone Number Reference Service for one number, a batch of numbers, and all pages of a search.
 *
 * Usage: TNR_URL=http://127.0.0.1:3000 TNR_KEY=tnr_live_... npm start
 * Needs Node 20 or newer, and no packages except the compiler.
 */

import { setTimeout as sleep } from "node:timers/promises";

const ATTEMPTS = 4;
const TIMEOUT_MS = 10_000;
// A daily quota may reset hours from now; let the caller decide what to do.
const MAX_WAIT_SECONDS = 60;

// The fields that this example reads. `npx openapi-typescript docs/openapi.json` generates the full types.
interface FormatResult {
  valid: boolean;
  formats?: { e164: string };
  location?: { rateCenter?: string; state?: string; countryName: string };
  /** The holder as assigned; the number may have been ported since. */
  carrier?: { name: string | null };
}

/** One number in a batch, as sent. */
type BatchItem = { tn: string; result: FormatResult } | { tn: string; error: ErrorBody };

interface SearchResult {
  results: { npa: string; nxx: string; company_name: string | null }[];
}

interface ErrorBody {
  error: string;
  message: string;
}

/** An error response. `status` is the HTTP status, and `error` a stable name such as `not_found`. */
class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly error: string,
    message: string,
  ) {
    super(`${status} ${error}: ${message}`);
  }
}

/** Calls one service with one key. */
class Client {
  constructor(
    private readonly url: string,
    private readonly key: string,
  ) {}

  /** Validates and formats a phone number. */
  async format(number: string, options: Record<string, string> = {}): Promise<FormatResult> {
    const response = await this.send(this.buildUrl(`/v1/format/${encodeURIComponent(number)}`, options));
    return (await response.json()) as FormatResult;
  }

  /** Validates and formats up to 1,000 phone numbers, in order. */
  async formatMany(numbers: string[], options: Record<string, string> = {}): Promise<BatchItem[]> {
    const response = await this.send(this.buildUrl("/v1/format", options), {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify(numbers),
    });
    return ((await response.json()) as { results: BatchItem[] }).results;
  }

  /** Yields the exchanges that match all filters, page by page. */
  async *search(filters: Record<string, string>): AsyncGenerator<SearchResult["results"][number]> {
    let url: string | undefined = this.buildUrl("/v1/search", filters);
    while (url !== undefined) {
      const response: Response = await this.send(url);
      yield* ((await response.json()) as SearchResult).results;
      url = nextPage(url, response.headers);
    }
  }

  private buildUrl(path: string, query: Record<string, string>): string {
    return `${this.url.replace(/\/$/, "")}${path}?${new URLSearchParams(query)}`;
  }

  /** Returns a successful response. Waits and retries if the service says so. */
  private async send(url: string, init: RequestInit = {}): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const response = await fetch(url, {
        ...init,
        headers: { ...init.headers, Authorization: `Bearer ${this.key}` },
        signal: AbortSignal.timeout(TIMEOUT_MS),
      });
      if (response.ok) return response;
      const wait = secondsToWait(response);
      if (wait === undefined || attempt === ATTEMPTS) throw await parseError(response);
      await response.body?.cancel();
      await sleep(wait * 1000);
    }
  }
}

/** The wait before a retry; `undefined` if a retry would not help. */
function secondsToWait({ status, headers }: Response): number | undefined {
  const after = headers.get("Retry-After");
  if (![429, 503].includes(status) || after === null || !/^\d+$/.test(after)) return undefined;
  const seconds = Number(after);
  return seconds <= MAX_WAIT_SECONDS ? seconds : undefined;
}

/** Parses an error response. A proxy may have sent something other than JSON. */
async function parseError(response: Response): Promise<ApiError> {
  const body = (await response.json().catch(() => null)) as Partial<ErrorBody> | null;
  return new ApiError(response.status, body?.error ?? "unknown", body?.message ?? response.statusText);
}

/** The URL in the `Link` header with `rel="next"`; `undefined` on the last page. */
function nextPage(url: string, headers: Headers): string | undefined {
  const next = /<([^>]*)>; rel="next"/.exec(headers.get("Link") ?? "")?.[1];
  return next === undefined ? undefined : new URL(next, url).href;
}

/** Formats a result on one line. */
function formatLine({ valid, formats, location, carrier }: FormatResult): string {
  if (!valid) return "not a valid number";
  const place = [location?.rateCenter, location?.state, location?.countryName].filter(Boolean).join(", ");
  const holder = carrier?.name && `assigned to ${carrier.name}`;
  return [formats?.e164, place, holder].filter(Boolean).join("; ");
}

function fromEnvironment(name: string): string {
  const value = process.env[name];
  if (!value) throw new Error(`the environment variable ${name} must be set`);
  return value;
}

async function main(): Promise<void> {
  const client = new Client(fromEnvironment("TNR_URL"), fromEnvironment("TNR_KEY"));

  const number = "(305) 234-5678";
  console.log(`${number}: ${formatLine(await client.format(number))}`);

  const numbers = ["+44 20 7946 0958", "no number", "", "212-397-5678"];
  for (const item of await client.formatMany(numbers, { defaultCountry: "US" })) {
    console.log(`${item.tn}: ${"result" in item ? formatLine(item.result) : item.error.message}`);
  }

  let count = 0;
  for await (const exchange of client.search({ q: "wireless", state: "NY", limit: "4" })) {
    console.log(`${exchange.npa}-${exchange.nxx}: ${exchange.company_name}`);
    count++;
  }
  console.log(`${count} exchanges`);
}

try {
  await main();
} catch (error) {
  if (!(error instanceof ApiError)) throw error;
  console.error(`request failed: ${error.message}`);
  process.exitCode = 1;
}
