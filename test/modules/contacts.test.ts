import { beforeEach, describe, expect, test } from "bun:test";
import type { TestResponse, TestApp } from "../support/app.ts";
import { valueAt, listAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const now = () => new Date(t.clock.now()).toISOString();

const post = (body: object) => t.call("POST", "/contacts", body);
const create = (body: object) => t.create("/contacts", body, "id");
const get = (id: string) => t.call("GET", `/contacts/${id}`);
const patch = (id: string, body: object) => t.call("PATCH", `/contacts/${id}`, body);
const emailsOf = (answer: TestResponse) =>
  listAt(answer.body, "contacts").map((c) => valueAt(c, "email"));

describe("POST /contacts", () => {
  test("creates a subscribed contact, records the event and responds 201 without an envelope", async () => {
    const answer = await post({ email: "ada@example.com" });
    expect([answer.status, answer.body]).toEqual([
      201,
      {
        id: expect.stringMatching(UUID),
        email: "ada@example.com",
        subscribed: true,
        data: {},
        createdAt: now(),
        updatedAt: now(),
        _meta: { isNew: true, isUpdate: false },
      },
    ]);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  test("records no event for a new contact that is unsubscribed", async () => {
    const answer = await post({
      email: "ada@example.com",
      subscribed: false,
      data: { plan: "pro" },
    });
    expect(answer.body).toMatchObject({ subscribed: false, data: { plan: "pro" } });
    expect(t.eventNames()).toEqual([]);
  });

  test("updates an existing contact, merges its data and responds 200", async () => {
    const id = await create({ email: "ada@example.com", data: { a: 1, b: 2 } });
    const createdAt = now();
    t.clock.advance(1000);
    const answer = await post({ email: "ada@example.com", data: { b: 3, c: 4 } });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id,
        email: "ada@example.com",
        subscribed: true,
        data: { a: 1, b: 3, c: 4 },
        createdAt,
        updatedAt: now(),
        _meta: { isNew: false, isUpdate: true },
      },
    ]);
  });

  test("does not change updatedAt if nothing else changes", async () => {
    await create({ email: "ada@example.com", data: { a: 1 } });
    const createdAt = now();
    t.clock.advance(1000);
    const answer = await post({ email: "ada@example.com", data: { a: 1 }, subscribed: true });
    expect(answer.at("updatedAt")).toBe(createdAt);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  const flags: [before: boolean, given: boolean | undefined, after: boolean, events: string[]][] = [
    [true, undefined, true, []],
    [false, undefined, false, []],
    [true, false, false, ["contact.unsubscribed"]],
    [false, true, true, ["contact.subscribed"]],
    [false, false, false, []],
  ];
  test.each(flags)("of %p with subscribed %p makes it %p", async (before, given, after, events) => {
    await create({ email: "ada@example.com", subscribed: before });
    const earlier = t.eventNames().length;
    const answer = await post({
      email: "ada@example.com",
      ...(given === undefined ? {} : { subscribed: given }),
    });
    expect(answer.at("subscribed")).toBe(after);
    expect(t.eventNames().slice(earlier)).toEqual(events);
  });

  const spellings: [given: string, stored: string][] = [
    ["ADA@Example.COM", "ada@example.com"],
    ["  ada@example.com\t", "ada@example.com"],
    ["ada+tag@example.com", "ada+tag@example.com"],
    ['"ada"@example.com', "ada@example.com"],
    ["ada@bücher.example", "ada@xn--bcher-kva.example"],
    ["ADA@BÜCHER.example", "ada@xn--bcher-kva.example"],
  ];
  test.each(spellings)(
    "stores %j as %s, and finds the same contact by both",
    async (given, stored) => {
      const first = await post({ email: given });
      const second = await post({ email: stored });
      expect([first.at("email"), second.at("id"), second.status]).toEqual([
        stored,
        first.at("id"),
        200,
      ]);
      const search = encodeURIComponent(stored.toUpperCase());
      expect(emailsOf(await t.call("GET", `/contacts?search=${search}`))).toEqual([stored]);
    },
  );

  test("creates one contact with the data of all for twenty concurrent requests with one address", async () => {
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        post({ email: "ada@example.com", data: { [`k${i}`]: i } }),
      ),
    );
    expect(new Set(answers.map((answer) => answer.at("id"))).size).toBe(1);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(1);
    expect(t.countRows("contacts")).toBe(1);
    const { body } = await get(answers[0]?.text("id") ?? "");
    expect(Object.keys(Object(valueAt(body, "data")))).toHaveLength(20);
    expect(t.eventNames()).toEqual(["contact.subscribed"]);
  });

  test("creates two contacts for the same address in two projects", async () => {
    const other = await t.makeProject("other");
    await post({ email: "ada@example.com" });
    const otherContact = await t.call(
      "POST",
      "/contacts",
      { email: "ada@example.com" },
      { key: other.secretKey },
    );
    expect([otherContact.status, t.countRows("contacts")]).toEqual([201, 1]);
  });
});

