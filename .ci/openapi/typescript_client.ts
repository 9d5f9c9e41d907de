/**
 * Calls each of the service's operations with types generated from the OpenAPI document, to succeed and to fail.
 * The compiler checks the fields read here against it.
 *
 * Usage: node typescript_client.js, through with_server.py.
 */

import assert from "node:assert/strict";
import createClient from "openapi-fetch";
import type { components, paths } from "./description.js";

type Schemas = components["schemas"];

const baseUrl = process.env.TNR_URL!;
const key = process.env.TNR_KEY!;
const withKey = createClient<paths, "application/json">({ baseUrl, headers: { Authorization: `Bearer ${key}` } });
const withOtherHeader = createClient<paths, "application/json">({ baseUrl, headers: { "X-API-Key": key } });
const withoutKey = createClient<paths, "application/json">({ baseUrl });

interface Result<T, E> {
  data?: T;
  error?: E;
  response: Response;
}

function success<T>({ data, error, response }: Result<T, unknown>): T {
  assert.equal(response.status, 200, `${response.url}: ${JSON.stringify(error)}`);
  assert.ok(data !== undefined, response.url);
  return data;
}

function rejection(
  { error, response }: Result<unknown, Schemas["ErrorBody"]>,
  status: number,
  name: string,
): string {
  assert.equal(response.status, status, response.url);
  assert.ok(error !== undefined, response.url);
  assert.equal(error.error, name, response.url);
  return error.message;
}

const miami = { tn: "+13052345678" };

