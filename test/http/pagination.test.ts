import { beforeAll, describe, expect, test } from "bun:test";
import { createCursors } from "../../src/http/cursor.ts";
import { createListPage, type PageQuery, type PageRequest } from "../../src/http/pagination.ts";
import { deriveKey } from "../../src/lib/crypto.ts";
import type { TestApp } from "../support/app.ts";
import { valueAt, listAt } from "../support/json.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

type Page = { ids: unknown[]; cursor: unknown; hasMore: unknown; total: unknown };

/** Reads a page in either response format. */
async function readPage(t: TestApp, path: string, key = t.secretKey): Promise<Page> {
  const answer = await t.call("GET", path, undefined, { key });
  if (answer.status !== 200) throw new Error(`${path}: ${JSON.stringify(answer.body)}`);
  const isContacts = answer.at("contacts") !== undefined;
  const list = isContacts ? answer.body : answer.at("data");
  return {
    ids: listAt(list, isContacts ? "contacts" : "items").map((item) => valueAt(item, "id")),
    cursor: valueAt(list, isContacts ? "cursor" : "nextCursor"),
    hasMore: valueAt(list, "hasMore"),
    total: valueAt(list, "total"),
  };
}

const template = { subject: "s", body: "b", type: "TRANSACTIONAL" };
const mail = { from: "a@acme.test", subject: "s", body: "b" };
const lists: [path: string, create: (t: TestApp, n: number) => Promise<string>][] = [
  ["/contacts", (t, n) => t.create("/contacts", { email: `c${n}@b.co` }, "id")],
  ["/templates", (t, n) => t.create("/templates", { ...template, name: `t${n}` }, "data.id")],
  ["/emails", (t, n) => t.create("/v1/send", { ...mail, to: `m${n}@b.co` }, "data.emails.0.email")],
];

const projects = projectPerTest();

for (const [path, create] of lists) {
  describe(`the pages of ${path}`, () => {
    let t: TestApp;
    const created: string[] = [];
    beforeAll(async () => {
      t = await projects.next();
      // All rows have the same creation time. The order is nevertheless that of creation.
      for (let n = 0; n < 45; n++) created.unshift(await create(t, n));
      const other = await t.makeProject("other");
      await t.call("POST", "/contacts", { email: "c1@b.co" }, { key: other.secretKey });
    });

    test("have 20 items by default, newest first, and an exact total", async () => {
      const page = await readPage(t, path);
      expect(page.ids).toEqual(created.slice(0, 20));
      expect([page.hasMore, page.total, typeof page.cursor]).toEqual([true, 45, "string"]);
    });

    for (const limit of [1, 7, 44, 45, 46, 100]) {
      test(`contain with limit ${limit} each item once, in order, and end with a null cursor`, async () => {
        const seen: unknown[] = [];
        let cursor = "";
        for (;;) {
          const page = await readPage(t, `${path}?limit=${limit}${cursor}`);
          seen.push(...page.ids);
          expect([page.total, page.hasMore]).toEqual([45, seen.length < 45]);
          if (page.hasMore !== true) {
            expect(page.cursor).toBeNull();
            break;
          }
          expect(page.ids).toHaveLength(limit);
          cursor = `&cursor=${String(page.cursor)}`;
        }
        expect(seen).toEqual(created);
      });
    }

    test("answer 422 for a cursor that was not issued for this list", async () => {
      const { cursor } = await readPage(t, `${path}?limit=1`);
      const good = String(cursor);
      const [otherPath = ""] = lists.map(([name]) => name).filter((name) => name !== path);
      const foreign = await t.makeProject("foreign");
      for (let n = 0; n < 2; n++) {
        const body = { email: `f${n}@b.co` };
        await t.call("POST", "/contacts", body, { key: foreign.secretKey });
        await t.call("POST", "/templates", { ...template, name: "t" }, { key: foreign.secretKey });
        const theirMail = { ...mail, from: "a@foreign.test", to: "x@b.co" };
        await t.call("POST", "/v1/send", theirMail, { key: foreign.secretKey });
      }
      const theirs = await readPage(t, `${path}?limit=1`, foreign.secretKey);
      const bytes = Buffer.from(good, "base64url");
      const altered = Array.from(bytes, (_, i) => {
        const copy = Buffer.from(bytes);
        copy[i] = (copy[i] ?? 0) ^ 1;
        return copy.toString("base64url");
      });
      const bad = [
        "",
        "x",
        "1",
        "0",
        "null",
        "%00",
        "😀",
        "e30=",
        encodeURIComponent(`${good}=`),
        `${good}A`,
        `%20${good}`,
        good.slice(0, -1),
        good.slice(1),
        good.toUpperCase(),
        bytes.toString("hex"),
        "A".repeat(good.length),
        "A".repeat(5000),
        String((await readPage(t, `${otherPath}?limit=1`)).cursor),
        String(theirs.cursor),
        ...altered,
      ];
      for (const text of bad) {
        const answer = await t.call("GET", `${path}?cursor=${text}`);
        const errors = [["cursor", "invalid_value"]] as const;
        expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
      }
      expect((await t.call("GET", `${path}?cursor=${good}`)).status).toBe(200);
    });

    test("have exactly the documented fields", async () => {
      const answer = await t.call("GET", path);
      const names = (value: unknown) => Object.keys(Object(value)).sort();
      if (path === "/contacts") {
        expect(names(answer.body)).toEqual([
          "contacts",
          "cursor",
          "hasMore",
          "items",
          "nextCursor",
          "total",
        ]);
      } else {
        expect(names(answer.body)).toEqual(["data", "success"]);
        expect(names(answer.at("data"))).toEqual(["hasMore", "items", "nextCursor", "total"]);
      }
    });
  });
}

