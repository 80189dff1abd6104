/** POST /v1/track with a public key, which each visitor of a site can read and use. */

import { beforeEach, describe, expect, test } from "bun:test";
import type { TestApp } from "../../support/app.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const ada = "ada@example.com";
const KIB = 1024;

const track = (body: object, key = t.publicKey, headers: Record<string, string> = {}) =>
  t.call("POST", "/v1/track", { event: "seen", email: ada, ...body }, { key, headers });
const contact = (body: object) => t.create("/contacts", { email: ada, ...body }, "id");

async function storedContact() {
  const answer = await t.call("GET", `/contacts?search=${ada}`);
  return { subscribed: answer.at("contacts.0.subscribed"), data: answer.at("contacts.0.data") };
}

describe("the subscription in a request with a public key", () => {
  type Step = [subscribed: boolean | undefined, kind: "public" | "secret"];
  const cases: [why: string, steps: Step[], after: boolean, events: string[]][] = [
    ["a new contact is subscribed", [[undefined, "public"]], true, ["subscribed"]],
    ["a new contact can be subscribed", [[true, "public"]], true, ["subscribed"]],
    ["a new contact can be unsubscribed", [[false, "public"]], false, []],
    [
      "a contact can be unsubscribed",
      [
        [true, "public"],
        [false, "public"],
      ],
      false,
      ["subscribed", "unsubscribed"],
    ],
    [
      "a contact that was unsubscribed with a public key stays unsubscribed",
      [
        [true, "public"],
        [false, "public"],
        [true, "public"],
        [undefined, "public"],
      ],
      false,
      ["subscribed", "unsubscribed"],
    ],
    [
      "a contact that was created unsubscribed stays unsubscribed",
      [
        [false, "secret"],
        [true, "public"],
      ],
      false,
      [],
    ],
    [
      "a secret key can resubscribe a contact",
      [
        [true, "public"],
        [false, "public"],
        [true, "secret"],
      ],
      true,
      ["subscribed", "unsubscribed", "subscribed"],
    ],
  ];
  test.each(cases)("%s", async (_, steps, after, events) => {
    for (const [subscribed, kind] of steps) {
      const body = subscribed === undefined ? {} : { subscribed };
      const answer = await track(body, kind === "public" ? t.publicKey : t.secretKey);
      expect(answer.status).toBe(200);
    }
    expect((await storedContact()).subscribed).toBe(after);
    const names = t.eventNames();
    expect(names.filter((name) => name === "seen")).toHaveLength(steps.length);
    expect(names.filter((name) => name !== "seen")).toEqual(
      events.map((event) => `contact.${event}`),
    );
  });

  test("does not resubscribe a contact that was unsubscribed by PATCH", async () => {
    const id = await contact({ subscribed: true });
    await t.call("PATCH", `/contacts/${id}`, { subscribed: false });
    const before = t.eventNames();
    await track({ subscribed: true, email: " ADA@Example.com " });
    expect((await storedContact()).subscribed).toBe(false);
    expect(t.eventNames()).toEqual([...before, "seen"]);
  });

  test("is not changed by a hundred concurrent requests", async () => {
    await contact({ subscribed: false });
    await Promise.all(Array.from({ length: 100 }, () => track({ subscribed: true })));
    expect((await storedContact()).subscribed).toBe(false);
    expect(new Set(t.eventNames())).toEqual(new Set(["seen"]));
  });
});

