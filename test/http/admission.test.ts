import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { BODY_LIMITS } from "../../src/http/body-limits.ts";
import { changeProject, resolveProject } from "../../src/modules/projects.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";
import { createKey, revokeKey } from "../../src/modules/keys.ts";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };

describe("a request without a usable key", () => {
  let t: TestApp;
  let keys: Record<"revoked" | "expired" | "disabled" | "disabledPublic", string>;
  beforeAll(async () => {
    t = await testApp();
    const { app } = t;
    const off = await t.makeProject("off");
    keys = await app.writer.write(() => {
      const options = { kind: "SECRET", name: "test", expiresAt: null } as const;
      const revoked = createKey(app.app, t.project.seq, options);
      revokeKey(app.app, revoked.key.id);
      const expiresAt = t.clock.now() + 1;
      const expired = createKey(app.app, t.project.seq, { ...options, expiresAt });
      changeProject(app.app, off.project, { isEnabled: false });
      return {
        revoked: revoked.text,
        expired: expired.text,
        disabled: off.secretKey,
        disabledPublic: off.publicKey,
      };
    });
    t.clock.advance(1);
  });
  afterAll(() => t.close());

  type Case = [name: string, header: () => string | null, status: number, code: string];
  const unknown = `sk_${"x".repeat(43)}`;
  const cases: Case[] = [
    ["no header", () => null, 401, "MISSING_AUTH"],
    ["an empty header", () => "", 401, "MISSING_AUTH"],
    ["the scheme alone", () => "Bearer", 401, "MISSING_AUTH"],
    ["a key without scheme", () => t.secretKey, 401, "MISSING_AUTH"],
    ["another scheme", () => `Basic ${t.secretKey}`, 401, "MISSING_AUTH"],
    ["two words", () => `Bearer ${t.secretKey} x`, 401, "MISSING_AUTH"],
    ["two spaces", () => `Bearer  ${t.secretKey}`, 401, "MISSING_AUTH"],
    ["two headers", () => `Bearer ${t.secretKey}, Bearer ${t.secretKey}`, 401, "MISSING_AUTH"],
    ["characters beyond ASCII", () => "Bearer sk_ü", 401, "MISSING_AUTH"],
    ["a key that is too long", () => `Bearer ${"x".repeat(513)}`, 401, "MISSING_AUTH"],
    ["an unknown key", () => `Bearer ${unknown}`, 401, "INVALID_API_KEY"],
    ["a key in lower case", () => `Bearer ${t.secretKey.toLowerCase()}`, 401, "INVALID_API_KEY"],
    [
      "a key without its last character",
      () => `Bearer ${t.secretKey.slice(0, -1)}`,
      401,
      "INVALID_API_KEY",
    ],
    ["a key with SQL in it", () => "Bearer '||1--", 401, "INVALID_API_KEY"],
    ["a revoked key", () => `Bearer ${keys.revoked}`, 401, "INVALID_API_KEY"],
    ["an expired key", () => `Bearer ${keys.expired}`, 401, "INVALID_API_KEY"],
    ["a public key", () => `Bearer ${t.publicKey}`, 403, "FORBIDDEN"],
    ["a disabled project", () => `Bearer ${keys.disabled}`, 403, "PROJECT_DISABLED"],
    [
      "a public key of a disabled project",
      () => `Bearer ${keys.disabledPublic}`,
      403,
      "PROJECT_DISABLED",
    ],
  ];

  for (const [name, header, status, code] of cases) {
    test(`refuses ${name} with ${code} and changes nothing`, async () => {
      t.clock.advance(MINUTE_MS); // Resets the limit of failed authentication.
      const before = t.contents();
      const authorization = header();
      const headers: Record<string, string> = authorization === null ? {} : { authorization };
      for (const body of [mail, { to: 3 }, undefined]) {
        const answer = await t.call("POST", "/v1/send", body, { key: null, headers });
        expectError(answer, { status, code });
        expect(answer.headers.get("www-authenticate")).toBe(status === 401 ? "Bearer" : null);
        expect(answer.headers.get("ratelimit-limit")).toBeNull();
      }
      expect(t.contents()).toEqual(before);
    });
  }

  test("accepts the scheme in upper and lower case", async () => {
    const headers = { authorization: `bEARER ${t.secretKey}` };
    expect((await t.call("GET", "/contacts", undefined, { key: null, headers })).status).toBe(200);
  });

  test("accepts a key until it expires", async () => {
    const expiresAt = t.clock.now() + 1000;
    const options = { kind: "SECRET", name: "short", expiresAt } as const;
    const { text } = await t.app.writer.write(() => createKey(t.app.app, t.project.seq, options));
    t.clock.advance(999);
    expect((await t.call("GET", "/contacts", undefined, { key: text })).status).toBe(200);
    t.clock.advance(1);
    expect((await t.call("GET", "/contacts", undefined, { key: text })).status).toBe(401);
  });

  test("refuses a revoked key from the next request on", async () => {
    const options = { kind: "SECRET", name: "lost", expiresAt: null } as const;
    const { key, text } = await t.app.writer.write(() =>
      createKey(t.app.app, t.project.seq, options),
    );
    expect((await t.call("GET", "/contacts", undefined, { key: text })).status).toBe(200);
    await t.app.writer.write(() => revokeKey(t.app.app, key.id));
    expect((await t.call("GET", "/contacts", undefined, { key: text })).status).toBe(401);
  });

  test("accepts the keys of a project that was enabled again", async () => {
    const project = resolveProject(t.app.app, "off", "--project");
    await t.app.writer.write(() => changeProject(t.app.app, project, { isEnabled: true }));
    const answer = await t.call("GET", "/contacts", undefined, { key: keys.disabled });
    expect(answer.status).toBe(200);
    await t.app.writer.write(() => changeProject(t.app.app, project, { isEnabled: false }));
  });

  test("accepts a public key for /v1/track", async () => {
    const body = { email: "eve@example.com", event: "opened the shop" };
    expect((await t.call("POST", "/v1/track", body, { key: t.publicKey })).status).toBe(200);
  });
});

