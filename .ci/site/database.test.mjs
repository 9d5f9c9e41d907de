// Attacks on the embedded database from another host's page in the same browser.

import assert from "node:assert/strict";
import { createServer } from "node:http";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";

import { KEY, SERVICE_URL, withForeignPage, startBrowser, stopBrowser } from "./browser.mjs";

const variables = Object.fromEntries(readFileSync(join(process.env.TNR_FOLDER, "dynamodb.env"), "utf8")
  .trim().split("\n").map((line) => line.split("=")));
const DATABASE = variables.AWS_ENDPOINT_URL_DYNAMODB;
/** The hash of an unregistered key. */
const HASH = "0".repeat(64);

let other;

before(async () => {
  await startBrowser();
  other = createServer((_, response) => response.setHeader("content-type", "text/html").end("<p>Another host</p>"));
  await new Promise((listening) => other.listen(0, "127.0.0.1", listening));
});
after(async () => {
  await stopBrowser();
  other.close();
});

/** Calls the database from a script on the page, and returns the status or the error's name. */
const call = (tab, operation, body, accessKeyId, options) => tab.evaluate(async ([url, operation, body, id, options]) => {
  const headers = { "content-type": "application/x-amz-json-1.0", "x-amz-target": `DynamoDB_20120810.${operation}` };
  const signature = "SignedHeaders=host;x-amz-date, Signature=00";
  headers.authorization = `AWS4-HMAC-SHA256 Credential=${id}/20261101/us-east-1/dynamodb/aws4_request, ${signature}`;
  headers["x-amz-date"] = "20261101T000000Z";
  const sent = options.mode === "no-cors" ? {} : headers;
  return fetch(url, { method: "POST", headers: sent, body: JSON.stringify(body), ...options })
    .then((response) => response.status, (error) => error.name);
}, [DATABASE, operation, body, accessKeyId, options]);

test("a page on another host can neither read nor write the embedded database", () =>
  withForeignPage(`http://127.0.0.1:${other.address().port}/`, async (tab) => {
    const item = { key_hash: { S: HASH }, prefix: { S: "tnr_live_000000" }, name: { S: "from a page" } };
    // Even if the page knows the credential.
    for (const id of ["local", variables.AWS_ACCESS_KEY_ID]) {
      assert.equal(await call(tab, "PutItem", { TableName: "api_keys", Item: item }, id, {}), "TypeError", id);
      assert.equal(await call(tab, "Scan", { TableName: "api_keys" }, id, {}), "TypeError", id);
      // A browser sends this without a preflight, and hides the response.
      assert.equal(await call(tab, "PutItem", { TableName: "api_keys", Item: item }, id, { mode: "no-cors" }), 0, id);
    }
    const stored = await fetch(DATABASE, {
      method: "POST",
      headers: {
        "content-type": "application/x-amz-json-1.0",
        "x-amz-target": "DynamoDB_20120810.Scan",
        "x-amz-date": "20261101T000000Z",
        authorization: `AWS4-HMAC-SHA256 Credential=${variables.AWS_ACCESS_KEY_ID}/20261101/us-east-1/dynamodb/aws4_request, SignedHeaders=host, Signature=00`,
      },
      body: JSON.stringify({ TableName: "api_keys" }),
    });
    const text = await stored.text();
    assert.ok(text.includes(KEY.slice(0, 15)) && !text.includes(HASH), text);
    // Pages may call the API itself, with a key.
    const status = await tab.evaluate(([url, key]) => fetch(url, { headers: { "x-api-key": key } }).then((it) => it.status),
      [`${SERVICE_URL}/v1/npa/415?limit=1`, KEY]);
    assert.equal(status, 200);
  }));
