/** Uses real servers on loopback. The addresses 127.0.0.2 and 127.0.0.3 count as public. */

import { afterEach, describe, expect, test } from "bun:test";
import type { ServerResponse } from "node:http";
import net from "node:net";
import { gzipSync } from "node:zlib";
import { createDns } from "../../../src/protocols/dns/client.ts";
import {
  createFetchGuarded,
  type FetchGuardedOptions,
  type GuardedRequest,
} from "../../../src/protocols/fetch-guarded/fetch-guarded.ts";
import { FetchRefused, type RefusalReason } from "../../../src/protocols/fetch-guarded/refusal.ts";
import { VERSION } from "../../../src/lib/version.ts";
import { manualClock } from "../../support/clock.ts";
import { startDnsServer, type TestRecords } from "../../support/dns-server.ts";
import { settleEventLoop, waitUntil } from "../../support/eventually.ts";
import { portOf } from "../../support/smtp-sink.ts";
import { makeCertificate } from "../../support/tls.ts";
import { startWebServer, type WebServer, type WebServerOptions } from "../../support/web-server.ts";

const closers: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close();
});

const PUBLIC = ["127.0.0.2", "127.0.0.3", "127.0.0.4"];
const RECORDS: Record<string, TestRecords> = {
  "hook.test": { A: ["127.0.0.2"] },
  "other.test": { A: ["127.0.0.3"] },
  "inside.test": { A: ["127.0.0.1", "10.0.0.1"], AAAA: ["::1", "fe80::1"] },
  "mixed.test": { A: ["127.0.0.1", "127.0.0.2"] },
  "two.test": { A: ["127.0.0.4", "127.0.0.2"] },
  "alias.test": { CNAME: "inside.test" },
  "empty.test": { TXT: ["nothing"] },
};

async function setUp(options: Partial<FetchGuardedOptions> = {}) {
  const clock = manualClock();
  const dnsServer = await startDnsServer({
    records: RECORDS,
    failures: { "broken.test": "servfail", "silent.test": "timeout" },
    ttlSeconds: 5,
  });
  const dns = createDns({ servers: [dnsServer.server], clock, timeoutMs: 3_000, tries: 1 });
  closers.push(() => dnsServer.close(), dns.close);
  const fetchGuarded = createFetchGuarded({
    dns,
    allowPrivateAddresses: false,
    isPublic: (address) => PUBLIC.includes(address),
    clock,
    ...options,
  });
  const get = (url: string, request: Partial<GuardedRequest> = {}) =>
    fetchGuarded(url, { method: "GET", ...request });
  return { clock, dnsServer, fetchGuarded, get };
}

async function web(options: WebServerOptions = {}) {
  const server = await startWebServer({ address: "127.0.0.2", ...options });
  closers.push(() => server.close());
  return server;
}

/** Starts a server that writes these bytes to every client. */
async function rawServer(bytes: string): Promise<number> {
  const server = net.createServer((socket) => {
    socket.on("error", () => socket.destroy());
    socket.once("data", () => socket.end(bytes));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.2", resolve));
  closers.push(() => server.close());
  return portOf(server);
}

async function refusal(underWay: Promise<unknown>): Promise<FetchRefused> {
  const error: unknown = await underWay.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof FetchRefused)) throw new Error(`not refused: ${String(error)}`);
  return error;
}