describe("the order of checks", () => {
  let t: TestApp;
  beforeAll(async () => {
    t = await testApp({ config: { apiRate: 1 } });
  });
  afterAll(() => t.close());

  const tooLarge = new Uint8Array(BODY_LIMITS.send.bytes + 1).fill(0x20);
  const json = { "content-type": "application/json" };
  const badBodies: [string, string | Uint8Array][] = [
    ["broken JSON", "{"],
    ["an invalid body", "{}"],
    ["no body", ""],
    ["a body that is too large", tooLarge],
  ];

  for (const [name, raw] of badBodies) {
    test(`answers 401 without details of the schema to ${name} without a valid key`, async () => {
      t.clock.advance(MINUTE_MS);
      for (const key of [null, "sk_unknown"]) {
        const answer = await t.call("POST", "/v1/send", undefined, { key, raw, headers: json });
        const code = key === null ? "MISSING_AUTH" : "INVALID_API_KEY";
        expectError(answer, { status: 401, code });
        expect(JSON.stringify(answer.body)).not.toContain("subject");
      }
    });

    test(`answers 403 to ${name} with a public key`, async () => {
      const rest = { key: t.publicKey, raw, headers: json };
      const answer = await t.call("POST", "/v1/send", undefined, rest);
      expectError(answer, { status: 403, code: "FORBIDDEN" });
    });

    test(`answers 429 to ${name} above the rate limit`, async () => {
      t.clock.advance(MINUTE_MS);
      expect((await t.call("GET", "/contacts")).status).toBe(200);
      const answer = await t.call("POST", "/v1/send", undefined, { raw, headers: json });
      expectError(answer, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
    });
  }

  const routing: [method: string, path: string, status: number, allow: string | null][] = [
    ["GET", "/nowhere", 404, null],
    ["POST", "/v1/sent", 404, null],
    ["GET", "/contacts/1/2/3", 404, null],
    ["GET", "/v1/send", 405, "POST"],
    ["DELETE", "/contacts", 405, "GET, HEAD, POST"],
    ["PUT", "/contacts/1", 405, "GET, HEAD, PATCH, DELETE"],
    ["POST", "/emails/1/raw", 405, "GET, HEAD"],
    ["POST", "/livez", 405, "GET, HEAD"],
    ["OPTIONS", "/contacts", 405, "GET, HEAD, POST"],
  ];
  for (const [method, path, status, allow] of routing) {
    test(`answers ${status} to ${method} ${path} without checking the key`, async () => {
      const answer = await t.call(method, path, undefined, { key: null });
      const code = status === 404 ? "ROUTE_NOT_FOUND" : "METHOD_NOT_ALLOWED";
      expectError(answer, { status, code });
      expect(answer.headers.get("allow")).toBe(allow);
    });
  }

  test("refuses broken JSON before an unknown resource", async () => {
    t.clock.advance(MINUTE_MS);
    const rest = { raw: "{", headers: json };
    const answer = await t.call("PATCH", "/contacts/nobody", undefined, rest);
    expectError(answer, { status: 400, code: "INVALID_JSON" });
  });

  test("refuses an invalid body before an unknown resource", async () => {
    t.clock.advance(MINUTE_MS);
    const answer = await t.call("PATCH", "/contacts/nobody", { email: 3 });
    const errors = [["email", "invalid_type"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  });
});

describe("the rate limit of a project", () => {
  const threeRequests = projectPerTest({ config: { apiRate: 3 } });
  const oneRequest = projectPerTest({ config: { apiRate: 1 } });

  test("accepts that many requests, counts down, and then reports when the next is possible", async () => {
    const t = await threeRequests.next();
    const seen = [];
    for (let i = 0; i < 5; i++) {
      const { status, headers } = await t.call("GET", "/contacts");
      const values = ["limit", "remaining", "reset"].map((name) =>
        headers.get(`ratelimit-${name}`),
      );
      seen.push([status, ...values, headers.get("retry-after")]);
      t.clock.advance(10_000);
    }
    expect(seen).toEqual([
      [200, "3", "2", "60", null],
      [200, "3", "1", "50", null],
      [200, "3", "0", "40", null],
      [429, "3", "0", "30", "30"],
      [429, "3", "0", "20", "20"],
    ]);
    t.clock.advance(10_000); // The first request is 60 s old now.
    expect((await t.call("GET", "/contacts")).status).toBe(200);
    expect((await t.call("GET", "/contacts")).status).toBe(429);
  });

  const steps: [step: string, ms: number][] = [
    ["an hour back", -HOUR_MS],
    ["an hour forward", HOUR_MS],
    ["a day back", -24 * HOUR_MS],
    ["a day forward", 24 * HOUR_MS],
  ];
  test.each(steps)("does not change if the clock is set %s", async (_, stepMs) => {
    const t = await threeRequests.next();
    for (let i = 0; i < 3; i++) await t.call("GET", "/contacts");
    t.clock.advance(20_000);
    t.clock.stepWall(stepMs);
    const refused = await t.call("GET", "/contacts");
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "40"]);
    t.clock.advance(40_000);
    const accepted = await t.call("GET", "/contacts");
    expect([accepted.status, accepted.headers.get("ratelimit-reset")]).toEqual([200, "60"]);
  });

  test("is shown on errors too, and counts refused requests unless the limit refused them", async () => {
    const t = await threeRequests.next();
    const remaining = async (method: string, path: string, body?: unknown) => {
      const answer = await t.call(method, path, body);
      return [answer.status, answer.headers.get("ratelimit-remaining")];
    };
    expect(await remaining("GET", "/contacts/nobody")).toEqual([404, "2"]);
    expect(await remaining("POST", "/contacts", {})).toEqual([422, "1"]);
    expect(await remaining("POST", "/contacts", { email: "a@b.co" })).toEqual([201, "0"]);
    expect(await remaining("GET", "/contacts")).toEqual([429, "0"]);
  });

  test("is shared by the secret keys of a project and not by projects", async () => {
    const t = await oneRequest.next();
    const other = await t.makeProject("other");
    const again = await t.makeProject("acme"); // This creates new keys of the same project.
    const event = { email: "a@b.co", event: "x" };
    expect((await t.call("POST", "/v1/track", event, { key: again.secretKey })).status).toBe(200);
    expect((await t.call("GET", "/contacts")).status).toBe(429);
    expect((await t.call("GET", "/contacts", undefined, { key: other.secretKey })).status).toBe(
      200,
    );
  });

  test("is not used up by requests without a valid key or without permission", async () => {
    const t = await oneRequest.next();
    await t.call("GET", "/contacts", undefined, { key: null });
    await t.call("GET", "/contacts", undefined, { key: t.publicKey });
    expect((await t.call("GET", "/contacts")).status).toBe(200);
  });

  test("is switched off by 0, with its headers", async () => {
    const own = await testApp({ config: { apiRate: 0 } });
    const answer = await own.call("GET", "/contacts");
    expect(answer.headers.get("ratelimit-limit")).toBeNull();
    await own.close();
  });
});

describe("failed authentication", () => {
  test("is limited to 20 per minute, without effect on requests with a valid key", async () => {
    const t = await testApp();
    const guess = (i: number) =>
      t.call("POST", "/v1/send", {}, { key: i % 2 === 0 ? null : `sk_guess${i}` });
    for (let i = 0; i < 20; i++) expect((await guess(i)).status).toBe(401);
    const refused = await guess(20);
    expectError(refused, { status: 429, code: "RATE_LIMIT_EXCEEDED" });
    expect(refused.headers.get("retry-after")).toBe("60");
    expect((await t.call("GET", "/contacts")).status).toBe(200);
    t.clock.advance(MINUTE_MS - 1);
    expect((await guess(21)).headers.get("retry-after")).toBe("1");
    t.clock.advance(1);
    expect((await guess(22)).status).toBe(401);
    await t.close();
  });
});
