/** Inboxes without an API key: only in `mailstead dev`, and never for a page of another site. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createLocalAccess } from "../../src/http/local-access.ts";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { stringAt } from "../support/json.ts";
import { rawRequest, readRaw } from "../support/raw-http.ts";
import { expectError } from "../support/refusal.ts";

const rangesOf = (...texts: string[]) => texts.flatMap((text) => parseAddressRange(text) ?? []);

const access = createLocalAccess({
  allowedHosts: ["mail"],
  keylessPeers: rangesOf("172.18.0.0/16"),
  trustedProxies: rangesOf("172.18.0.9"),
});

type Outcome = "open" | "key" | "refused";
function outcomeOf(headers: Record<string, string>, peer: string | null): Outcome {
  const request = new Request("http://unused/", { headers });
  try {
    return access.isOpen(request, peer) ? "open" : "key";
  } catch {
    return "refused";
  }
}

const LOCAL = { host: "localhost:8025" };
const cases: [name: string, headers: Record<string, string>, peer: string | null, Outcome][] = [
  ["this machine", LOCAL, "127.0.0.1", "open"],
  ["this machine over IPv6", { host: "[::1]:8025" }, "::1", "open"],
  ["a mapped loopback address", { host: "127.0.0.1" }, "::ffff:127.0.0.1", "open"],
  ["another name of this machine", { host: "shop.localhost" }, "127.0.0.1", "open"],
  ["a final dot in the name", { host: "localhost." }, "127.0.0.1", "open"],
  ["another machine", LOCAL, "192.168.1.7", "key"],
  ["a closed socket", LOCAL, null, "key"],
  ["a proxy on this machine", { ...LOCAL, "x-forwarded-for": "8.8.8.8" }, "127.0.0.1", "key"],
  ["a proxy that names itself", { ...LOCAL, forwarded: "for=8.8.8.8" }, "127.0.0.1", "key"],
  ["a foreign host (DNS rebinding)", { host: "evil.example" }, "127.0.0.1", "refused"],
  ["a host that begins like ours", { host: "localhost.evil.example" }, "127.0.0.1", "refused"],
  ["a host that ends like ours", { host: "evillocalhost" }, "127.0.0.1", "refused"],
  ["no host", {}, "127.0.0.1", "refused"],
  ["an allowed host from a named machine", { host: "mail:8025" }, "172.18.0.3", "open"],
  ["a loopback name from a named machine", LOCAL, "172.18.0.1", "open"],
  ["another name from a named machine", { host: "evil.example" }, "172.18.0.3", "refused"],
  ["an allowed host from another machine", { host: "mail:8025" }, "203.0.113.7", "key"],
  ["an unknown proxy", { host: "mail", "x-forwarded-for": "172.18.0.3" }, "172.18.0.8", "key"],
  ["a trusted proxy", { host: "mail", "x-forwarded-for": "172.18.0.3" }, "172.18.0.9", "open"],
  [
    "a stranger behind a trusted proxy",
    { host: "mail", "x-forwarded-for": "172.18.0.3, 203.0.113.7" },
    "172.18.0.9",
    "key",
  ],
  ["a trusted proxy that names nobody", { host: "mail", via: "1.1 proxy" }, "172.18.0.9", "key"],
  ["a part of an allowed host", { host: "mai" }, "127.0.0.1", "refused"],
  ["our own page", { ...LOCAL, origin: "http://localhost:8025" }, "127.0.0.1", "open"],
  ["a foreign page", { ...LOCAL, origin: "https://evil.example" }, "127.0.0.1", "refused"],
  ["a page on another port", { ...LOCAL, origin: "http://localhost:3000" }, "127.0.0.1", "refused"],
  ["a sandboxed page", { ...LOCAL, origin: "null" }, "127.0.0.1", "refused"],
  [
    "a foreign page on an allowed host",
    { host: "mail", origin: "https://evil.example" },
    "172.18.0.3",
    "refused",
  ],
  [
    "a script of a foreign page",
    { ...LOCAL, "sec-fetch-site": "cross-site", "sec-fetch-mode": "no-cors" },
    "127.0.0.1",
    "refused",
  ],
  [
    "an image in a sandboxed page",
    { ...LOCAL, "sec-fetch-site": "cross-site", "sec-fetch-dest": "image" },
    "127.0.0.1",
    "open",
  ],
  [
    "a link on a foreign page",
    { ...LOCAL, "sec-fetch-site": "cross-site", "sec-fetch-mode": "navigate" },
    "127.0.0.1",
    "open",
  ],
];

describe("a request without a key from", () => {
  for (const [name, headers, peer, outcome] of cases) {
    test(`${name}: ${outcome}`, () => {
      expect(outcomeOf(headers, peer)).toBe(outcome);
    });
  }
});

describe("over a socket", () => {
  let open: TestApp;
  let closed: TestApp;
  const ports = { open: 0, closed: 0 };
  beforeAll(async () => {
    open = await testApp({ hasOpenInboxes: true, config: { port: 0 } });
    closed = await testApp({ config: { port: 0, allowedHosts: ["localhost"] } });
    ports.open = await open.app.listen();
    ports.closed = await closed.app.listen();
  });
  afterAll(async () => {
    await open.close();
    await closed.close();
  });

  const get = async (port: number, path: string, ...headers: string[]) =>
    readRaw(await rawRequest({ port, head: [`GET ${path} HTTP/1.1`, ...headers] }));

  test("dev answers inboxes without a key, and nothing else", async () => {
    expect((await get(ports.open, "/inboxes")).status).toBe(200);
    expectError(await get(ports.open, "/contacts"), { status: 401, code: "MISSING_AUTH" });
  });

  test("dev tells another machine by which names it needs no key", async () => {
    // A proxy stands for another machine, because the peer of a test is always this machine.
    const answer = await get(ports.open, "/inboxes", "X-Forwarded-For: 192.0.2.7");
    expectError(answer, { status: 401, code: "MISSING_AUTH" });
    expect(stringAt(answer.body, "error.suggestion")).toContain("--keyless-peer");
  });

  test("a wrong key is not the same as no key", async () => {
    const answer = await get(ports.open, "/inboxes", "Authorization: Bearer sk_wrong");
    expectError(answer, { status: 401, code: "INVALID_API_KEY" });
  });

  test("dev refuses a foreign page", async () => {
    const answer = await get(ports.open, "/inboxes", "Origin: https://evil.example");
    expectError(answer, { status: 403, code: "FORBIDDEN" });
  });

  test("serve needs a key, whatever its settings are", async () => {
    expectError(await get(ports.closed, "/inboxes"), { status: 401, code: "MISSING_AUTH" });
  });
});