describe("while rows are added and deleted between pages", () => {
  test("no row is repeated or skipped, and the total is exact (random runs)", async () => {
    const t = await projects.next();
    const model: { id: string; email: string }[] = []; // Newest first.
    let made = 0;
    const add = async () => {
      const email = `p${made++}@b.co`;
      model.unshift({ id: await t.create("/contacts", { email }, "id"), email });
    };
    const removeAny = async () => {
      const [gone] = model.splice(Math.floor(Math.random() * model.length), 1);
      if (gone !== undefined) await t.call("DELETE", `/contacts/${gone.id}`);
    };
    for (let run = 0; run < 12; run++) {
      while (model.length < 25) await add();
      const start = new Set(model.map(({ id }) => id));
      const limit = 1 + Math.floor(Math.random() * 6);
      const seen: unknown[] = [];
      let path = `/contacts?limit=${limit}`;
      for (;;) {
        const page = await readPage(t, path);
        seen.push(...page.ids);
        expect(page.total).toBe(model.length);
        if (page.hasMore !== true) break;
        path = `/contacts?limit=${limit}&cursor=${String(page.cursor)}`;
        for (let i = Math.floor(Math.random() * 4); i > 0; i--) {
          await (Math.random() < 0.5 ? add() : removeAny());
        }
      }
      expect(new Set(seen).size).toBe(seen.length);
      expect(seen.filter((id) => !start.has(String(id)))).toEqual([]);
      const stillThere = model.filter(({ id }) => start.has(id)).map(({ id }) => id);
      expect(seen.filter((id) => stillThere.includes(String(id)))).toEqual(stillThere);
    }
  });

  test("a page may start at a deleted row", async () => {
    const t = await projects.next();
    for (let n = 0; n < 3; n++) await t.create("/contacts", { email: `g${n}@b.co` }, "id");
    const first = await readPage(t, "/contacts?limit=1");
    await t.call("DELETE", `/contacts/${String(first.ids[0])}`);
    const rest = await readPage(t, `/contacts?limit=5&cursor=${String(first.cursor)}`);
    expect([rest.ids.length, rest.total]).toEqual([2, 2]);
  });

  test("a changed row keeps its position", async () => {
    const t = await projects.next();
    const ids: string[] = [];
    for (let n = 0; n < 3; n++)
      ids.unshift(await t.create("/contacts", { email: `u${n}@b.co` }, "id"));
    t.clock.advance(1000);
    await t.call("PATCH", `/contacts/${ids[2]}`, { data: { x: 1 } });
    expect((await readPage(t, "/contacts")).ids).toEqual(ids);
  });
});

describe("a cursor", () => {
  const rows = [
    { at: 5, seq: 9 },
    { at: 5, seq: 8 },
  ];

  const positionOf = ({ at, seq }: { at: number; seq: number }) => [at, seq];

  /** Reads a page of a list; returns the request for its rows and the cursor of the next page. */
  async function readList(secret: string, scope: string, query: PageQuery) {
    const listPage = createListPage(createCursors(deriveKey(secret, "cursors")));
    const requests: PageRequest[] = [];
    const { nextCursor } = await listPage(
      { scope, query },
      (request) => {
        requests.push(request);
        return { rows, total: 2, positionOf };
      },
      (shown) => shown.map(String),
    );
    return { requests, nextCursor };
  }

  const issue = async (scope: string) =>
    (await readList("secret", scope, { limit: "1" })).nextCursor ?? "";

  test("returns the position for which it was issued", async () => {
    const cursor = await issue("1:events");
    // One row more than the page of 20 rows tells if another page follows.
    expect((await readList("secret", "1:events", { cursor })).requests).toEqual([
      { limit: 20 + 1, after: [5, 9] },
    ]);
  });

  test("does not reveal a number of rows, and is safe in a URL", async () => {
    expect(await issue("1:events")).toMatch(/^[\w-]{30,}$/);
  });

  test("is refused with another secret", async () => {
    const cursor = await issue("1:events");
    expect(readList("another", "1:events", { cursor })).rejects.toThrow(
      "cursor: must be the nextCursor",
    );
  });
});
