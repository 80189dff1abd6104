import { afterEach, beforeEach, describe, expect, spyOn, test } from "bun:test";
import { nextIteration } from "../../../src/lib/yield.ts";
import { createAddressSearch } from "../../../src/modules/contacts/address-search.ts";
import { type TestResponse, type TestApp, testApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { runImport } from "./upload.ts";

let t: TestApp;
beforeEach(async () => {
  t = await testApp();
});
afterEach(() => t.close());

const search = (term: string, rest = "") =>
  t.call("GET", `/contacts?search=${encodeURIComponent(term)}${rest}`);
const emailsOf = (answer: TestResponse) =>
  listAt(answer.body, "contacts").map((contact) => stringAt(contact, "email"));
const found = async (term: string, rest = "") => {
  const answer = await search(term, rest);
  expect(answer.status).toBe(200);
  return [answer.at("total"), ...emailsOf(answer)];
};
const create = (email: string, subscribed = true) =>
  t.create("/contacts", { email, subscribed }, "id");

describe("search finds contacts by a part of the address", () => {
  const EMAILS = [
    "ada@example.com",
    "a.d.a@example.org",
    "Zoë@bücher.example",
    "o'neil+x@mail.test",
    "7@7.test",
  ];
  beforeEach(async () => {
    for (const email of EMAILS) await create(email);
  });

  const cases: [term: string, emails: string[]][] = [
    ["ada@example.com", ["ada@example.com"]],
    ["ADA@", ["ada@example.com"]],
    [" ada ", ["ada@example.com"]],
    ["example", ["zoë@xn--bcher-kva.example", "a.d.a@example.org", "ada@example.com"]],
    [
      "@",
      [
        "7@7.test",
        "o'neil+x@mail.test",
        "zoë@xn--bcher-kva.example",
        "a.d.a@example.org",
        "ada@example.com",
      ],
    ],
    [
      "a",
      ["o'neil+x@mail.test", "zoë@xn--bcher-kva.example", "a.d.a@example.org", "ada@example.com"],
    ],
    ["Zoë@BÜCHER.example", ["zoë@xn--bcher-kva.example"]],
    ["bücher.ex", ["zoë@xn--bcher-kva.example"]],
    ["oë", ["zoë@xn--bcher-kva.example"]],
    ["bücher", ["zoë@xn--bcher-kva.example"]],
    ["BÜCHER", ["zoë@xn--bcher-kva.example"]],
    ["zoë", ["zoë@xn--bcher-kva.example"]],
    ["7", ["7@7.test"]],
    ["a.d", ["a.d.a@example.org"]],
    [
      ".",
      [
        "7@7.test",
        "o'neil+x@mail.test",
        "zoë@xn--bcher-kva.example",
        "a.d.a@example.org",
        "ada@example.com",
      ],
    ],
    ["ZOË", ["zoë@xn--bcher-kva.example"]],
    ["zoe\u{308}", ["zoë@xn--bcher-kva.example"]],
    ["'", ["o'neil+x@mail.test"]],
    ["+x@", ["o'neil+x@mail.test"]],
    ["com.a", []],
    ["%", []],
    ["_", []],
    ["*", []],
    ["unknown", []],
    ["\n", []],
    ["\u00a0", []],
    [
      " \t",
      [
        "7@7.test",
        "o'neil+x@mail.test",
        "zoë@xn--bcher-kva.example",
        "a.d.a@example.org",
        "ada@example.com",
      ],
    ],
    ["a\nz", []],
    ["a\u{1}", []],
    ["\u{80}", []],
  ];
  test.each(cases)("%j", async (term, emails) => {
    expect(await found(term)).toEqual([emails.length, ...emails]);
  });
});

describe("search sees immediately", () => {
  test("a new contact, a changed address and a deleted contact", async () => {
    const id = await create("ada@example.com");
    expect(await found("ada")).toEqual([1, "ada@example.com"]);
    await create("ada2@example.com");
    expect(await found("ada")).toEqual([2, "ada2@example.com", "ada@example.com"]);
    await t.call("PATCH", `/contacts/${id}`, { email: "grace@example.com" });
    expect(await found("ada")).toEqual([1, "ada2@example.com"]);
    expect(await found("grace")).toEqual([1, "grace@example.com"]);
    await t.call("DELETE", `/contacts/${id}`);
    expect(await found("grace")).toEqual([0]);
  });

  test("a changed subscription", async () => {
    const id = await create("ada@example.com");
    expect(await found("ada", "&subscribed=true")).toEqual([1, "ada@example.com"]);
    expect(await found("ada", "&subscribed=false")).toEqual([0]);
    await t.call("PATCH", `/contacts/${id}`, { subscribed: false });
    expect(await found("ada", "&subscribed=true")).toEqual([0]);
    expect(await found("ada", "&subscribed=false")).toEqual([1, "ada@example.com"]);
  });

  test("nothing of a refused change", async () => {
    await create("ada@example.com");
    const id = await create("bob@example.com");
    expect(await found("ada")).toEqual([1, "ada@example.com"]);
    const taken = { email: "ada@example.com", subscribed: false };
    expect((await t.call("PATCH", `/contacts/${id}`, taken)).status).toBe(409);
    expect(await found("ada", "&subscribed=true")).toEqual([1, "ada@example.com"]);
    expect(await found("bob", "&subscribed=true")).toEqual([1, "bob@example.com"]);
  });

  test("a change by any statement on the table", async () => {
    await create("ada@example.com");
    expect(await found("ada")).toEqual([1, "ada@example.com"]);
    t.db.sqlite.run("UPDATE contacts SET email = 'eva@example.com'");
    expect([await found("ada"), await found("eva")]).toEqual([[0], [1, "eva@example.com"]]);
    t.db.sqlite.run("DELETE FROM contacts");
    expect(await found("eva")).toEqual([0]);
  });
});

test("search does not find contacts of another project", async () => {
  const other = await t.makeProject("other");
  await create("ada@example.com");
  const answer = await t.call("GET", "/contacts?search=ada", undefined, { key: other.secretKey });
  expect([answer.at("total"), emailsOf(answer)]).toEqual([0, []]);
});

describe("search among many contacts", () => {
  const COUNT = 5000;
  const emailOf = (i: number) =>
    `p${i}.${i % 7 === 0 ? "rare" : "often"}@${i % 2 === 0 ? "even" : "odd"}.test`;
  beforeEach(async () => {
    const lines = Array.from({ length: COUNT }, (_, i) => `${emailOf(i)},${i % 3 !== 0}`);
    await runImport(t, `email,subscribed\n${lines.join("\n")}\n`);
    await t.app.writer.write(() => {
      t.db.sqlite.run("DELETE FROM contacts WHERE seq % 11 = 0");
      t.db.sqlite.run("UPDATE contacts SET is_subscribed = 1 - is_subscribed WHERE seq % 13 = 0");
    });
  });

  type Row = { seq: number; email: string; subscribed: number };
  /** The expected result, computed without an index. */
  function naive(term: string, flag: string | null): string[] {
    return t.db.sqlite
      .query<Row, []>(
        "SELECT seq, email, is_subscribed AS subscribed FROM contacts ORDER BY seq DESC",
      )
      .all()
      .filter(({ email }) => email.includes(term))
      .filter(({ subscribed }) => flag === null || String(subscribed === 1) === flag)
      .map(({ email }) => email);
  }

  const cases = ["rare", "often@odd", "p4", "99", "@", "e", "unknown"].flatMap((term) =>
    [null, "true", "false"].map((flag) => [term, flag] as const),
  );
  test.each(cases)(
    "for %j with subscribed %p returns all pages, each with the exact total",
    async (term, flag) => {
      const expected = naive(term, flag);
      const seen: string[] = [];
      let cursor: unknown = null;
      do {
        const rest = flag === null ? "" : `&subscribed=${flag}`;
        const at = typeof cursor === "string" ? `&cursor=${cursor}` : "";
        const page = await search(term, `&limit=100${rest}${at}`);
        expect(page.at("total")).toBe(expected.length);
        seen.push(...emailsOf(page));
        cursor = page.at("cursor");
        expect(page.at("hasMore")).toBe(cursor !== null);
      } while (cursor !== null);
      expect(seen).toEqual(expected);
    },
  );

  test("finds the same again after addresses were changed", async () => {
    expect((await found("rare"))[0]).toBe(naive("rare", null).length);
    await t.app.writer.write(() => {
      t.db.sqlite.run("UPDATE contacts SET email = 'rare.' || email WHERE seq % 17 = 0");
    });
    const expected = naive("rare", null);
    expect(await found("rare", "&limit=50")).toEqual([expected.length, ...expected.slice(0, 50)]);
  });

  test("without a term returns all pages, each with the exact total", async () => {
    for (const flag of [null, "true", "false"]) {
      const expected = naive("", flag);
      const seen: string[] = [];
      let cursor: unknown = null;
      do {
        const rest = flag === null ? "" : `&subscribed=${flag}`;
        const at = typeof cursor === "string" ? `&cursor=${cursor}` : "";
        const page = await t.call("GET", `/contacts?limit=100${rest}${at}`);
        expect(page.at("total")).toBe(expected.length);
        seen.push(...emailsOf(page));
        cursor = page.at("cursor");
      } while (cursor !== null);
      expect(seen).toEqual(expected);
    }
  });

  test("returns the same page after contacts before it were added and removed", async () => {
    const expected = naive("often", null);
    const first = await search("often", "&limit=50");
    await create("often@often.test");
    t.db.sqlite.run("DELETE FROM contacts WHERE email = ?", [expected[0] ?? ""]);
    const second = await search("often", `&limit=50&cursor=${first.text("cursor")}`);
    expect(emailsOf(second)).toEqual(expected.slice(50, 100));
  });
});

test("a project has at most two scans at the same time, and does not delay another one", async () => {
  await create("ada@example.com");
  const started: number[] = [];
  const { promise: isReleased, resolve: release } = Promise.withResolvers<void>();
  const nextSlice = (owner: number) => {
    started.push(owner);
    return isReleased;
  };
  const scheduler = { queueOf: (owner: number) => ({ nextSlice: () => nextSlice(owner) }) };
  const searchAddresses = createAddressSearch({ db: t.db, scheduler });
  const query = {
    part: ["ada", null] as const,
    isSubscribed: undefined,
    before: undefined,
    limit: 10,
  };
  const { seq } = t.project;
  // The time stands still, so that each scan takes one slice on a busy machine as well.
  const clock = spyOn(performance, "now").mockReturnValue(performance.now());
  const searches = [seq, seq, seq, seq, seq, seq + 1].map((owner) => searchAddresses(owner, query));
  await nextIteration();
  expect(started).toEqual([seq, seq, seq + 1]);
  release();
  const totals = (await Promise.all(searches)).map(({ total }) => total);
  clock.mockRestore();
  expect(totals).toEqual([1, 1, 1, 1, 1, 0]);
  expect(started).toHaveLength(6);
});