describe("data in a request with a public key", () => {
  const known = { plan: "pro", score: 5, address: { city: "Paris", zip: "75001" } };

  const merges: [what: string, data: object, after: object][] = [
    ["adds keys", { tag: "a" }, { ...known, tag: "a" }],
    ["changes keys", { plan: "team" }, { ...known, plan: "team" }],
    ["null removes nothing", { plan: null, score: null }, known],
    ["null adds nothing", { other: null }, known],
    ["null together with a change", { plan: null, score: 6 }, { ...known, score: 6 }],
    ["a wrapped null removes nothing", { plan: { value: null, persistent: true } }, known],
    ["a null that is not persistent", { plan: { value: null, persistent: false } }, known],
    ["an object is one value", { address: { city: null } }, { ...known, address: { city: null } }],
    ["an empty object changes nothing", {}, known],
    ["keys that are names of JavaScript", { constructor: null, toString: null }, known],
  ];
  test.each(merges)("%s", async (_, data, after) => {
    await contact({ data: known });
    expect((await track({ data })).status).toBe(200);
    expect((await storedContact()).data).toEqual(after);
  });

  test("of a new contact is stored without its nulls", async () => {
    await track({ data: { a: 1, b: null } });
    expect((await storedContact()).data).toEqual({ a: 1 });
  });

  test("is stored with the event as it was sent, with its nulls", async () => {
    const data = { plan: null, n: { value: null, persistent: true } };
    await track({ data });
    const listed = await t.call("GET", "/events?event=seen");
    expect(listed.at("data.items.0.data")).toEqual({ plan: null, n: null });
  });

  test("of null is refused, because it would delete all keys", async () => {
    await contact({ data: known });
    const errors = [["data", "invalid_type"]] as const;
    expectError(await track({ data: null }), { status: 422, code: "VALIDATION_ERROR", errors });
    expect((await storedContact()).data).toEqual(known);
  });

  test("can remove a key by null only with a secret key", async () => {
    await contact({ data: known });
    await track({ data: { plan: null } }, t.secretKey);
    const { plan: _, ...rest } = known;
    expect((await storedContact()).data).toEqual(rest);
  });

  const filled = (bytes: number, text = "x") => ({
    a: text.repeat((bytes - '{"a":""}'.length) / Buffer.byteLength(text)),
  });
  const wrapped = (bytes: number) => ({ a: { value: filled(bytes).a, persistent: false } });

  test("of exactly 16 KiB is accepted", async () => {
    for (const data of [filled(16 * KIB), filled(16 * KIB, "ü"), wrapped(16 * KIB)]) {
      expect(Buffer.byteLength(JSON.stringify({ a: "" }))).toBe(8);
      expect((await track({ data })).status).toBe(200);
    }
  });

  test("fills at most half of a contact's data, so that a secret key can still add to it", async () => {
    const part = (name: string) => ({ [name]: "x".repeat(10 * KIB) });
    for (const name of ["a", "b", "c"])
      expect((await track({ data: part(name) })).status).toBe(200);
    const errors = [["data", "too_big"]] as const;
    const refused = await track({ data: part("d") });
    expectError(refused, { status: 422, code: "VALIDATION_ERROR", errors });
    expect((await track({ data: part("d") }, t.secretKey)).status).toBe(200);
    // A change that does not add to the data is accepted.
    expect((await track({ data: { a: "short" } })).status).toBe(200);
  });

  const tooLarge: [what: string, data: object][] = [
    ["one more byte", filled(16 * KIB + 1)],
    ["one more byte that is not persistent", wrapped(16 * KIB + 1)],
    ["two-byte characters", filled(16 * KIB + 2, "ü")],
    ["many keys", Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, "x"]))],
    ["many nulls", Object.fromEntries(Array.from({ length: 2000 }, (_, i) => [`k${i}`, null]))],
  ];
  test.each(tooLarge)("is refused with %s, and nothing changes", async (_, data) => {
    await contact({ data: known });
    const before = t.contents();
    const answer = await track({ data });
    const errors = [["data", "too_big"]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
    expect(answer.text("error.errors.0.message")).toContain("16 KiB");
    expect(t.contents()).toEqual(before);
    expect((await track({ data }, t.secretKey)).status).toBe(200);
  });
});

describe("an Idempotency-Key", () => {
  const headers = { "idempotency-key": "order-4711" };

  test("of a public key is replayed for public keys", async () => {
    const first = await track({}, t.publicKey, headers);
    const second = await track({}, t.publicKey, headers);
    expect(second.headers.get("idempotency-replayed")).toBe("true");
    expect(second.body).toEqual(first.body);
  });

  test("of a public key does not affect requests with a secret key", async () => {
    await contact({ subscribed: false });
    await track({ subscribed: true }, t.publicKey, headers);
    const own = await track({ subscribed: true }, t.secretKey, headers);
    expect([own.status, own.headers.get("idempotency-replayed")]).toEqual([200, null]);
    expect((await storedContact()).subscribed).toBe(true);
    await track({ event: "a" }, t.publicKey, { "idempotency-key": "order-4712" });
    const other = { "idempotency-key": "order-4712" };
    expect((await track({ event: "b" }, t.secretKey, other)).status).toBe(200);
  });
});