describe("a request", () => {
  test("is sent unchanged, with the name of the host, to the resolved address", async () => {
    const { fetchGuarded } = await setUp();
    const server = await web({
      answer: () => ({ status: 418, headers: { "x-answer": "1" }, body: "tea" }),
    });
    const response = await fetchGuarded(`http://hook.test:${server.port}/a?b=c#d`, {
      method: "post",
      headers: { "Content-Type": "application/json", "X-Key": "k" },
      body: '{"ü":1}',
    });
    expect(response.status).toBe(418);
    expect(response.headers.get("x-answer")).toBe("1");
    expect(Buffer.from(response.body).toString()).toBe("tea");
    expect(response.isTruncated).toBe(false);
    expect(server.requests).toMatchObject([
      {
        method: "POST",
        path: "/a?b=c",
        body: '{"ü":1}',
        headers: {
          host: `hook.test:${server.port}`,
          "content-type": "application/json",
          "x-key": "k",
          "user-agent": `Mailstead/${VERSION}`,
          "accept-encoding": "identity",
        },
      },
    ]);
  });

  test("is sent to literal addresses and to names with a final dot", async () => {
    const { get } = await setUp();
    const server = await web();
    expect((await get(`http://127.0.0.2:${server.port}/`)).status).toBe(200);
    expect((await get(`http://HOOK.test.:${server.port}/`)).status).toBe(200);
    expect(server.requests.map(({ headers }) => headers.host)).toEqual([
      `127.0.0.2:${server.port}`,
      `hook.test:${server.port}`,
    ]);
  });

  test("closes its connection, so that no other request uses it", async () => {
    const { get } = await setUp();
    const server = await web();
    await get(`http://hook.test:${server.port}/`);
    await waitUntil(() => server.connections() === 0);
  });

  test("uses no proxy from the environment", async () => {
    const proxy = await web();
    const server = await web({ answer: () => ({ body: "direct" }) });
    const { get } = await setUp();
    const names = ["http_proxy", "HTTP_PROXY", "ALL_PROXY"];
    const before = names.map((name) => [name, process.env[name]] as const);
    for (const name of names) process.env[name] = proxy.origin;
    try {
      expect(await (await fetch(server.origin)).text()).not.toBe("direct");
      const response = await get(`http://hook.test:${server.port}/`);
      expect(Buffer.from(response.body).toString()).toBe("direct");
      expect(proxy.requests.length).toBe(1);
    } finally {
      for (const [name, value] of before) {
        if (value === undefined) delete process.env[name];
        else process.env[name] = value;
      }
    }
  });

  test.each<[what: string, request: Partial<GuardedRequest>]>([
    ["CONNECT", { method: "CONNECT" }],
    ["TRACE", { method: "TRACE" }],
    ["an invalid method", { method: "GET / HTTP/1.1\r\nX: y" }],
    ["another Host", { headers: { Host: "other.test" } }],
    ["a length", { headers: { "content-length": "3" } }],
    ["a transfer coding", { headers: { "Transfer-Encoding": "chunked" } }],
    ["an upgrade", { headers: { Upgrade: "websocket" } }],
    ["a proxy header", { headers: { "Proxy-Authorization": "Basic x" } }],
    ["a line end in a value", { headers: { "x-a": "b\r\nhost: c" } }],
    ["a space in a name", { headers: { "x a": "b" } }],
  ])("is refused with %s", async (_, request) => {
    const { get } = await setUp();
    const server = await web();
    const refused = await refusal(get(`http://hook.test:${server.port}/`, request));
    expect(refused).toMatchObject({ reason: "invalid_request", isTemporary: false });
    expect(server.requests).toEqual([]);
  });
});

/** A server outside and one inside, with the same port. Another program can have the second one. */
async function webPair(tries = 5): Promise<{ outside: WebServer; inside: WebServer }> {
  const outside = await web();
  try {
    return { outside, inside: await web({ address: "127.0.0.1", port: outside.port }) };
  } catch (error) {
    if (tries === 1) throw error;
    return webPair(tries - 1);
  }
}