describe("data", () => {
  const existing = { a: 1, list: [1, 2], deep: { x: 1, y: 2 } };
  const merges: [why: string, given: unknown, after: object][] = [
    ["omitted data changes nothing", undefined, existing],
    ["an empty object changes nothing", {}, existing],
    ["null deletes all keys", null, {}],
    ["null deletes a key", { a: null }, { list: [1, 2], deep: { x: 1, y: 2 } }],
    ["null for a missing key changes nothing", { z: null }, existing],
    ["objects are replaced", { deep: { x: 9 } }, { ...existing, deep: { x: 9 } }],
    ["lists are replaced", { list: [] }, { ...existing, list: [] }],
    [
      "a null inside of an object is stored",
      { deep: { x: null } },
      { ...existing, deep: { x: null } },
    ],
    ["empty values are stored", { a: "", b: 0, c: false }, { ...existing, a: "", b: 0, c: false }],
    [
      "any text can be a key",
      { "": 1, "a.b": 2, "ü 😀": 3 },
      { ...existing, "": 1, "a.b": 2, "ü 😀": 3 },
    ],
    [
      "reserved keys are ignored",
      { id: 1, email: "x", unsubscribeUrl: 1, subscribeUrl: 1, manageUrl: 1 },
      existing,
    ],
    ["reserved keys are case-sensitive", { ID: 1, Email: 2 }, { ...existing, ID: 1, Email: 2 }],
    [
      "a wrapper is stored like any other data",
      { w: { value: 1, persistent: false } },
      { ...existing, w: { value: 1, persistent: false } },
    ],
    [
      "numbers are stored exactly",
      { f: 1.5, n: -0.001, big: 9007199254740991 },
      { ...existing, f: 1.5, n: -0.001, big: 9007199254740991 },
    ],
  ];
  test.each(merges)("%s", async (_, given, after) => {
    const body = given === undefined ? {} : { data: given };
    const changes = {
      "post@example.com": () => post({ email: "post@example.com", ...body }),
      "patch@example.com": (id: string) => patch(id, body),
    };
    for (const [email, change] of Object.entries(changes)) {
      const id = await create({ email, data: existing });
      const answer = await change(id);
      expect([email, answer.status, answer.at("data")]).toEqual([email, 200, after]);
      expect((await get(id)).at("data")).toEqual(after);
    }
  });

  test("can be null for a new contact", async () => {
    expect((await post({ email: "ada@example.com", data: null })).at("data")).toEqual({});
  });

  test("may be 64 KiB as JSON, and one more byte is refused", async () => {
    const sized = (bytes: number) => ({ x: "x".repeat(bytes - '{"x":""}'.length) });
    const errors = [["data", "too_big"]] as const;
    const refusal = { status: 422, code: "VALIDATION_ERROR", errors };
    const id = await create({ email: "ada@example.com", data: sized(65_536) });
    expectError(await post({ email: "new@example.com", data: sized(65_537) }), refusal);
    expectError(await patch(id, { data: { y: 1 } }), refusal);
    expectError(await post({ email: "ada@example.com", data: { y: 1 } }), refusal);
    expect((await patch(id, { data: { x: null, y: 1 } })).at("data")).toEqual({ y: 1 });
    const wide = { x: "ü".repeat(32_765) };
    expectError(await patch(id, { data: wide }), refusal);
    expect(t.countRows("contacts")).toBe(1);
  });
});

