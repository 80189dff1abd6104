/** The limits of API keys: how they are created, their domains, their IP ranges, and their usage. */

import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createKey, findKey, keyNoun } from "../../src/modules/keys.ts";
import { parseAddressRange } from "../../src/lib/address-ranges.ts";
import { sha256 } from "../../src/lib/crypto.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { expectError } from "../support/refusal.ts";
import { signIn } from "../support/session.ts";

const MAIL = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };
const DAY_MS = 86_400_000;

let t: TestApp;
let admin: Awaited<ReturnType<typeof signIn>>;
beforeAll(async () => {
  t = await testApp({ config: { requireVerifiedDomain: false } });
  admin = await signIn(t);
});
afterAll(() => t.close());

const post = (body: object) =>
  admin.call("POST", "/keys", { name: "shop", ...body }, { "x-project": t.project.id });
const list = () => admin.call("GET", "/keys", undefined, { "x-project": t.project.id });

describe("a key is created", () => {
  const given: [body: object, key: object][] = [
    [{}, { kind: "SECRET", scope: "EVERYTHING", origins: [], domains: [], ipRanges: [] }],
    [{ kind: "PUBLIC" }, { kind: "PUBLIC", scope: null }],
    [{ kind: "SMTP" }, { kind: "SMTP", scope: "SEND", domains: [] }],
    [{ kind: "SMTP", scope: "SEND", domains: ["ACME.test"] }, { domains: ["acme.test"] }],
    [{ scope: "SEND", domains: ["acme.test", "acme.test"] }, { domains: ["acme.test"] }],
    [{ scope: "READ" }, { kind: "SECRET", scope: "READ" }],
    [
      { scope: "CONTACTS", ipRanges: ["203.0.113.0/24", "2001:DB8:0::/32", "::ffff:192.0.2.1"] },
      { scope: "CONTACTS", ipRanges: ["203.0.113.0/24", "2001:db8::/32", "192.0.2.1"] },
    ],
  ];
  test.each(given)("with %j", async (body, expected) => {
    const made = await post(body);
    expect(made.status).toBe(201);
    expect(made.at("data")).toMatchObject(expected);
    const { items } = Object((await list()).at("data"));
    expect(items[0]).toMatchObject({ ...expected, usage: [], lastUsedAt: null });
  });

  const refused: [body: object, field: string, code: string][] = [
    [{ scope: "ALL" }, "scope", "invalid_value"],
    [{ kind: "PUBLIC", scope: "READ" }, "scope", "invalid_value"],
    [{ kind: "SMTP", scope: "EVERYTHING" }, "scope", "invalid_value"],
    [{ domains: ["acme.test"] }, "domains", "invalid_value"],
    [{ scope: "READ", domains: ["acme.test"] }, "domains", "invalid_value"],
    [{ kind: "PUBLIC", domains: ["acme.test"] }, "domains", "invalid_value"],
    [{ scope: "SEND", domains: ["acme.test", "other.test"] }, "domains.1", "unknown_reference"],
    [{ scope: "SEND", domains: ["a b"] }, "domains.0", "unknown_reference"],
    [{ kind: "PUBLIC", ipRanges: ["192.0.2.1"] }, "ipRanges", "invalid_value"],
    [{ ipRanges: ["192.0.2.1/33"] }, "ipRanges.0", "invalid_format"],
    [{ ipRanges: ["192.0.2.1", "shop.example"] }, "ipRanges.1", "invalid_format"],
    [{ ipRanges: ["192.0.2.1 192.0.2.2"] }, "ipRanges.0", "invalid_format"],
    [{ ipRanges: Array.from({ length: 21 }, () => "::1") }, "ipRanges", "too_big"],
    [{ origins: ["https://shop.example"] }, "origins", "invalid_value"],
    [{ scopes: ["READ"] }, "scopes", "unknown_field"],
  ];
  test.each(refused)("but not with %j", async (body, field, code) => {
    const before = t.contents();
    expectError(await post(body), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [[field, code]],
    });
    expect(t.contents()["api_keys"]).toEqual(before["api_keys"]);
  });
});

/** Creates a key and returns its text. */
const made = (limits: object): Promise<string> =>
  t.app.writer.write(
    () =>
      createKey(t.app.app, t.project.seq, {
        kind: "SECRET",
        name: "made",
        scope: "SEND",
        expiresAt: null,
        ...limits,
      }).text,
  );