describe("the address", () => {
  test.each([
    "http://127.0.0.1",
    "http://2130706433",
    "http://[::ffff:127.0.0.1]",
    "http://localhost",
    "http://inside.test",
    "http://alias.test",
    "http://alias.test.",
  ])("of this machine is refused: %s", async (origin) => {
    const { get } = await setUp();
    const server = await web({ address: "127.0.0.1" });
    const refused = await refusal(get(`${origin}:${server.port}/`));
    expect(refused).toMatchObject({ reason: "private_address", isTemporary: false });
    expect(refused.message).not.toContain("10.0.0.1");
    expect(server.requests).toEqual([]);
  });

  test("is the public one if there are private ones as well", async () => {
    const { get } = await setUp();
    const outside = await web();
    const inside = await web({ address: "127.0.0.1", port: outside.port });
    await get(`http://mixed.test:${outside.port}/`);
    expect([outside.requests.length, inside.requests.length]).toEqual([1, 0]);
  });

  test("is the next one if the first refuses the connection", async () => {
    const { get } = await setUp();
    const server = await web();
    expect((await get(`http://two.test:${server.port}/`)).status).toBe(200);
  });

  test("is the checked one, even if the DNS answer changes meanwhile", async () => {
    const { get, dnsServer, clock } = await setUp();
    const { outside, inside } = await webPair();
    const url = `http://hook.test:${outside.port}/`;
    // From now on the name has a private address, which a second look-up would find.
    outside.answer = () => {
      dnsServer.records["hook.test"] = { A: ["127.0.0.1"] };
      return {};
    };
    await get(url);
    expect(dnsServer.count("hook.test A ")).toBe(1);
    clock.advance(6_000);
    expect((await refusal(get(url))).reason).toBe("private_address");
    expect(dnsServer.count("hook.test A ")).toBe(2);
    expect([outside.requests.length, inside.requests.length]).toEqual([1, 0]);
  });

  test.each<[host: string, reason: RefusalReason, isTemporary: boolean]>([
    ["nowhere.test", "unresolvable", true],
    ["empty.test", "unresolvable", true],
    ["broken.test", "unresolvable", true],
    ["silent.test", "timeout", true],
  ])("of %s: %s", async (host, reason, isTemporary) => {
    const { get, clock, dnsServer } = await setUp({ timeoutMs: 150 });
    const refusing = refusal(get(`http://${host}/`));
    await waitUntil(() => dnsServer.count(`${host} A`) > 0);
    if (reason === "timeout") clock.advance(150);
    const refused = await refusing;
    expect(refused).toMatchObject({ reason, isTemporary });
  });

  test("may be private if that is allowed, and localhost is this machine", async () => {
    const { get, dnsServer } = await setUp({ allowPrivateAddresses: true });
    const server = await web({ address: "127.0.0.1" });
    for (const host of ["127.0.0.1", "localhost", "a.localhost", "inside.test"]) {
      expect((await get(`http://${host}:${server.port}/`)).status).toBe(200);
    }
    expect(dnsServer.count("localhost")).toBe(0);
  });
});

