import { beforeAll, beforeEach, describe, expect, test } from "bun:test";
import type { TestResponse, TestApp } from "../../support/app.ts";
import { listAt, stringAt } from "../../support/json.ts";
import { projectPerTest } from "../../support/project-per-test.ts";
import { runImport } from "./upload.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const search = (term: string, rest = "", app = t) =>
  app.call("GET", `/contacts?search=${encodeURIComponent(term)}${rest}`);
const emailsOf = (answer: TestResponse) =>
  listAt(answer.body, "contacts").map((contact) => stringAt(contact, "email"));
const found = async (term: string, rest = "", app = t) => {
  const answer = await search(term, rest, app);
  expect(answer.status).toBe(200);
  return [answer.at("total"), ...emailsOf(answer)];
};
const create = (email: string, subscribed = true) =>
  t.create("/contacts", { email, subscribed }, "id");

test("search finds contacts by a part of the address", async () => {
  const EMAILS = [
    "ada@example.com",
    "a.d.a@example.org",
    "Zoë@bücher.example",
    "o'neil+x@mail.test",
    "7@7.test",
    "100%@mail.test",
  ];
  for (const email of EMAILS) await create(email);

  const cases: [term: string, emails: string[]][] = [
    ["ada@example.com", ["ada@example.com"]],
    ["ADA@", ["ada@example.com"]],
    [" ada ", ["ada@example.com"]],
    ["example", ["zoë@xn--bcher-kva.example", "a.d.a@example.org", "ada@example.com"]],
    [
      "@",
      [
        "100%@mail.test",
        "7@7.test",
        "o'neil+x@mail.test",
        "zoë@xn--bcher-kva.example",
        "a.d.a@example.org",
        "ada@example.com",
      ],
    ],
    [
      "a",
      [
        "100%@mail.test",
        "o'neil+x@mail.test",
        "zoë@xn--bcher-kva.example",
        "a.d.a@example.org",
        "ada@example.com",
      ],
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
        "100%@mail.test",
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
    ["%", ["100%@mail.test"]],
    ["100%@", ["100%@mail.test"]],
    ["_", []],
    ["*", []],
    ["\\", []],
    ["' OR '1'='1", []],
    ["unknown", []],
    ["\n", []],
    ["\u00a0", []],
    [
      " \t",
      [
        "100%@mail.test",
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
  for (const [term, emails] of cases) {
    expect([term, ...(await found(term))]).toEqual([term, emails.length, ...emails]);
  }
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
    const { sqlite } = t.db;
    const own = `WHERE project_seq = ${t.project.seq}`;
    sqlite.run(`UPDATE contacts SET email = 'eva@example.com' ${own}`);
    expect([await found("ada"), await found("eva")]).toEqual([[0], [1, "eva@example.com"]]);
    sqlite.run(`DELETE FROM contacts ${own}`);
    expect(await found("eva")).toEqual([0]);
  });
});

describe("search among many contacts", () => {
  const COUNT = 5000;
  const emailOf = (i: number) =>
    `p${i}.${i % 7 === 0 ? "rare" : "often"}@${i % 2 === 0 ? "even" : "odd"}.test`;
  let many: TestApp;
  beforeAll(async () => {
    many = await projects.next();
    const lines = Array.from({ length: COUNT }, (_, i) => `${emailOf(i)},${i % 3 !== 0}`);
    await runImport(many, `email,subscribed\n${lines.join("\n")}\n`);
    await many.app.writer.write(() => {
      const { sqlite } = many.db;
      sqlite.run("DELETE FROM contacts WHERE seq % 11 = 0");
      sqlite.run("UPDATE contacts SET is_subscribed = 1 - is_subscribed WHERE seq % 13 = 0");
    });
  });

  type Row = { seq: number; email: string; subscribed: number };
  /** The expected result, computed without an index. */
  function naive(term: string, flag: string | null): string[] {
    return many.db.sqlite
      .query<Row, [number]>(
        `SELECT seq, email, is_subscribed AS subscribed FROM contacts WHERE project_seq = ?
         ORDER BY seq DESC`,
      )
      .all(many.project.seq)
      .filter(({ email }) => email.includes(term))
      .filter(({ subscribed }) => flag === null || String(subscribed === 1) === flag)
      .map(({ email }) => email);
  }

  const cases = ["rare", "often@odd", "p4", "99", "@", "e", "unknown", null].flatMap((term) =>
    [null, "true", "false"].map((flag) => [term, flag] as const),
  );
  test.each(cases)(
    "for %p with subscribed %p returns all pages, each with the exact total",
    async (term, flag) => {
      const expected = naive(term ?? "", flag);
      const seen: string[] = [];
      let cursor: unknown = null;
      do {
        const query = new URLSearchParams({ limit: "100" });
        if (term !== null) query.set("search", term);
        if (flag !== null) query.set("subscribed", flag);
        if (typeof cursor === "string") query.set("cursor", cursor);
        const page = await many.call("GET", `/contacts?${query.toString()}`);
        expect(page.at("total")).toBe(expected.length);
        seen.push(...emailsOf(page));
        cursor = page.at("cursor");
        expect(page.at("hasMore")).toBe(cursor !== null);
      } while (cursor !== null);
      expect(seen).toEqual(expected);
    },
  );

  test("finds the same again after addresses were changed", async () => {
    expect((await found("rare", "", many))[0]).toBe(naive("rare", null).length);
    await many.app.writer.write(() => {
      many.db.sqlite.run("UPDATE contacts SET email = 'rare.' || email WHERE seq % 17 = 0");
    });
    const expected = naive("rare", null);
    const shown = await found("rare", "&limit=50", many);
    expect(shown).toEqual([expected.length, ...expected.slice(0, 50)]);
  });

  test("returns the same page after contacts before it were added and removed", async () => {
    const expected = naive("often", null);
    const first = await search("often", "&limit=50", many);
    await many.create("/contacts", { email: "often@often.test" }, "id");
    many.db.sqlite.run("DELETE FROM contacts WHERE email = ?", [expected[0] ?? ""]);
    const second = await search("often", `&limit=50&cursor=${first.text("cursor")}`, many);
    expect(emailsOf(second)).toEqual(expected.slice(50, 100));
  });
});

describe("contacts are found by", () => {
  beforeEach(async () => {
    for (const [email, data] of [
      ["a@x.io", { name: "Ada Lovelace", city: "Berlin", score: 12, vip: true }],
      ["b@x.io", { firstName: "Zoë", lastName: "Ünal", city: "berlin-Mitte", score: 2 }],
      ["c@x.io", { city: "Rome", tags: ["news", "Berlin"], address: { city: "Berlin" } }],
      ["d@berlin.io", { "home.town": "Berlin", note: 'say "hi"', score: "n/a" }],
    ] as const) {
      await t.create("/contacts", { email, data }, "id");
    }
  });

  const matching = async (filters: Readonly<Record<string, string>>) => {
    const answer = await t.call("GET", `/contacts?${new URLSearchParams(filters).toString()}`);
    expect(answer.status).toBe(200);
    expect(answer.at("total")).toBe(emailsOf(answer).length);
    return emailsOf(answer)
      .map((email) => email[0])
      .join("");
  };
  const json = JSON.stringify;
  const cases: [filters: Readonly<Record<string, string>>, found: string][] = [
    [{ search: "lovel" }, "a"],
    [{ search: "ADA LOVE" }, "a"],
    [{ search: "zoë ün" }, "b"],
    [{ search: "ÜNAL" }, "b"],
    [{ search: "rome" }, ""],
    [{ search: "berlin" }, "d"],
    [{ data: json({ city: "Berlin" }) }, "ba"],
    [{ data: json({ city: "BERLIN", score: "12" }) }, "a"],
    [{ data: json({ tags: "berlin" }) }, "c"],
    [{ data: json({ "address.city": "berlin" }) }, "c"],
    [{ data: json({ "home.town": "berlin" }) }, "d"],
    [{ data: json({ note: 'say "' }) }, "d"],
    [{ data: json({ vip: "true" }) }, "a"],
    [{ data: json({ unknown: "x" }) }, ""],
    [{ data: json({ CITY: "Berlin" }) }, "ba"],
    [{ data: json({ "Home.Town": "berlin" }) }, "d"],
    [{ data: json({ Vip: "true", SCORE: "12" }) }, "a"],
    [{ data: json({ NAME: "lovelace" }) }, "a"],
    [{ data: json({ Note: '"HI' }) }, "d"],
    [{ data: json({ city: "Berlin" }), search: "zoë" }, "b"],
    [{ data: json({ city: "Berlin" }), subscribed: "false" }, ""],
  ];
  test.each(cases)("%j", async (filters, expected) => {
    expect(await matching(filters)).toBe(expected);
    const query = new URLSearchParams(filters).toString();
    const [, ...lines] = String((await t.call("GET", `/contacts/export?${query}`)).body).split(
      "\n",
    );
    const exported = lines.filter((line) => line !== "").map((line) => line[0]);
    expect(exported.toReversed().join("")).toBe(expected);
  });

  const orders: [query: Readonly<Record<string, string>>, found: string][] = [
    [{ sort: "email" }, "abcd"],
    [{ sort: "email", order: "desc" }, "dcba"],
    [{ sort: "createdAt" }, "dcba"],
    [{ sort: "createdAt", order: "asc" }, "abcd"],
    [{ sort: "data.score" }, "badc"],
    [{ sort: "data.score", order: "desc" }, "dabc"],
    [{ sort: "data.city" }, "abcd"],
    [{ sort: "data.address.city" }, "cdba"],
    [{ sort: "data.city", order: "desc", search: "@x" }, "cba"],
  ];
  test.each(orders)("sorted: %j", async (query, expected) => {
    const seen: string[] = [];
    let cursor: unknown = null;
    do {
      const page = new URLSearchParams({ ...query, limit: "2" });
      if (typeof cursor === "string") page.set("cursor", cursor);
      const answer = await t.call("GET", `/contacts?${page.toString()}`);
      expect(answer.at("total")).toBe(expected.length);
      seen.push(...emailsOf(answer));
      cursor = answer.at("cursor");
    } while (cursor !== null);
    expect(seen.map((email) => email[0]).join("")).toBe(expected);
  });

  const faults: [field: string, value: string][] = [
    ["data", "city:Berlin"],
    ["data", "[]"],
    ["data", '{"score":12}'],
    ["data", '{"":"x"}'],
    ["data", json(Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`k${i}`, "x"])))],
    ["sort", "name"],
    ["sort", "data."],
    ["order", "up"],
  ];
  test.each(faults)("a wrong %s: %s", async (field, value) => {
    const answer = await t.call(
      "GET",
      `/contacts?${new URLSearchParams({ [field]: value }).toString()}`,
    );
    expect([answer.status, answer.at("error.errors.0.field")]).toEqual([422, field]);
  });
});

test("a key in other letter case is used by contacts that do not have the key itself", async () => {
  for (const [email, data] of [
    ["a@x.io", { City: "Berlin" }],
    ["b@x.io", { city: "Rome", City: "Berlin" }],
    ["c@x.io", { city: null, City: "Berlin" }],
    ["d@x.io", { STRASSE: "Berlin", "CITY ": "Berlin" }],
    ["e@x.io", { ÇITY: "Berlin", cITY: 7 }],
  ] as const) {
    await t.create("/contacts", { email, data }, "id");
  }
  const withKey = async (key: string, part = "berlin") => {
    const data = encodeURIComponent(JSON.stringify({ [key]: part }));
    return emailsOf(await t.call("GET", `/contacts?data=${data}`)).map((email) => email[0]);
  };
  expect(await withKey("city")).toEqual(["c", "a"]);
  expect(await withKey("City")).toEqual(["c", "b", "a"]);
  expect(await withKey("çity")).toEqual(["e"]);
  expect(await withKey("CITY", "7")).toEqual(["e"]);
  expect(await withKey("strasse")).toEqual(["d"]);
});
