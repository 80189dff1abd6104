/** The routes of the dashboard: its page, its files, and their headers. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { gunzipSync } from "node:zlib";
import { acceptsEncoding } from "../../src/http/accept-encoding.ts";
import { uiRoutes } from "../../src/http/ui.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { buildDashboard } from "../support/browser.ts";
import { expectError } from "../support/refusal.ts";

let t: TestApp;
let files: string[];
beforeAll(async () => {
  buildDashboard();
  t = await testApp();
  files = readdirSync(join(import.meta.dir, "../../dist/ui"));
}, 60_000);
afterAll(() => t.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  t.app.handle(new Request(`http://localhost${path}`, { headers }));
const nameOf = (pattern: RegExp) => files.find((file) => pattern.test(file)) ?? "missing";
const script = () => nameOf(/^index-\w+\.js\.br$/).replace(/\.br$/, "");

describe("the page", () => {
  test("is opened by the address of the server", async () => {
    const { status, headers } = await get("/");
    expect([status, headers.get("location")]).toEqual([302, "/app"]);
  });

  test.each(["/app", "/app/", "/app/login", "/app/p/prj_1/emails?status=SENT"])(
    "%s has the security headers and is not stored",
    async (path) => {
      const { status, headers } = await get(path, { "sec-fetch-site": "none" });
      expect(status).toBe(200);
      expect(headers.get("content-type")).toBe("text/html; charset=utf-8");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("referrer-policy")).toBe("same-origin");
      expect(headers.get("cross-origin-opener-policy")).toBe("same-origin");
    },
  );

  test("isolates its window where the browser trusts the origin", async () => {
    const policy = async (headers: Record<string, string>) =>
      (await get("/app", headers)).headers.get("cross-origin-opener-policy");
    expect(await policy({ "x-forwarded-proto": "https" })).toBe("same-origin");
    expect(await policy({ "x-forwarded-proto": "http" })).toBeNull();
    expect(await policy({})).toBeNull();
  });

  test("has a policy that allows neither inline scripts nor other servers", async () => {
    const policy = (await get("/app")).headers.get("content-security-policy") ?? "";
    expect(policy.replace(/'nonce-[\w+/]{24}'/, "NONCE").split("; ")).toEqual([
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self' NONCE",
      "img-src 'self' data: blob:",
      "font-src 'self'",
      "connect-src 'self'",
      "frame-src 'self'",
      "manifest-src 'self'",
      "form-action 'self'",
      "base-uri 'none'",
      "frame-ancestors 'none'",
    ]);
  });

  test("has a new nonce at each request, the same as in its policy", async () => {
    const nonces = [];
    for (let i = 0; i < 3; i++) {
      const response = await get("/app");
      const html = await response.text();
      const [, nonce = "none"] = /name="csp-nonce" content="([^"]+)"/.exec(html) ?? [];
      expect(response.headers.get("content-security-policy")).toContain(`'nonce-${nonce}'`);
      nonces.push(nonce);
    }
    expect(new Set(nonces).size).toBe(3);
  });

  test("refers only to its own files, which exist", async () => {
    const html = await (await get("/app")).text();
    const named = [...html.matchAll(/(?:src|href)="([^"]+)"/g)].map(([, path = ""]) => path);
    expect(named.length).toBeGreaterThanOrEqual(4);
    for (const path of named) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  test("explains how to build the dashboard when it is missing", async () => {
    const response = await uiRoutes({
      signInPath: async () => null,
      find: async () => null,
    }).handle(new Request("http://localhost/app"));
    expect(response.status).toBe(503);
    expect(await response.text()).toContain("bun scripts/ui.ts");
  });

  test("is not the answer to an unknown path of the interface", async () => {
    for (const path of ["/app/api", "/app/api/nothing", "/app/assets", "/app/assets/a/b"]) {
      const response = await t.call("GET", path, undefined, { key: null });
      expectError(response, { status: 404, code: "ROUTE_NOT_FOUND" });
    }
  });
});

describe("a file", () => {
  test.each([
    ["gzip, deflate, br", "br"],
    ["gzip", "gzip"],
    ["br;q=0, gzip;q=0.5", "gzip"],
    ["identity", null],
  ])("is sent to a client that accepts %s as %p", async (accepted, encoding) => {
    const { status, headers } = await get(`/app/assets/${script()}`, {
      "accept-encoding": accepted,
    });
    expect([status, headers.get("content-encoding")]).toEqual([200, encoding]);
    expect(headers.get("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(headers.get("vary")).toBe("Accept-Encoding");
    expect(headers.get("content-type")).toBe("text/javascript; charset=utf-8");
    expect(headers.get("x-content-type-options")).toBe("nosniff");
  });

  test("has the same content with and without compression", async () => {
    const path = `/app/assets/${script()}`;
    const plain = await (await get(path)).text();
    const packed = await (await get(path, { "accept-encoding": "gzip" })).arrayBuffer();
    expect(gunzipSync(packed).toString()).toBe(plain);
  });

  test.each([
    "nothing.js",
    "index.html",
    "..%2Findex.html",
    "index.html.gz",
    `${"a".repeat(200)}.js`,
  ])("%s does not exist", async (name) => {
    const response = await t.call("GET", `/app/assets/${name}`, undefined, { key: null });
    expectError(response, { status: 404, code: "ROUTE_NOT_FOUND" });
  });
});

test.each([
  ["br", "br", true],
  ["BR", "br", true],
  ["gzip;q=1.0, br;q=0.8", "br", true],
  ["br;q=0", "br", false],
  ["br; q=0.000", "br", false],
  ["br;q=0.001", "br", true],
  ["brotli", "br", false],
  ["", "br", false],
])("the header %p accepts %s: %p", (header, coding, expected) => {
  expect(acceptsEncoding(header, coding)).toBe(expected);
});