describe("a redirect", () => {
  const CREDENTIALS = {
    authorization: "Bearer s",
    cookie: "a=b",
    "webhook-signature": "v1,x",
    "x-api-key": "k",
    "content-type": "text/plain",
  };

  test.each([
    [301, "POST"],
    [302, "POST"],
    [301, "PUT"],
    [307, "POST"],
    [308, "POST"],
    [302, "GET"],
    [303, "GET"],
    [303, "HEAD"],
  ])("%i: %s is repeated unchanged", async (status, method) => {
    const { fetchGuarded } = await setUp();
    const server = await web({
      answer: (_, count) => (count === 1 ? { status, headers: { location: "/b?c" } } : {}),
    });
    const url = `http://hook.test:${server.port}/a`;
    await fetchGuarded(url, { method, headers: CREDENTIALS, body: "x" });
    const [first, second] = server.requests;
    expect(second).toMatchObject({ method, path: "/b?c", body: first?.body });
    expect(second?.headers["content-type"]).toBe("text/plain");
    expect(second?.headers.authorization).toBe("Bearer s");
  });

  test.each(["POST", "PUT", "DELETE"])(
    "303 is the answer to %s: nothing was taken",
    async (method) => {
      const { fetchGuarded } = await setUp();
      const server = await web({ answer: () => ({ status: 303, headers: { location: "/b" } }) });
      const url = `http://hook.test:${server.port}/a`;
      expect((await fetchGuarded(url, { method, body: "x" })).status).toBe(303);
      expect(server.requests).toHaveLength(1);
    },
  );

  test("to another origin sends no credentials", async () => {
    const { fetchGuarded } = await setUp();
    const other = await web({ address: "127.0.0.3" });
    const location = `http://other.test:${other.port}/`;
    const server = await web({ answer: () => ({ status: 307, headers: { location } }) });
    await fetchGuarded(`http://hook.test:${server.port}/`, {
      method: "POST",
      headers: { ...CREDENTIALS, "user-agent": "me" },
      body: "x",
    });
    expect(server.requests[0]?.headers).toMatchObject(CREDENTIALS);
    const [arrived] = other.requests;
    expect(Object.keys(arrived?.headers ?? {}).toSorted()).toEqual([
      "accept",
      "accept-encoding",
      "content-length",
      "content-type",
      "host",
      "user-agent",
    ]);
    expect(arrived).toMatchObject({
      method: "POST",
      body: "x",
      headers: { host: `other.test:${other.port}` },
    });
  });

  test.each<[location: string, reason: RefusalReason]>([
    ["http://127.0.0.1:PORT/", "private_address"],
    ["http://2130706433:PORT/", "private_address"],
    ["//inside.test:PORT/", "private_address"],
    ["http://localhost:PORT/", "private_address"],
    ["http://169.254.169.254/latest/meta-data/", "private_address"],
    ["file:///etc/passwd", "scheme"],
    ["http://a:b@hook.test:PORT/", "credentials"],
    ["http://hook.test:25/", "port"],
    ["http://[", "invalid_url"],
  ])("to %s is refused: %s", async (location, reason) => {
    const { get } = await setUp();
    const inside = await web({ address: "127.0.0.1" });
    const to = location.replace("PORT", String(inside.port));
    const server = await web({ answer: () => ({ status: 302, headers: { location: to } }) });
    const refused = await refusal(get(`http://hook.test:${server.port}/`));
    expect(refused).toMatchObject({ reason, isTemporary: false });
    expect([server.requests.length, inside.requests.length]).toEqual([1, 0]);
  });

  test("is followed at most five times", async () => {
    const { get } = await setUp();
    const server = await web({
      answer: (_, count) => (count === 6 ? {} : { status: 302, headers: { location: "/" } }),
    });
    expect((await get(`http://hook.test:${server.port}/`)).status).toBe(200);
    server.answer = () => ({ status: 302, headers: { location: "/" } });
    server.requests.length = 0;
    const refused = await refusal(get(`http://hook.test:${server.port}/`));
    expect(refused.reason).toBe("too_many_redirects");
    expect(server.requests.length).toBe(6);
  });

  test.each([[300], [304], [302]])("%i without a location is the response", async (status) => {
    const { get } = await setUp();
    const server = await web({
      answer: () => ({ status, headers: status === 302 ? {} : { location: "/b" } }),
    });
    expect((await get(`http://hook.test:${server.port}/`)).status).toBe(status);
  });
});

