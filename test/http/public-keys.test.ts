/** The rate limits and the allowed origins of public keys. */

import { afterEach, describe, expect, test } from "bun:test";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";
import { createLog } from "../../src/lib/log.ts";
import { type TestApp, testApp, type TestOptions } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { rawRequest, readRaw } from "../support/raw-http.ts";
import { expectError } from "../support/refusal.ts";
import { createKey } from "../../src/modules/keys.ts";

const MINUTE_MS = 60_000;

let t: TestApp;
/** The application of a test with settings of its own. */
let own: TestApp | null = null;
afterEach(async () => {
  await own?.close();
  own = null;
});

async function open(options: TestOptions): Promise<TestApp> {
  own = await testApp(options);
  return own;
}

const event = { event: "seen", email: "ada@example.com" };
const body = JSON.stringify(event);

const track = (key = t.publicKey) => t.call("POST", "/v1/track", event, { key });
const budget = (headers: Headers) =>
  ["limit", "remaining", "reset"].map((name) => headers.get(`ratelimit-${name}`));

async function statuses(count: number, call: () => Promise<{ status: number }>) {
  const seen: number[] = [];
  for (let i = 0; i < count; i++) seen.push((await call()).status);
  return seen;
}

describe("the rate limit of public keys", () => {
  test("is counted per project, independently of the secret keys", async () => {
    t = await open({ config: { apiRate: 2, publicKeyRate: 3 } });
    expect(await statuses(5, track)).toEqual([200, 200, 200, 429, 429]);
    expect(await statuses(3, () => t.call("GET", "/contacts"))).toEqual([200, 200, 429]);
    expect(t.eventNames().filter((name) => name === "seen")).toHaveLength(3);
  });

  test("is not used up by requests with a secret key", async () => {
    t = await open({ config: { apiRate: 2, publicKeyRate: 1 } });
    expect(await statuses(3, () => track(t.secretKey))).toEqual([200, 200, 429]);
    expect(await statuses(2, track)).toEqual([200, 429]);
  });

  test("is shared by the public keys of a project and not by projects", async () => {
    t = await open({ config: { publicKeyRate: 1 } });
    const again = await t.makeProject("acme");
    const other = await t.makeProject("other");
    expect((await track()).status).toBe(200);
    expect((await track(again.publicKey)).status).toBe(429);
    expect((await track(other.publicKey)).status).toBe(200);
  });

  test("is shown in the RateLimit headers, and in Retry-After when it is reached", async () => {
    t = await open({ config: { apiRate: 50, publicKeyRate: 2 } });
    const seen = [];
    for (let i = 0; i < 3; i++) {
      const { status, headers } = await track();
      seen.push([status, ...budget(headers), headers.get("retry-after")]);
      t.clock.advance(10_000);
    }
    expect(seen).toEqual([
      [200, "2", "1", "60", null],
      [200, "2", "0", "50", null],
      [429, "2", "0", "40", "40"],
    ]);
    expect(budget((await t.call("GET", "/contacts")).headers)).toEqual(["50", "49", "60"]);
    t.clock.advance(30_000); // The first request is now 60 s old.
    expect((await track()).status).toBe(200);
  });

  test("does not change if the wall clock is set", async () => {
    t = await open({ config: { publicKeyRate: 1 } });
    await track();
    for (const step of [-3_600_000, 7_200_000]) {
      t.clock.stepWall(step);
      const answer = await track();
      expect([answer.status, answer.headers.get("retry-after")]).toEqual([429, "60"]);
    }
    t.clock.advance(MINUTE_MS);
    expect((await track()).status).toBe(200);
  });

  test("has a lower limit per client; 0 switches both limits off", async () => {
    t = await open({ config: { publicKeyRate: 1000, publicClientRate: 3 } });
    expect(await statuses(5, track)).toEqual([200, 200, 200, 429, 429]);
    await t.close();
    t = await open({ config: { publicKeyRate: 0, publicClientRate: 0 } });
    expect(budget((await track()).headers)).toEqual([null, null, null]);
  });

  test("refuses before the body is read, in the order of all checks", async () => {
    t = await open({ config: { publicKeyRate: 1 } });
    await track();
    const rest = { key: t.publicKey, raw: "{", headers: { "content-type": "application/json" } };
    const answer = await t.call("POST", "/v1/track", undefined, rest);
    expectError(answer, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
  });
});

describe("a public key with allowed origins", () => {
  const SHOP = "https://shop.example";
  const OTHER = "https://other.example";

  const projects = projectPerTest({ config: { publicKeyRate: 100 } });

  async function keyFor(...origins: string[]) {
    t = await projects.next();
    const options = { kind: "PUBLIC", name: "shop", expiresAt: null, origins } as const;
    return (await t.app.writer.write(() => createKey(t.app.app, t.project.seq, options))).text;
  }
  const from = (key: string, origin?: string, path = "/v1/track") =>
    t.call("POST", path, event, { key, headers: origin === undefined ? {} : { origin } });
  const cors = (headers: Headers) =>
    ["access-control-allow-origin", "vary"].map((name) => headers.get(name));

  test("works for pages of these origins, with CORS headers", async () => {
    const key = await keyFor(SHOP, OTHER);
    for (const origin of [SHOP, OTHER]) {
      const answer = await from(key, origin);
      expect([answer.status, ...cors(answer.headers)]).toEqual([200, origin, "Origin"]);
    }
    expect(t.eventNames()).toEqual(["contact.subscribed", "seen", "seen"]);
  });

  const refused: (string | undefined)[] = [
    undefined,
    "",
    "null",
    "*",
    "https://evil.example",
    "http://shop.example",
    "https://shop.example:8443",
    "https://shop.example.evil.example",
    "https://evil.example/https://shop.example",
    "https://shop.example/",
    "https://Shop.example",
    `${SHOP}, ${SHOP}`,
    `${SHOP} ${OTHER}`,
    "https://a.shop.example",
  ];
  for (const origin of refused) {
    test(`is refused with the Origin ${JSON.stringify(origin)}, and nothing changes`, async () => {
      const key = await keyFor(SHOP, OTHER);
      const before = t.contents();
      for (const path of ["/v1/track", "/v1/track/"]) {
        const answer = await from(key, origin, path);
        expectError(answer, { status: 403, code: "FORBIDDEN" });
        expect(answer.text("error.message")).toContain("Origin");
        // With this header the page can read the error.
        expect(cors(answer.headers)).toEqual(["*", "Origin"]);
        expect(budget(answer.headers)).toEqual([null, null, null]);
      }
      expect(t.contents()).toEqual(before);
    });
  }

  test("sends the CORS headers also with other errors", async () => {
    const key = await keyFor(SHOP);
    const answer = await t.call("POST", "/v1/track", {}, { key, headers: { origin: SHOP } });
    expect([answer.status, ...cors(answer.headers)]).toEqual([422, SHOP, "Origin"]);
  });

  test("is refused as a public key on other routes", async () => {
    const key = await keyFor(SHOP);
    const answer = await t.call("GET", "/contacts", undefined, { key, headers: { origin: SHOP } });
    expectError(answer, { status: 403, code: "FORBIDDEN" });
    expect(cors(answer.headers)).toEqual([null, null]);
  });

  test("does not affect other keys, which accept any origin or none", async () => {
    await keyFor(SHOP);
    for (const key of [t.publicKey, t.secretKey]) {
      for (const origin of [undefined, SHOP, "https://evil.example", "null"]) {
        const answer = await from(key, origin);
        expect([answer.status, ...cors(answer.headers)]).toEqual([200, "*", null]);
      }
    }
  });

  test("does not affect a preflight, which has no key", async () => {
    await keyFor(SHOP);
    const headers = { origin: "https://evil.example", "access-control-request-method": "POST" };
    const answer = await t.call("OPTIONS", "/v1/track", undefined, { key: null, headers });
    expect([answer.status, ...cors(answer.headers)]).toEqual([204, "*", null]);
  });
});

describe("on a socket", () => {
  const trustedProxies = ["127.0.0.8/31", "127.0.0.100"].flatMap(
    (text) => parseAddressRange(text) ?? [],
  );
  const PROXY = "127.0.0.8";

  const config = { port: 0, publicKeyRate: 10, publicClientRate: 2, trustedProxies };
  const projects = projectPerTest({ config });
  let sharedPort = 0;

  /** An application on a socket: the one that the tests share, or one with other settings. */
  async function listening(changes: TestOptions["config"] = {}, rest: TestOptions = {}) {
    const isShared = Object.keys({ ...changes, ...rest }).length === 0;
    t = isShared
      ? await projects.next()
      : await open({ config: { ...config, ...changes }, ...rest });
    if (isShared && sharedPort === 0) sharedPort = await t.app.listen();
    const port = isShared ? sharedPort : await t.app.listen();
    return async (from: string, forwardedFor?: string, key = t.publicKey) => {
      const forwarded = forwardedFor === undefined ? [] : [`X-Forwarded-For: ${forwardedFor}`];
      const head = [
        "POST /v1/track HTTP/1.1",
        `Authorization: Bearer ${key}`,
        "Content-Type: application/json",
        `Content-Length: ${body.length}`,
        ...forwarded,
      ];
      return readRaw(await rawRequest({ port, head, body: [body], localAddress: from }));
    };
  }

  test("each client address has its own limit, which the headers show", async () => {
    const request = await listening();
    const first = await request("127.0.0.2");
    expect([first.status, ...budget(first.headers)]).toEqual([200, "2", "1", "60"]);
    expect((await request("127.0.0.2")).status).toBe(200);
    const refused = await request("127.0.0.2");
    expectError(refused, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(budget(refused.headers)).toEqual(["2", "0", "60"]);
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await request("127.0.0.3")).status).toBe(200);
  });

  test("a refused request of a client does not count for the limit of the project", async () => {
    const request = await listening({ publicKeyRate: 4 });
    const seen = await statuses(9, () => request("127.0.0.2"));
    expect(seen.filter((status) => status === 200)).toHaveLength(2);
    const second = await request("127.0.0.3");
    expect([second.status, ...budget(second.headers)]).toEqual([200, "4", "1", "60"]);
  });

  test("a refused request of a project does not count for the limit of the client", async () => {
    const request = await listening({ publicKeyRate: 1 });
    expect((await request("127.0.0.2")).status).toBe(200);
    t.clock.advance(30_000);
    expect(await statuses(5, () => request("127.0.0.3"))).toEqual([429, 429, 429, 429, 429]);
    t.clock.advance(30_000); // The accepted request is now 60 s old, the refused ones 30 s.
    const next = await request("127.0.0.3");
    expect(next.status).toBe(200);
  });

  test("a client is counted separately for each project", async () => {
    const request = await listening({ publicClientRate: 1 });
    const other = await t.makeProject("other");
    expect((await request("127.0.0.2")).status).toBe(200);
    expect((await request("127.0.0.2", undefined, other.publicKey)).status).toBe(200);
    expect((await request("127.0.0.2")).status).toBe(429);
  });

  test("requests with a secret key have no limit per client", async () => {
    const request = await listening();
    const call = () => request("127.0.0.2", undefined, t.secretKey);
    expect(await statuses(4, call)).toEqual([200, 200, 200, 200]);
  });

  test("a forged X-Forwarded-For does not change the client", async () => {
    const request = await listening();
    let n = 0;
    const forging = () => request("127.0.0.2", `203.0.113.${n++}, 127.0.0.8`);
    expect(await statuses(4, forging)).toEqual([200, 200, 429, 429]);
  });

  test("clients behind a trusted proxy are distinguished, also with forged entries", async () => {
    const request = await listening();
    let n = 0;
    const first = () => request(PROXY, `198.51.100.${n++}, 203.0.113.1`);
    expect(await statuses(3, first)).toEqual([200, 200, 429]);
    expect((await request(PROXY, "203.0.113.2")).status).toBe(200);
    expect((await request("127.0.0.9", "203.0.113.1, 127.0.0.100")).status).toBe(429);
  });

  test("two X-Forwarded-For headers form one list in their order", async () => {
    const request = await listening({ publicClientRate: 1 });
    const header = "198.51.100.1\r\nX-Forwarded-For: 203.0.113.1";
    expect((await request(PROXY, header)).status).toBe(200);
    expect((await request(PROXY, "203.0.113.1")).status).toBe(429);
    expect((await request(PROXY, "198.51.100.1")).status).toBe(200);
  });

  test("IPv6 clients behind a proxy are counted by their /64", async () => {
    const request = await listening();
    let n = 0;
    const call = () => request(PROXY, `2001:db8:1:2::${(n++).toString(16)}`);
    expect(await statuses(3, call)).toEqual([200, 200, 429]);
    expect((await request(PROXY, "2001:db8:1:3::1")).status).toBe(200);
  });

  test("an entry that is not an address counts for the proxy that wrote it", async () => {
    const request = await listening();
    const entries = ["unknown", "", "203.0.113.1, x".repeat(200)];
    const seen = [];
    for (const entry of entries) seen.push((await request(PROXY, entry)).status);
    expect(seen).toEqual([200, 200, 429]);
    expect((await request("127.0.0.9", "203.0.113.1")).status).toBe(200);
  });

  test("failed authentication is limited by the same client address", async () => {
    const request = await listening();
    const guess = (client: string) => request(PROXY, client, "sk_guess");
    for (let i = 0; i < 20; i++) expect((await guess("203.0.113.1")).status).toBe(401);
    expect((await guess("203.0.113.1")).status).toBe(429);
    expect((await guess("203.0.113.2")).status).toBe(401);
    // Another IPv6 address of the same network is the same client.
    for (let i = 0; i < 20; i++) expect((await guess(`2001:db8:1:2::${i}`)).status).toBe(401);
    expect((await guess("2001:db8:1:2::ffff")).status).toBe(429);
  });

  test("an ignored X-Forwarded-For is logged once, with the setting to use", async () => {
    const lines: string[] = [];
    const log = createLog({ level: "warn", format: "json", write: (line) => lines.push(line) });
    const request = await listening({}, { log });
    for (let i = 0; i < 3; i++) await request("127.0.0.2", "203.0.113.1");
    await request(PROXY, "203.0.113.1");
    const told = lines.filter((line) => line.includes("X-Forwarded-For"));
    expect(told).toHaveLength(1);
    expect(JSON.parse(told[0] ?? "{}")).toMatchObject({ level: "warn", peer: "127.0.0.2" });
    expect(told[0]).toContain("--trusted-proxy");
  });
});