describe("GET and PATCH /contacts/{id}", () => {
  test("GET responds with the contact, without an envelope and _meta", async () => {
    const id = await create({ email: "ada@example.com", data: { a: 1 } });
    expect((await get(id)).body).toEqual({
      id,
      email: "ada@example.com",
      subscribed: true,
      data: { a: 1 },
      createdAt: now(),
      updatedAt: now(),
    });
  });

  test("PATCH with an empty body changes nothing", async () => {
    const id = await create({ email: "ada@example.com" });
    const createdAt = now();
    t.clock.advance(1000);
    const before = t.contents();
    expect((await patch(id, {})).at("updatedAt")).toBe(createdAt);
    expect(t.contents()).toEqual(before);
  });

  test("PATCH changes all fields in one request and records the event", async () => {
    const id = await create({ email: "ada@example.com" });
    const createdAt = now();
    t.clock.advance(1000);
    const answer = await patch(id, {
      email: " Lovelace@Example.com",
      subscribed: false,
      data: { a: 1 },
    });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        id,
        email: "lovelace@example.com",
        subscribed: false,
        data: { a: 1 },
        createdAt,
        updatedAt: now(),
      },
    ]);
    expect(t.eventNames()).toEqual(["contact.subscribed", "contact.unsubscribed"]);
  });

  test("PATCH with the address of another contact is 409 and changes nothing", async () => {
    const id = await create({ email: "ada@example.com" });
    await create({ email: "bob@example.com" });
    const before = t.contents();
    const answer = await patch(id, { email: "BOB@example.com", subscribed: false, data: { a: 1 } });
    expectError(answer, { status: 409, code: "CONFLICT" });
    expect(t.contents()).toEqual(before);
  });

  test("PATCH with the contact's own address succeeds", async () => {
    const id = await create({ email: "ada@example.com" });
    expect((await patch(id, { email: "ADA@example.com" })).status).toBe(200);
  });

  test("PATCH with an address that another project uses succeeds", async () => {
    const other = await t.makeProject("other");
    await t.call("POST", "/contacts", { email: "bob@example.com" }, { key: other.secretKey });
    const id = await create({ email: "ada@example.com" });
    expect((await patch(id, { email: "bob@example.com" })).status).toBe(200);
  });
});

describe("GET /contacts", () => {
  beforeEach(async () => {
    const emails = ["ada@x.io", "bob@x.io", "a@test.org", "b@test.org", "c@test.org", "d@test.org"];
    for (const [i, email] of emails.entries()) await create({ email, subscribed: i % 2 === 0 });
  });

  test("an empty search finds all contacts", async () => {
    expect((await t.call("GET", "/contacts?search=")).at("total")).toBe(6);
  });

  test("items and nextCursor have the values of contacts and cursor on every page", async () => {
    let after: string | null = "";
    const seen: unknown[] = [];
    while (after !== null) {
      const answer = await t.call("GET", `/contacts?limit=4${after}`);
      expect(listAt(answer.body, "items")).toEqual(listAt(answer.body, "contacts"));
      expect(answer.at("nextCursor")).toBe(answer.at("cursor"));
      seen.push(...emailsOf(answer));
      after = answer.at("hasMore") === true ? `&cursor=${answer.text("nextCursor")}` : null;
    }
    expect(new Set(seen).size).toBe(6);
  });

  test("filters by subscribed and search together, and total counts the matches", async () => {
    const total = async (query: string) => (await t.call("GET", `/contacts?${query}`)).at("total");
    expect(await total("subscribed=true")).toBe(3);
    expect(await total("subscribed=false")).toBe(3);
    expect(await total("subscribed=true&search=test.org")).toBe(2);
    expect(await total("subscribed=true&search=test.org&limit=1")).toBe(2);
  });
});