describe("a response", () => {
  test("is read up to 64 KiB, then the connection is closed, so 1 GB is never read", async () => {
    const { get } = await setUp();
    const chunk = Buffer.alloc(65_536, 97);
    let written = 0;
    const server = await web({
      answer: () => ({
        write: (response) => {
          const more = () => {
            while (written < 1e9 && !response.destroyed) {
              written += chunk.length;
              if (!response.write(chunk)) return void response.once("drain", more);
            }
          };
          more();
        },
      }),
    });
    const response = await get(`http://hook.test:${server.port}/`);
    expect([response.status, response.body.length]).toEqual([200, 65_536]);
    expect(response.isTruncated).toBe(true);
    await waitUntil(() => server.connections() === 0);
    expect(written).toBeLessThan(50e6);
  });

  test("of exactly 64 KiB is not truncated", async () => {
    const { get } = await setUp();
    const server = await web({ answer: () => ({ body: "a".repeat(65_536) }) });
    const { body, isTruncated } = await get(`http://hook.test:${server.port}/`);
    expect([body.length, isTruncated]).toEqual([65_536, false]);
  });

  test("is not decompressed, so a compression bomb stays small", async () => {
    const { get } = await setUp();
    const body = gzipSync(Buffer.alloc(20_000_000));
    const server = await web({ answer: () => ({ headers: { "content-encoding": "gzip" }, body }) });
    const response = await get(`http://hook.test:${server.port}/`);
    expect(response.headers.get("content-encoding")).toBe("gzip");
    expect(Buffer.from(response.body).equals(body.subarray(0, 65_536))).toBe(true);
  });

  test.each<[what: string, write: (response: ServerResponse) => void]>([
    ["never comes", () => {}],
    ["has no end", (response) => void response.write("a")],
  ])("that %s ends in the timeout of the whole request", async (_, write) => {
    const { get, clock } = await setUp({ timeoutMs: 150 });
    const server = await web({ answer: () => ({ write }) });
    const refusing = refusal(get(`http://hook.test:${server.port}/`));
    await waitUntil(() => server.requests.length === 1);
    await settleEventLoop();
    clock.advance(150);
    const refused = await refusing;
    expect(refused).toMatchObject({ reason: "timeout", isTemporary: true });
    expect(refused.message).toBe("Timed out: no answer within 0.15 s.");
    await waitUntil(() => server.connections() === 0);
  });

  test("is not awaited after the caller has aborted, before or during the request", async () => {
    const { get } = await setUp();
    const server = await web({ answer: () => ({ write: () => {} }) });
    const url = `http://hook.test:${server.port}/`;
    expect((await refusal(get(url, { signal: AbortSignal.abort() }))).reason).toBe("aborted");
    const ender = new AbortController();
    const underWay = refusal(get(url, { signal: ender.signal }));
    await waitUntil(() => server.requests.length > 0);
    ender.abort();
    expect(await underWay).toMatchObject({ reason: "aborted", isTemporary: true });
    await waitUntil(() => server.connections() === 0);
  });

  test.each([
    ["nothing", ""],
    ["noise", "noise\r\n\r\n"],
    ["an incomplete body", "HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf"],
    ["headers without end", `HTTP/1.1 200 OK\r\n${"x: aaaaaaaaaaaaaaaa\r\n".repeat(100_000)}`],
  ])("that is %s is refused", async (_, bytes) => {
    const { get } = await setUp();
    const refused = await refusal(get(`http://hook.test:${await rawServer(bytes)}/`));
    expect(refused).toMatchObject({ reason: "network", isTemporary: true });
  });

  test("is missing if no server listens", async () => {
    const { get } = await setUp();
    const server = await web();
    await server.close();
    const refused = await refusal(get(`http://hook.test:${server.port}/`));
    expect(refused).toMatchObject({ reason: "network", isTemporary: true });
  });
});

describe("TLS", () => {
  const certificate = makeCertificate(["hook.test", "127.0.0.2"]);

  test("verifies the name of the host, or its address", async () => {
    const { get } = await setUp({ ca: certificate.ca });
    const server = await web({ certificate });
    for (const host of ["hook.test", "hook.test.", "127.0.0.2"]) {
      expect((await get(`https://${host}:${server.port}/`)).status).toBe(200);
    }
    expect(server.requests[0]?.headers.host).toBe(`hook.test:${server.port}`);
  });

  test.each<[what: string, options: Partial<FetchGuardedOptions>, host: string]>([
    ["for another name", { ca: certificate.ca }, "mixed.test"],
    ["of an unknown authority", {}, "hook.test"],
  ])("refuses a certificate %s, independent of the environment", async (_, options, host) => {
    const { get } = await setUp(options);
    const server = await web({ certificate });
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    try {
      const refused = await refusal(get(`https://${host}:${server.port}/`));
      expect(refused).toMatchObject({ reason: "tls", isTemporary: true });
      expect(server.requests).toEqual([]);
    } finally {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    }
  });
});
