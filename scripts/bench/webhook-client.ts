/**
 * Helper, the baseline of `webhooks`: sends requests with the guarded HTTP client alone, as many at
 * once as a webhook may have. It signs nothing and stores nothing. Prints `{seconds}`.
 */

import "../../src/lib/production.ts";
import { Type } from "@sinclair/typebox";
import { createFetchGuarded } from "../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { parse } from "./children.ts";

const Settings = Type.Object({
  port: Type.Number(),
  requests: Type.Number(),
  concurrency: Type.Number(),
});

const { port, requests, concurrency } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const fetchGuarded = createFetchGuarded({
  dns: { resolve: () => Promise.reject(new Error("this helper connects to addresses only")) },
  allowPrivateAddresses: true,
});
const body = JSON.stringify({ type: "bought", data: { name: "bought", text: "x".repeat(250) } });
let sent = 0;

async function sendRequests(): Promise<void> {
  while (sent < requests) {
    const headers = { "content-type": "application/json", "webhook-id": String(sent++) };
    const request = { method: "POST", headers, body };
    const { status } = await fetchGuarded(`http://127.0.0.1:${port}/`, request);
    if (status !== 204) throw new Error(`status ${status}`);
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: concurrency }, sendRequests));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000 }));
process.exit(0);