describe("DELETE /contacts/{id}", () => {
  const mail = {
    from: "a@acme.test",
    subject: "Dear {{ name }}",
    body: "<p>{{ name }}</p>",
    data: { name: "Ada Lovelace" },
  };

  test("responds 204 without a body, and the contact no longer exists", async () => {
    const id = await create({ email: "ada@example.com" });
    const answer = await t.call("DELETE", `/contacts/${id}`);
    expect([answer.status, answer.body, answer.headers.get("content-type")]).toEqual([
      204,
      undefined,
      null,
    ]);
    for (const method of ["GET", "DELETE"]) {
      expectError(await t.call(method, `/contacts/${id}`), {
        status: 404,
        code: "CONTACT_NOT_FOUND",
      });
    }
    expect((await post({ email: "ada@example.com" })).status).toBe(201);
  });

  test("deletes the times of the contact's last events, and only those", async () => {
    const ids: string[] = [];
    for (const email of ["ada@example.com", "bob@example.com"]) {
      const tracked = await t.call("POST", "/v1/track", { event: "login", email });
      ids.push(tracked.text("data.contact"));
      await t.call("POST", "/v1/track", { event: "logout", email });
    }
    const seqs = ids.map(
      (id) =>
        t.db.sqlite
          .query<{ seq: number }, [string]>("SELECT seq FROM contacts WHERE id = ?")
          .get(id)?.seq,
    );
    const counts = () =>
      seqs.map((seq) => t.countRows(`contact_events WHERE contact_seq = ${seq}`));
    expect(counts()).toEqual([3, 3]); // The third event is contact.subscribed.
    await t.call("DELETE", `/contacts/${ids[0]}`);
    expect(counts()).toEqual([0, 3]);
  });

  test("keeps mail and events, but removes all personal data from them", async () => {
    const sent = (
      await t.call("POST", "/v1/send", {
        ...mail,
        to: { email: "ida@example.com", name: "Ada Lovelace" },
      })
    ).text("emails.0.email");
    const id = (await t.call("GET", `/emails/${sent}`)).text("data.contactId");
    await t.deliver();
    await patch(id, { subscribed: true });
    await t.call("POST", "/v1/track", {
      email: "ida@example.com",
      event: "bought",
      data: { by: "Ada Lovelace" },
    });
    t.db.sqlite.run(
      "UPDATE emails SET last_error = '550 <ida@example.com> is unknown' WHERE id = ?",
      [sent],
    );
    t.db.sqlite.run(
      "UPDATE attempts SET reason = 'ida@example.com', conversations = '[\"ida@example.com\"]'",
    );
    const stored = () => JSON.stringify(t.contents());
    const personal = /ida@example\.com|Lovelace|Dear/;
    expect(stored()).toMatch(personal);
    const before = { emails: t.countRows("emails"), events: t.eventNames() };

    await t.call("DELETE", `/contacts/${id}`);

    expect({ emails: t.countRows("emails"), events: t.eventNames() }).toEqual(before);
    const record = await t.call("GET", `/emails/${sent}`);
    expect(record.at("data")).toMatchObject({
      status: "SENT",
      to: null,
      contactId: null,
      subject: "",
      lastError: null,
      sentAt: now(),
    });
    expectError(await t.call("GET", `/emails/${sent}/raw`), {
      status: 404,
      code: "EMAIL_NOT_FOUND",
    });
    const events = listAt((await t.call("GET", "/events")).body, "data.items");
    expect(events.length).toBeGreaterThan(2);
    for (const event of events)
      expect(event).toMatchObject({ contactId: null, contactEmail: null });
    expect(stored()).not.toMatch(personal);
  });

  test("cancels the contact's queued mail, and the mail of other contacts is sent", async () => {
    const answer = await t.call("POST", "/v1/send", {
      ...mail,
      to: ["ada@example.com", "bob@example.com"],
      scheduledAt: new Date(t.clock.now() + 60_000).toISOString(),
    });
    await t.call("DELETE", `/contacts/${answer.text("emails.0.contact.id")}`);
    t.clock.advance(60_000);
    await t.deliver();
    const statuses = [];
    for (const email of listAt(answer.body, "emails")) {
      const record = await t.call("GET", `/emails/${String(valueAt(email, "email"))}`);
      statuses.push([record.at("data.status"), record.at("data.nextAttemptAt")]);
    }
    expect(statuses).toEqual([
      ["CANCELLED", null],
      ["SENT", null],
    ]);
  });
});
