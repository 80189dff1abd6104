/**
 * Helper, the baseline of `webhooks`: the guarded client alone, as many requests at once as a
 * webhook gets, nothing signed and nothing written. Says `{seconds}`.
 */

import "../../src/lib/production.ts";
import { Type } from "@sinclair/typebox";
import { createFetchGuarded } from "../../src/lib/fetch-guarded/fetch-guarded.ts";
import { parse } from "./children.ts";

const Settings = Type.Object({
  port: Type.Number(),
  requests: Type.Number(),
  atOnce: Type.Number(),
});

const { port, requests, atOnce } = parse(Settings, JSON.parse(Bun.argv[2] ?? "{}"));
const fetchGuarded = createFetchGuarded({
  dns: { resolve: () => Promise.reject(new Error("no name is asked for")) },
  allowPrivateAddresses: true,
});
const body = JSON.stringify({ type: "bought", data: { name: "bought", text: "x".repeat(250) } });
let sent = 0;

async function sendInTurn(): Promise<void> {
  while (sent < requests) {
    const headers = { "content-type": "application/json", "webhook-id": String(sent++) };
    const request = { method: "POST", headers, body };
    const { status } = await fetchGuarded(`http://127.0.0.1:${port}/`, request);
    if (status !== 204) throw new Error(`status ${status}`);
  }
}

const startedAt = performance.now();
await Promise.all(Array.from({ length: atOnce }, sendInTurn));
console.log(JSON.stringify({ seconds: (performance.now() - startedAt) / 1000 }));
process.exit(0);