/** Checks for each operation. The compiler requires one per documented path, and no others. */
const checks: Record<keyof paths, () => Promise<void>> = {
  "/v1/carriers": async () => {
    const carriers = new Map<string, Schemas["CarrierSummary"]>();
    let total = Infinity;
    for (let offset = 0; offset < total; offset += 60) {
      const query = { limit: 60, offset };
      const page = success(await withKey.GET("/v1/carriers", { params: { query } }));
      page.carriers.forEach((carrier) => carriers.set(carrier.ocn, carrier));
      total = page.pagination.total;
    }
    assert.ok(total > 100 && carriers.size === total, `${carriers.size} of ${total}`);
    assert.equal(carriers.get("950G")?.carrier_type, null);
    const query = { version: "20200101T000000Z-0123456789abcdef" };
    rejection(await withKey.GET("/v1/carriers", { params: { query } }), 400, "invalid_request");
    rejection(await withoutKey.GET("/v1/carriers"), 401, "unauthorized");
  },
  "/v1/carrier/{ocn}": async () => {
    const get = (ocn: string) => withKey.GET("/v1/carrier/{ocn}", { params: { path: { ocn } } });
    const carrier = success(await get("908K"));
    assert.equal(carrier.carrier_type, "ILEC");
    assert.equal(carrier.exchanges.by_state["NY"], carrier.exchanges.total);
    assert.match(rejection(await get("ZZZZ"), 404, "not_found"), /ZZZZ/);
  },
  "/v1/carrier": async () => {
    const get = (ocn: string) => withKey.GET("/v1/carrier", { params: { query: { ocn } } });
    assert.equal(success(await get("908K")).state, "NY");
    rejection(await get("12345"), 400, "invalid_request");
  },
  "/v1/npa/{npa}": async () => {
    const get = (npa: string) => withKey.GET("/v1/npa/{npa}", { params: { path: { npa } } });
    const areaCode = success(await get("305"));
    assert.equal(areaCode.exchanges[0]?.ocn, null);
    assert.equal(areaCode.pagination.total, areaCode.total_exchanges);
    rejection(await get("999"), 404, "not_found");
  },
  "/v1/npa/{npa}/nxx/{nxx}": async () => {
    const get = (nxx: string) =>
      withKey.GET("/v1/npa/{npa}/nxx/{nxx}", { params: { path: { npa: "305", nxx } } });
    assert.equal(success(await get("234")).exchanges[0]?.rate_center, "PERRINE");
    rejection(await get("x"), 400, "invalid_request");
  },
  "/v1/npa/{npa}/nxx/{nxx}/blocks": async () => {
    const get = (nxx: string) =>
      withKey.GET("/v1/npa/{npa}/nxx/{nxx}/blocks", { params: { path: { npa: "305", nxx } } });
    assert.equal(success(await get("234")).blocks.length, 10);
    rejection(await get("x"), 400, "invalid_request");
  },
  "/v1/area-codes": async () => {
    const get = (country: string) => withKey.GET("/v1/area-codes", { params: { query: { country } } });
    assert.deepEqual(success(await get("JM")).area_codes.map((code) => code.npa), ["658", "876"]);
    rejection(await get("Jamaica"), 400, "invalid_request");
  },
  "/v1/area-codes/{npa}": async () => {
    const get = (npa: string) => withKey.GET("/v1/area-codes/{npa}", { params: { path: { npa } } });
    assert.equal(success(await get("800")).service, "TOLL_FREE");
    rejection(await get("222"), 404, "not_found");
  },
  "/v1/holders": async () => {
    const get = (npa: string) => withKey.GET("/v1/holders", { params: { query: { npa } } });
    assert.ok(success(await get("305")).holders.every((it) => "exchanges" in it && it.exchanges > 0));
    const query = { country: "GB" } as const;
    const { holders } = success(await withKey.GET("/v1/holders", { params: { query } }));
    assert.ok(holders.length > 0 && holders.every((it) => "numbers" in it && it.numbers > 0));
    rejection(await get("x"), 400, "invalid_request");
  },
  "/v1/countries": async () => {
    const get = (country: string) =>
      withKey.GET("/v1/countries", { params: { query: { country: country as "GB" } } });
    const [country] = success(await get("GB")).countries;
    assert.ok(country?.calling_code === "44" && country.trunk_prefix === "0" && country.data);
    rejection(await get("ZZ"), 400, "invalid_request");
  },
  "/v1/countries/{code}/ranges": async () => {
    const get = (code: string) =>
      withKey.GET("/v1/countries/{code}/ranges", { params: { path: { code: code as "GB" } } });
    const { source, ranges } = success(await get("GB"));
    assert.ok(source.publisher === "Ofcom" && ranges.some(({ holder }) => holder !== null));
    rejection(await get("FR"), 404, "not_found");
  },
  "/v1/npa": async () => {
    const get = (npa: string) => withKey.GET("/v1/npa", { params: { query: { npa, nxx: "234" } } });
    assert.equal(success(await get("305")).exchanges[0]?.status, "ASSIGNED");
    rejection(await get("1"), 400, "invalid_request");
  },
  "/v1/format/{tn}": async () => {
    const get = async (tn: string) =>
      success(await withKey.GET("/v1/format/{tn}", { params: { path: { tn } } }));
    const london = await get("+442079460958");
    assert.equal(london.formats?.national, "020 7946 0958");
    assert.equal(london.location?.countryName, "United Kingdom");
    assert.ok(london.valid && london.type === "FIXED_LINE" && !london.carrier && !london.npa);
    const american = await get(miami.tn);
    assert.equal(american.carrier?.ocn, "5927");
    assert.equal(american.flags?.state?.abbreviation, "FL");
    const unparseable = await get("no number");
    assert.deepEqual(unparseable, { valid: false, possible: false, input: "no number" });
    const rejected = await withoutKey.GET("/v1/format/{tn}", { params: { path: miami } });
    assert.match(rejection(rejected, 401, "unauthorized"), /API key/);
  },
  "/v1/format": async () => {
    const result = success(await withOtherHeader.GET("/v1/format", { params: { query: miami } }));
    assert.equal(result.countryCallingCode, "+1");
    const query = { tn: "0", defaultCountry: "ZZ" as "US" };
    rejection(await withKey.GET("/v1/format", { params: { query } }), 400, "Bad Request");
    const body = [miami.tn, { tn: "020 7946 0958", defaultCountry: "GB" as const, id: "london" }, ""];
    const many = success(await withKey.POST("/v1/format", { body })).results;
    assert.deepEqual(many[0], { tn: miami.tn, result });
    assert.ok(many[1]?.id === "london" && many[1].result?.country === "GB");
    assert.ok(many[2]?.error?.error === "invalid_request" && !many[2].result);
    rejection(await withKey.POST("/v1/format", { body: [] }), 400, "invalid_request");
    rejection(await withoutKey.POST("/v1/format", { body }), 401, "unauthorized");
  },
  "/v1/find": async () => {
    const body = { text: "Grüße! Call (305) 234-5678 x9." };
    const [found] = success(await withKey.POST("/v1/find", { body })).results;
    assert.deepEqual([found?.start, found?.end, found?.result.extension], [12, 29, "9"]);
    const query = { leniency: "lax" as "valid" };
    rejection(await withKey.POST("/v1/find", { params: { query }, body }), 400, "invalid_request");
    rejection(await withoutKey.POST("/v1/find", { body }), 401, "unauthorized");
  },
  "/v1/lookup/{tn}": async () => {
    const get = (tn: string) => withKey.GET("/v1/lookup/{tn}", { params: { path: { tn } } });
    const block = success(await get(miami.tn));
    assert.equal(block.carrier?.type, "WIRELESS");
    rejection(await get("8005551234"), 404, "not_found");
  },
  "/v1/lookup": async () => {
    const get = (tn: string) => withKey.GET("/v1/lookup", { params: { query: { tn } } });
    assert.equal(success(await get("(305) 234-5678")).location?.rateCenter, "PERRINE");
    rejection(await get("1"), 400, "invalid_request");
  },
  "/v1/changes": async () => {
    const get = (query: { since?: string }) =>
      withKey.GET("/v1/changes", { params: { query: { ...query, limit: 2 } } });
    const { since, until, changes } = success(await get({}));
    assert.ok(since.published_at <= until.published_at && changes.length <= 2);
    rejection(await get({ since: "2000-01-01" }), 400, "invalid_request");
  },
  "/v1/npa/{npa}/nxx/{nxx}/history": async () => {
    const get = (npa: string) =>
      withKey.GET("/v1/npa/{npa}/nxx/{nxx}/history", { params: { path: { npa, nxx: "234" } } });
    assert.equal(success(await get("305")).pagination.limit, 50);
    rejection(await get("999"), 404, "not_found");
  },
  "/v1/carrier/{ocn}/history": async () => {
    const get = (ocn: string) => withKey.GET("/v1/carrier/{ocn}/history", { params: { path: { ocn } } });
    assert.equal(success(await get("6015")).pagination.limit, 50);
    rejection(await get("ZZZZ"), 404, "not_found");
  },
  "/v1/search": async () => {
    const query = { q: "sample wire", state: "NY", limit: 1 } as const;
    const found = success(await withKey.GET("/v1/search", { params: { query } }));
    assert.equal(found.results[0]?.company_name, "SAMPLE WIRELESS, LLC");
    rejection(await withKey.GET("/v1/search"), 400, "invalid_request");
  },
  "/v1/health": async () => {
    const health = success(await withoutKey.GET("/v1/health"));
    assert.ok(health.status === "healthy" && health.database === "connected");
    assert.ok(Date.parse(health.last_ingestion ?? "") <= Date.now());
  },
  "/health": async () => assert.equal(success(await withoutKey.GET("/health")).status, "healthy"),
  "/v1/stats": async () => {
    const stats = success(await withoutKey.GET("/v1/stats"));
    assert.equal((stats.by_country["US"] ?? 0) + (stats.by_country["CA"] ?? 0), stats.total_records);
  },
  "/v1/sources": async () => {
    const { reports } = success(await withoutKey.GET("/v1/sources"));
    assert.deepEqual(reports.map(({ report }) => report), ["nanpa", "cnac", "npa_report", "carriers", "ranges_gb"]);
    assert.ok((reports[0]?.percentages["holder"] ?? 0) > 50);
  },
  "/stats": async () => {
    assert.ok(success(await withoutKey.GET("/stats")).coverage.area_codes > 400);
  },
};

for (const [path, check] of Object.entries(checks)) {
  await check().catch((cause: unknown) => {
    throw new Error(path, { cause });
  });
}
console.log(`TypeScript: all ${Object.keys(checks).length} operations match the document`);
