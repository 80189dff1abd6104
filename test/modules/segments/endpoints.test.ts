import { beforeEach, describe, expect, test } from "bun:test";
import type { TestResponse, TestApp } from "../../support/app.ts";
import { valueAt, listAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { expectError, type ExpectedError } from "../../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;
const now = () => new Date(t.clock.now()).toISOString();

const pro = {
  logic: "AND",
  groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
};
const everyContact = {
  logic: "AND",
  groups: [{ filters: [{ field: "email", operator: "contains", value: "@" }] }],
};

const post = (body: object) => t.call("POST", "/segments", body);
const create = (body: object) => t.create("/segments", { name: "Pro", ...body }, "data.id");
const get = (id: string) => t.call("GET", `/segments/${id}`);
const patch = (id: string, body: object) => t.call("PATCH", `/segments/${id}`, body);
const remove = (id: string) => t.call("DELETE", `/segments/${id}`);
const contact = (email: string, data: object = {}) => t.create("/contacts", { email, data }, "id");
const emailsOf = (answer: TestResponse) =>
  listAt(answer.body, "data.items").map((c) => valueAt(c, "email"));
/** A function that counts the member rows of a segment, also once the segment is deleted. */
function memberRowsOf(id: string): () => number {
  const select = t.db.sqlite.query<{ seq: number }, [string]>(
    "SELECT seq FROM segments WHERE id = ?",
  );
  const seq = select.get(id)?.seq;
  return () => t.countRows(`segment_members WHERE segment_seq = ${seq}`);
}

const segmentEvents = () => t.eventNames().filter((name) => name.startsWith("segment."));

type RefusedCase = [why: string, body: unknown, ...errors: (readonly [string, string])[]];
const refusalOf = (errors: readonly (readonly [string, string])[]): ExpectedError => ({
  status: 422,
  code: "VALIDATION_ERROR",
  errors,
});

describe("POST /segments", () => {
  const none = { description: null, trackMembership: false };
  const created: [why: string, given: object, stored: object][] = [
    ["DYNAMIC by default", { condition: pro }, { ...none, type: "DYNAMIC", condition: pro }],
    ["STATIC", { type: "STATIC" }, { ...none, type: "STATIC", condition: null }],
    [
      "STATIC with a condition of null",
      { type: "STATIC", condition: null, description: null },
      { ...none, type: "STATIC", condition: null },
    ],
    [
      "all fields",
      { type: "DYNAMIC", condition: pro, description: "Paying", trackMembership: true },
      { type: "DYNAMIC", condition: pro, description: "Paying", trackMembership: true },
    ],
    [
      "a condition from which unused members are removed",
      {
        condition: {
          ...pro,
          groups: [
            {
              filters: [
                { field: "data.a", operator: "exists", value: 5, unit: "days", note: "x" },
                { field: "data.b", operator: "equals", value: 0, unit: "days" },
              ],
              conditions: null,
            },
          ],
          note: "x",
        },
      },
      {
        ...none,
        type: "DYNAMIC",
        condition: {
          logic: "AND",
          groups: [
            {
              filters: [
                { field: "data.a", operator: "exists" },
                { field: "data.b", operator: "equals", value: 0 },
              ],
            },
          ],
        },
      },
    ],
  ];
  test.each(created)(
    "creates a segment and reads it back unchanged: %s",
    async (_, given, stored) => {
      const answer = await post({ name: "Größte Kunden!", ...given });
      const data = {
        id: expect.stringMatching(UUID),
        name: "Größte Kunden!",
        slug: "grosste-kunden",
        memberCount: 0,
        memberCountedAt: now(),
        mismatches: [],
        problems: [],
        createdAt: now(),
        updatedAt: now(),
        ...stored,
      };
      expect([answer.status, answer.body]).toEqual([201, { success: true, data }]);
      expect((await get(answer.text("data.id"))).body).toEqual(answer.body);
    },
  );

  test("says how many values the condition cannot compare, and compares no text with a date", async () => {
    const values = ["15.06.2030", "2024-06-15", "soon", 5, undefined, null, "2024-01-01T10:00:00Z"];
    for (const [i, joined] of values.entries()) await contact(`p${i}@example.com`, { joined });
    await contact("n1@example.com", { price: "99,50" });
    await contact("n2@example.com", { price: 5 });
    const filters = [
      { field: "data.joined", operator: "lessThan", value: "2025-01-01" },
      { field: "data.joined", operator: "olderThan", value: 1, unit: "days" },
      { field: "data.price", operator: "lessThan", value: 100 },
      { field: "data.price", operator: "notEquals", value: "x" },
    ];
    const condition = { logic: "OR", groups: filters.map((filter) => ({ filters: [filter] })) };
    const answer = await post({ name: "Early", condition });
    expect(answer.at("data.memberCount")).toBe(4);
    const mismatches = [
      { field: "data.joined", expected: "date", contacts: 3 },
      { field: "data.price", expected: "number", contacts: 1 },
    ];
    expect(answer.at("data.mismatches")).toEqual(mismatches);
    expect((await get(answer.text("data.id"))).at("data.mismatches")).toEqual(mismatches);
  });

  test("counts existing members and records no events for them", async () => {
    await contact("ada@example.com", { plan: "pro" });
    await contact("bob@example.com", { plan: "free" });
    const answer = await post({ name: "Pro", condition: pro, trackMembership: true });
    expect(answer.at("data.memberCount")).toBe(1);
    await t.app.segments.recompute();
    expect(segmentEvents()).toEqual([]);
  });

  test("makes slugs that are unique within a project", async () => {
    const slugs = async (name: string, key?: string) => {
      const rest = key === undefined ? {} : { key };
      return (await t.call("POST", "/segments", { name, type: "STATIC" }, rest)).at("data.slug");
    };
    expect([
      await slugs("VIP"),
      await slugs("v.i.p"),
      await slugs("Vip!"),
      await slugs("vip 2"),
      await slugs("!!!"),
      await slugs("顧客"),
      await slugs("x".repeat(255)),
    ]).toEqual(["vip", "v-i-p", "vip-2", "vip-2-2", "segment", "顧客", "x".repeat(60)]);
    expect(await slugs("VIP", (await t.makeProject("stranger")).secretKey)).toBe("vip");
  });

  const refusedCases: RefusedCase[] = [
    ["a condition of null", { name: "a", condition: null }, ["condition", "required"]],
    [
      "STATIC with a condition",
      { name: "a", type: "STATIC", condition: pro },
      ["condition", "invalid_value"],
    ],
    ["no condition", { name: "a" }, ["condition", "required"]],
  ];
  test.each(refusedCases)("refuses %s", async (_, body, ...errors) => {
    expectError(await t.call("POST", "/segments", body), refusalOf(errors));
    expect(t.countRows("segments")).toBe(0);
  });
});

describe("PATCH /segments/{id}", () => {
  test("changes only the given fields and never the slug", async () => {
    const id = await create({ condition: pro, description: "Paying" });
    const createdAt = now();
    await contact("ada@example.com");
    t.clock.advance(1000);
    const answer = await patch(id, { name: "Everybody", condition: everyContact });
    expect([answer.status, answer.body]).toEqual([
      200,
      {
        success: true,
        data: {
          id,
          name: "Everybody",
          slug: "pro",
          description: "Paying",
          type: "DYNAMIC",
          condition: everyContact,
          memberCount: 1,
          memberCountedAt: now(),
          mismatches: [],
          problems: [],
          trackMembership: false,
          createdAt,
          updatedAt: now(),
        },
      },
    ]);
    expect((await get(id)).body).toEqual(answer.body);
    expect((await patch(id, { description: null, type: "DYNAMIC" })).at("data.description")).toBe(
      null,
    );
  });

  type RefusedPatch = [type: "DYNAMIC" | "STATIC", ...RefusedCase];
  const refusedCases: RefusedPatch[] = [
    ["DYNAMIC", "another type", { type: "STATIC" }, ["type", "invalid_value"]],
    ["STATIC", "another type", { type: "DYNAMIC" }, ["type", "invalid_value"]],
    [
      "STATIC",
      "a condition and another type",
      { type: "DYNAMIC", condition: pro },
      ["type", "invalid_value"],
      ["condition", "invalid_value"],
    ],
    ["STATIC", "a condition", { condition: pro }, ["condition", "invalid_value"]],
    ["DYNAMIC", "removal of the condition", { condition: null }, ["condition", "required"]],
    [
      "DYNAMIC",
      "a faulty condition",
      { condition: { ...pro, logic: "NOR" } },
      ["condition.logic", "invalid_value"],
    ],
  ];
  test.each(refusedCases)("refuses for a %s segment: %s", async (type, _, body, ...errors) => {
    const id = await create(type === "STATIC" ? { type } : { condition: pro });
    const before = t.contents();
    expectError(await t.call("PATCH", `/segments/${id}`, body), refusalOf(errors));
    expect(t.contents()).toEqual(before);
  });
});

describe("DELETE /segments/{id}", () => {
  test("deletes the segment and its member rows, but no contacts", async () => {
    const id = await create({ type: "STATIC", trackMembership: true });
    await contact("ada@example.com");
    await t.call("POST", `/segments/${id}/members`, { emails: ["ada@example.com"] });
    const events = t.eventNames();
    const memberRows = memberRowsOf(id);
    expect(memberRows()).toBe(1);
    const answer = await remove(id);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expectError(await get(id), { status: 404, code: "SEGMENT_NOT_FOUND" });
    expectError(await remove(id), { status: 404, code: "SEGMENT_NOT_FOUND" });
    expect([t.countRows("segments"), memberRows(), t.countRows("contacts")]).toEqual([0, 0, 1]);
    expect(t.eventNames()).toEqual(events);
  });

  test("answers 409 with the names of segments that use it", async () => {
    const inner = await create({ name: "Inner", condition: pro });
    const uses = (id: string) => ({
      logic: "AND",
      groups: [
        {
          filters: [],
          conditions: {
            logic: "OR",
            groups: [{ filters: [{ field: `segment.${id}`, operator: "notMemberOf" }] }],
          },
        },
      ],
    });
    const outer = await create({ name: "Outer one", condition: uses(inner) });
    const answer = await remove(inner);
    expectError(answer, { status: 409, code: "CONFLICT" });
    expect(answer.text("error.message")).toContain('segment "Outer one"');
    expect((await patch(outer, { condition: pro })).status).toBe(200);
    expect((await remove(inner)).status).toBe(204);
  });

  test("hides a segment with thousands of members at once and deletes its rows later", async () => {
    const id = await create({ type: "STATIC", name: "Large" });
    const emails = Array.from({ length: 1000 }, (_, i) => `c${i}@example.com`);
    for (const half of [emails, emails.map((email) => `x${email}`)]) {
      await t.call("POST", `/segments/${id}/members`, { emails: half, createMissing: true });
    }
    const memberRows = memberRowsOf(id);
    expect(memberRows()).toBe(2000);
    expect((await remove(id)).status).toBe(204);
    expectError(await get(id), { status: 404, code: "SEGMENT_NOT_FOUND" });
    expect((await t.call("GET", "/segments")).at("data.total")).toBe(0);
    expect((await post({ name: "Large", type: "STATIC" })).at("data.slug")).toBe("large");
    await t.app.segments.recompute();
    expect([t.countRows("segments"), memberRows()]).toEqual([1, 0]);
  });
});

describe("GET /segments", () => {
  test("lists segments newest first, with exact counts, in pages", async () => {
    await contact("ada@example.com", { plan: "pro" });
    await contact("bob@example.com");
    const ids = [
      await create({ name: "1", condition: pro }),
      await create({ name: "2", condition: everyContact }),
      await create({ name: "3", type: "STATIC" }),
    ];
    await t.call("POST", `/segments/${ids[2]}/members`, { emails: ["bob@example.com"] });
    const first = await t.call("GET", "/segments?limit=2");
    expect(
      listAt(first.body, "data.items").map((s) => [valueAt(s, "id"), valueAt(s, "memberCount")]),
    ).toEqual([
      [ids[2], 1],
      [ids[1], 2],
    ]);
    expect([first.at("data.hasMore"), first.at("data.total")]).toEqual([true, 3]);
    const second = await t.call("GET", `/segments?limit=2&cursor=${first.text("data.nextCursor")}`);
    expect(listAt(second.body, "data.items")).toEqual([(await get(ids[0] ?? "")).at("data")]);
    expect([
      second.at("data.hasMore"),
      second.at("data.nextCursor"),
      second.at("data.total"),
    ]).toEqual([false, null, 3]);
  });

  test("counts members exactly at every read", async () => {
    const id = await create({ condition: pro });
    const count = async () => (await get(id)).at("data.memberCount");
    expect(await count()).toBe(0);
    const ada = await contact("ada@example.com", { plan: "pro" });
    expect(await count()).toBe(1);
    await t.call("PATCH", `/contacts/${ada}`, { data: { plan: "free" } });
    expect(await count()).toBe(0);
    await t.call("PATCH", `/contacts/${ada}`, { data: { plan: "pro" } });
    expect([await count(), await count()]).toEqual([1, 1]);
    t.db.sqlite.run("UPDATE contacts SET data = '{}' WHERE id = ?", [ada]);
    expect(await count()).toBe(0);
    await t.call("PATCH", `/contacts/${ada}`, { data: { plan: "pro" } });
    await t.call("DELETE", `/contacts/${ada}`);
    expect(await count()).toBe(0);
  });

  test("updates a count when only time has passed", async () => {
    const recent = { field: "createdAt", operator: "within", value: 1, unit: "minutes" };
    const id = await create({ condition: { logic: "AND", groups: [{ filters: [recent] }] } });
    await contact("ada@example.com");
    expect((await get(id)).at("data.memberCount")).toBe(1);
    t.clock.advance(60_000);
    expect((await get(id)).at("data.memberCount")).toBe(1);
    t.clock.advance(1);
    expect((await get(id)).at("data.memberCount")).toBe(0);
  });
});

describe("GET /segments/{id}/contacts", () => {
  for (const type of ["DYNAMIC", "STATIC"] as const) {
    test(`lists members of a ${type} segment newest first, in pages, with the total`, async () => {
      const id = await create(type === "STATIC" ? { type } : { condition: pro });
      const emails = Array.from({ length: 25 }, (_, i) => `c${i}@example.com`);
      for (const email of emails) {
        await contact(email, { plan: "pro" });
        await contact(`x${email}`, { plan: "free" });
      }
      if (type === "STATIC") await t.call("POST", `/segments/${id}/members`, { emails });
      const seen: unknown[] = [];
      let cursor = "";
      for (const length of [10, 10, 5]) {
        const answer = await t.call("GET", `/segments/${id}/contacts?limit=10${cursor}`);
        expect([answer.status, answer.at("data.total"), answer.at("data.hasMore")]).toEqual([
          200,
          25,
          length === 10,
        ]);
        expect(emailsOf(answer)).toHaveLength(length);
        seen.push(...emailsOf(answer));
        if (length === 10) cursor = `&cursor=${answer.text("data.nextCursor")}`;
        else expect(answer.at("data.nextCursor")).toBe(null);
        await contact(`new${seen.length}@example.com`, { plan: "free" });
      }
      expect(seen).toEqual(emails.toReversed());
    });
  }

  test("shows contacts in the same form as /contacts", async () => {
    const id = await create({ condition: everyContact });
    const ada = await contact("ada@example.com", { plan: "pro" });
    const answer = await t.call("GET", `/segments/${id}/contacts`);
    expect(answer.at("data.items.0")).toEqual((await t.call("GET", `/contacts/${ada}`)).body);
  });

  test("repeats and skips nothing while members enter and leave", async () => {
    const id = await create({ condition: pro });
    const ids = [];
    for (let i = 0; i < 12; i++) ids.push(await contact(`c${i}@example.com`, { plan: "pro" }));
    const first = await t.call("GET", `/segments/${id}/contacts?limit=5`);
    await contact("late@example.com", { plan: "pro" });
    await t.call("DELETE", `/contacts/${ids[8]}`);
    await t.call("PATCH", `/contacts/${ids[6]}`, { data: { plan: "free" } });
    const rest = await t.call(
      "GET",
      `/segments/${id}/contacts?limit=100&cursor=${first.text("data.nextCursor")}`,
    );
    expect([...emailsOf(first), ...emailsOf(rest)]).toEqual(
      [11, 10, 9, 8, 7, 5, 4, 3, 2, 1, 0].map((i) => `c${i}@example.com`),
    );
    expect(rest.at("data.total")).toBe(11);
  });

  test("refuses a cursor that belongs to another segment", async () => {
    const [a, b] = [
      await create({ condition: everyContact }),
      await create({ condition: everyContact }),
    ];
    await contact("ada@example.com");
    await contact("bob@example.com");
    const page = await t.call("GET", `/segments/${a}/contacts?limit=1`);
    const answer = await t.call(
      "GET",
      `/segments/${b}/contacts?cursor=${page.text("data.nextCursor")}`,
    );
    expectError(answer, refusalOf([["cursor", "invalid_value"]]));
  });
});

describe("members of a STATIC segment", () => {
  const add = (id: string, body: unknown) => t.call("POST", `/segments/${id}/members`, body);
  const drop = (id: string, body: unknown) => t.call("DELETE", `/segments/${id}/members`, body);

  test("are added by email, and the answer counts new and lists unknown addresses", async () => {
    const id = await create({ type: "STATIC" });
    await contact("ada@example.com");
    await contact("bob@example.com");
    const emails = [
      "ADA@example.com ",
      "nobody@example.com",
      "ada@example.com",
      "Nobody@Example.com",
    ];
    const answer = await add(id, { emails });
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: { added: 1, created: 0, notFound: ["nobody@example.com"] } },
    ]);
    expect((await add(id, { emails: ["ada@example.com", "bob@example.com"] })).at("data")).toEqual({
      added: 1,
      created: 0,
      notFound: [],
    });
    expect((await get(id)).at("data.memberCount")).toBe(2);
    expect(segmentEvents()).toEqual([]);
  });

  test("are created as subscribed contacts with createMissing", async () => {
    const id = await create({ type: "STATIC" });
    await contact("ada@example.com");
    const emails = ["ada@example.com", "New@example.com", "new@EXAMPLE.com"];
    const answer = await add(id, { emails, createMissing: true });
    expect(answer.at("data")).toEqual({ added: 2, created: 1, notFound: [] });
    const found = await t.call("GET", "/contacts?search=new@");
    expect([found.at("contacts.0.email"), found.at("contacts.0.subscribed")]).toEqual([
      "new@example.com",
      true,
    ]);
    expect(t.eventNames()).toEqual(["contact.subscribed", "contact.subscribed"]);
  });

  test("can be added a thousand at once, repeatedly", async () => {
    const id = await create({ type: "STATIC" });
    const emails = Array.from({ length: 1000 }, (_, i) => `c${i}@example.com`);
    const body = { emails, createMissing: true };
    expect((await add(id, body)).at("data")).toEqual({ added: 1000, created: 1000, notFound: [] });
    expect((await add(id, body)).at("data")).toEqual({ added: 0, created: 0, notFound: [] });
    expect((await drop(id, { emails })).at("data")).toEqual({ removed: 1000, notFound: [] });
  });

  test("are added once for a repeated Idempotency-Key, with the same answer", async () => {
    const id = await create({ type: "STATIC", trackMembership: true });
    const send = () =>
      t.call(
        "POST",
        `/segments/${id}/members`,
        { emails: ["a@b.co"], createMissing: true },
        { headers: { "idempotency-key": "k" } },
      );
    const [first, second] = [await send(), await send()];
    expect([second.body, second.headers.get("idempotency-replayed")]).toEqual([first.body, "true"]);
    expect(segmentEvents()).toEqual(["segment.pro.entry"]);
  });

  test("are removed by a DELETE with a body", async () => {
    const id = await create({ type: "STATIC" });
    await contact("ada@example.com");
    await contact("bob@example.com");
    await add(id, { emails: ["ada@example.com"] });
    const emails = ["ADA@example.com", "bob@example.com", "Nobody@example.com"];
    const answer = await drop(id, { emails });
    expect([answer.status, answer.body]).toEqual([
      200,
      { success: true, data: { removed: 1, notFound: ["Nobody@example.com"] } },
    ]);
    expect((await get(id)).at("data.memberCount")).toBe(0);
    expect(t.countRows("contacts")).toBe(2);
  });

  test("do not include deleted contacts", async () => {
    const id = await create({ type: "STATIC", trackMembership: true });
    const ada = await contact("ada@example.com");
    await add(id, { emails: ["ada@example.com"] });
    await t.call("DELETE", `/contacts/${ada}`);
    expect((await get(id)).at("data.memberCount")).toBe(0);
  });

  test("get entry and exit events if the segment is tracked", async () => {
    const id = await create({ type: "STATIC", name: "VIP", trackMembership: true });
    const ada = await contact("ada@example.com");
    const emails = ["ada@example.com"];
    await add(id, { emails });
    await add(id, { emails });
    await drop(id, { emails });
    await drop(id, { emails });
    expect(segmentEvents()).toEqual(["segment.vip.entry", "segment.vip.exit"]);
    const events = await t.call("GET", "/events?event=segment.vip.exit");
    expect(events.at("data.items.0")).toMatchObject({
      contactId: ada,
      data: { segmentId: id, segmentName: "VIP" },
    });
  });

  test("are refused with 409 for a DYNAMIC segment", async () => {
    const id = await create({ condition: pro });
    for (const act of [add, drop]) {
      expectError(await act(id, { emails: ["a@b.co"] }), { status: 409, code: "CONFLICT" });
    }
    await add(id, { emails: ["a@b.co"], createMissing: true });
    expect(t.countRows("contacts")).toBe(0);
  });

  const refusedCases: RefusedCase[] = [
    [
      "values that are not emails",
      { emails: ["ada@example.com", "ada", 5, null] },
      ["emails.1", "invalid_format"],
      ["emails.2", "invalid_type"],
      ["emails.3", "invalid_type"],
    ],
  ];
  test.each(refusedCases)("are refused for %s", async (_, body, ...errors) => {
    const id = await create({ type: "STATIC" });
    for (const act of [add, drop]) expectError(await act(id, body), refusalOf(errors));
  });
});

describe("another project", () => {
  test("does not list segments or count contacts of this one", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    const id = await create({ condition: everyContact, trackMembership: true });
    await t.call("POST", "/contacts", { email: "theirs@example.com" }, { key });
    expect((await get(id)).at("data.memberCount")).toBe(0);
    expect((await t.call("GET", `/segments/${id}/contacts`)).at("data.total")).toBe(0);
    await t.app.segments.recompute();
    expect(memberRowsOf(id)()).toBe(0);
    expect((await t.call("GET", "/segments", undefined, { key })).at("data.total")).toBe(0);
  });

  test("has contacts that this one cannot find by email", async () => {
    const { secretKey: key } = await t.makeProject("stranger");
    const id = await create({ type: "STATIC" });
    await t.call("POST", "/contacts", { email: "theirs@example.com" }, { key });
    const answer = await t.call("POST", `/segments/${id}/members`, {
      emails: ["theirs@example.com"],
    });
    expect(answer.at("data")).toEqual({ added: 0, created: 0, notFound: ["theirs@example.com"] });
  });
});