describe("a key that is bound to domains", () => {
  test("refuses the mails of a batch whose sender is of another domain", async () => {
    const key = await made({ domains: ["acme.test"] });
    const mails = [MAIL, { ...MAIL, from: "a@other.test" }];
    const send = (mode: string) => t.call("POST", "/v1/send/batch", { mails, mode }, { key });
    expectError(await send("ALL_OR_NOTHING"), { status: 403, code: "SENDER_NOT_ALLOWED" });
    const each = await send("EACH");
    expect(each.at("data.results")).toMatchObject([
      { accepted: true },
      { accepted: false, error: { code: "SENDER_NOT_ALLOWED", statusCode: 403 } },
    ]);
  });

  test("sends only from them, wherever the sender is named", async () => {
    const key = await made({ domains: ["acme.test", "shop.test"] });
    const send = (fields: object) => t.call("POST", "/v1/send", { ...MAIL, ...fields }, { key });
    for (const from of ["a@acme.test", "Ada <a@SHOP.test>", { email: "a@shop.test", name: "A" }]) {
      expect([from, (await send({ from })).status]).toEqual([from, 200]);
    }
    const template = { name: "n", subject: "s", body: "b", type: "TRANSACTIONAL" };
    const other = await t.create("/templates", { ...template, from: "a@other.test" }, "data.id");
    const own = await t.create("/templates", { ...template, from: "a@shop.test" }, "data.id");
    expect((await send({ from: undefined, template: own })).status).toBe(200);
    const before = t.contents();
    for (const fields of [
      { from: "a@other.test" },
      { from: "a@sub.acme.test" },
      { from: { email: "a@acme.test.evil.test", name: "a@acme.test" } },
      { from: undefined, template: other },
    ]) {
      const answer = await send(fields);
      expectError(answer, { status: 403, code: "SENDER_NOT_ALLOWED" });
      expect(answer.text("error.message")).toContain("only from acme.test, shop.test");
    }
    expect(t.contents()).toEqual(before);
  });

  test("gets no other sender by the headers of the mail", async () => {
    const key = await made({ domains: ["acme.test"] });
    for (const name of ["From", "Sender", "from"]) {
      const headers = { [name]: "a@other.test" };
      const { status } = await t.call("POST", "/v1/send", { ...MAIL, headers }, { key });
      expect([name, status]).toEqual([name, 422]);
    }
  });
});

describe("a key with IP ranges", () => {
  let server: TestApp;
  let url: string;
  let key: string;
  beforeAll(async () => {
    const proxy = parseAddressRange("127.0.0.1");
    server = await testApp({
      config: { port: 0, trustedProxies: proxy === null ? [] : [proxy] },
    });
    url = `http://127.0.0.1:${await server.app.listen()}/emails`;
    key = await server.app.writer.write(
      () =>
        createKey(server.app.app, server.project.seq, {
          kind: "SECRET",
          name: "office",
          expiresAt: null,
          ipRanges: ["203.0.113.0/24", "2001:db8::/32"],
        }).text,
    );
  });
  afterAll(() => server.close());

  const cases: [client: string, status: number][] = [
    ["203.0.113.9", 200],
    ["203.0.114.9", 403],
    ["::ffff:203.0.113.9", 200],
    ["2001:db8:1::7", 200],
    ["2001:db9::7", 403],
    ["198.51.100.1, 203.0.113.9", 200],
    ["203.0.113.9, 198.51.100.1", 403],
    ["unknown", 403],
  ];
  test.each(cases)("asked by %s is answered with %d", async (client, status) => {
    const headers = { authorization: `Bearer ${key}`, "x-forwarded-for": client };
    const response = await fetch(url, { headers });
    expect(response.status).toBe(status);
    const body: unknown = await response.json();
    if (status === 403) expect(body).toMatchObject({ error: { code: "ADDRESS_NOT_ALLOWED" } });
  });

  test("is refused if the address of the client is not known", async () => {
    const answer = await server.call("GET", "/emails", undefined, { key });
    expectError(answer, { status: 403, code: "ADDRESS_NOT_ALLOWED" });
  });
});

describe("the usage of a key", () => {
  const flush = () => keyNoun.flush?.(t.app.app);
  async function keyOf(text: string) {
    const id = findKey(t.app.app, sha256(text))?.shown?.id;
    const { items } = Object((await list()).at("data"));
    return Array.from(items).find((key) => Object(key).id === id);
  }

  test("counts admitted requests by day, and forgets days after thirty", async () => {
    const key = await made({ scope: "READ" });
    const read = () => t.call("GET", "/emails", undefined, { key });
    const dayOf = (ms: number) => new Date(ms).toISOString().slice(0, 10);
    const first = dayOf(t.clock.now());
    for (let n = 0; n < 3; n++) await read();
    await t.call("POST", "/v1/send", MAIL, { key }); // Refused: it is not counted.
    await flush();
    await flush();
    expect(await keyOf(key)).toMatchObject({ usage: [{ date: first, requests: 3 }] });
    await read();
    t.clock.advance(DAY_MS);
    await read();
    await read();
    const usedAt = t.clock.now();
    await flush();
    expect(await keyOf(key)).toMatchObject({
      lastUsedAt: new Date(usedAt).toISOString(),
      usage: [
        { date: dayOf(usedAt), requests: 2 },
        { date: first, requests: 4 },
      ],
    });
    t.clock.advance(29 * DAY_MS);
    admin = await signIn(t);
    expect(await keyOf(key)).toMatchObject({ usage: [{ date: dayOf(usedAt), requests: 2 }] });
    await read();
    await flush();
    const days = t.db.sqlite
      .query<{ n: number }, []>(
        "SELECT max((SELECT count(*) FROM json_each(uses))) AS n FROM api_keys WHERE name = 'made'",
      )
      .get();
    expect(days).toEqual({ n: 2 });
  });

  test("is not lost if it cannot be stored", async () => {
    const key = await made({ scope: "READ" });
    await t.call("GET", "/emails", undefined, { key });
    t.db.sqlite.run(
      "CREATE TEMP TRIGGER broken BEFORE UPDATE OF uses ON api_keys BEGIN SELECT RAISE(ABORT, 'no'); END",
    );
    expect(await flush()?.catch((error: unknown) => String(error))).toContain("no");
    t.db.sqlite.run("DROP TRIGGER broken");
    await t.call("GET", "/emails", undefined, { key });
    await flush();
    expect(Object(await keyOf(key)).usage).toMatchObject([{ requests: 2 }]);
  });
});
