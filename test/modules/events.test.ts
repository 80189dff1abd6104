/** GET /events, GET /events/names and GET /events/{id}. */

import { beforeEach, describe, expect, test } from "bun:test";
import { newId, timeOfId } from "../../src/lib/id.ts";
import { declaredStatements } from "../../src/db/statement.ts";
import type { TestApp } from "../support/app.ts";
import { listAt, stringAt } from "../support/json.ts";
import { planOf } from "../support/outbox.ts";
import { summarizeLog } from "../support/log.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { plansOfReads } from "../support/reads.ts";
import { expectError } from "../support/refusal.ts";

const projects = projectPerTest();
let t: TestApp;
beforeEach(async () => {
  t = await projects.next();
});

const track = (event: string, email = "ada@example.com", data?: object) =>
  t.create("/v1/track", { event, email, ...(data === undefined ? {} : { data }) }, "contact");

async function names(query = ""): Promise<unknown[]> {
  const answer = await t.call("GET", `/events${query}`);
  expect(answer.status).toBe(200);
  const items = listAt(answer.body, "data.items");
  expect(answer.at("data.total")).toBe(items.length);
  return items.map((item) => stringAt(item, "name"));
}

describe("GET /events", () => {
  test("lists events newest first, including those of the service", async () => {
    await track("a");
    t.clock.advance(1000);
    await track("b");
    expect(await names()).toEqual(["b", "a", "contact.subscribed"]);
  });

  test("filters by name, contact and time, in any combination", async () => {
    const start = t.clock.now();
    const contactId = await track("a");
    t.clock.advance(60_000);
    await track("a", "bob@example.com");
    await track("b");
    const at = new Date(start + 30_000).toISOString();
    expect(await names("?event=a")).toEqual(["a", "a"]);
    expect(await names("?event=A")).toEqual([]);
    expect(await names("?email=ADA@example.com")).toEqual(["b", "a", "contact.subscribed"]);
    expect(await names(`?contactId=${contactId}&event=a`)).toEqual(["a"]);
    expect(await names(`?from=${at}`)).toEqual(["b", "a", "contact.subscribed"]);
    expect(await names(`?to=${at}`)).toEqual(["a", "contact.subscribed"]);
    expect(await names(`?from=${at}&event=a&email=bob@example.com`)).toEqual(["a"]);
    expect(await names("?email=nobody@example.com")).toEqual([]);
    await track("c", "ada@xn--mnchen-3ya.example");
    expect(await names(`?event=c&email=${encodeURIComponent("Ada@MÜNCHEN.example")}`)).toEqual([
      "c",
    ]);
    expect(await names("?contactId=nobody")).toEqual([]);
  });

  test("finds nothing for an email and an id of different contacts", async () => {
    const id = await track("a");
    await track("a", "bob@example.com");
    expect(await names(`?contactId=${id}&email=ada@example.com`)).toHaveLength(2);
    expect(await names(`?contactId=${id}&email=bob@example.com`)).toEqual([]);
  });

  test("counts exactly in large logs, for every period", async () => {
    const contactId = await track("first");
    const start = t.clock.now() + 1000;
    const { sqlite } = t.db;
    sqlite.run(
      `WITH RECURSIVE n(i) AS (VALUES (0) UNION ALL SELECT i + 1 FROM n WHERE i < 16999)
       INSERT INTO events (id, project_seq, name, contact_seq, created_at)
       SELECT 'event-' || i, ?, CASE i % 3 WHEN 0 THEN 'x' ELSE 'y' END,
              (SELECT seq FROM contacts WHERE id = ?), ? + i / 700
       FROM n ORDER BY i * 7919 % 17000`,
      [t.project.seq, contactId, start],
    );
    summarizeLog(sqlite);
    const expected = sqlite.prepare<{ n: number }, [number, number, string | null]>(
      `SELECT count(*) AS n FROM events WHERE project_seq = ${t.project.seq}
       AND created_at >= ?1 AND created_at <= ?2 AND (?3 IS NULL OR name = ?3)`,
    );
    for (const [from, to] of [
      [0, 24],
      [-5000, 7],
      [7, 7],
      [3, 17],
      [24, 9000],
      [25, 9000],
    ] as const) {
      for (const name of [null, "x", "y", "z"]) {
        for (const person of ["", `&contactId=${contactId}`]) {
          const period = [from, to].map((ms) => new Date(start + ms).toISOString());
          const query = `from=${period[0]}&to=${period[1]}${name === null ? "" : `&event=${name}`}`;
          const answer = await t.call("GET", `/events?limit=1&${query}${person}`);
          const total = expected.get(start + from, start + to, name)?.n ?? 0;
          expect(answer.at("data.total")).toBe(total);
          expect(listAt(answer.body, "data.items")).toHaveLength(Math.min(1, total));
        }
      }
    }
  });

  test("repeats and skips nothing between pages while events are recorded", async () => {
    for (let i = 0; i < 7; i++) await track(`e${i}`);
    const found: unknown[] = [];
    let cursor: unknown = null;
    do {
      const after = typeof cursor === "string" ? `&cursor=${cursor}` : "";
      const answer = await t.call("GET", `/events?limit=3${after}`);
      found.push(...listAt(answer.body, "data.items"));
      cursor = answer.at("data.nextCursor");
      expect(answer.at("data.hasMore")).toBe(cursor !== null);
      await track("meanwhile");
    } while (cursor !== null);
    const expected = ["e6", "e5", "e4", "e3", "e2", "e1", "e0", "contact.subscribed"];
    expect(found.map((item) => stringAt(item, "name"))).toEqual(expected);
  });
});

describe("GET /events/names", () => {
  test("lists names in pages, most used first, with the exact total", async () => {
    for (const name of ["a", "b", "b", "c", "c", "c"]) await track(name);
    const first = await t.call("GET", "/events/names?limit=2");
    expect(first.at("data")).toMatchObject({ items: ["c", "b"], hasMore: true, total: 4 });
    const next = await t.call(
      "GET",
      `/events/names?limit=2&cursor=${first.text("data.nextCursor")}`,
    );
    expect(next.at("data")).toMatchObject({ hasMore: false, nextCursor: null, total: 4 });
    expect(new Set(listAt(next.body, "data.items"))).toEqual(new Set(["a", "contact.subscribed"]));
  });

  test("stores and finds names with any characters", async () => {
    const odd = [
      "'; DROP TABLE events; --",
      "emoji 🙂",
      "a.b.c",
      "spaces  inside",
      "%",
      "x".repeat(255),
    ];
    for (const name of odd) await track(name);
    const answer = await t.call("GET", "/events/names");
    const known = new Set(listAt(answer.body, "data.items"));
    expect(known).toEqual(new Set([...odd, "contact.subscribed"]));
    for (const name of odd) {
      expect(await names(`?event=${encodeURIComponent(name)}`)).toEqual([name]);
    }
  });
});

describe("GET /events/{id}", () => {
  test("finds events whose id has a later time, because too many were made in its millisecond", async () => {
    const at = t.clock.now();
    for (let i = 0; i < 5_000; i++) newId(at);
    const id = await t.create(
      "/v1/track",
      { email: "late@example.com", event: "late" },
      "data.event",
    );
    expect(timeOfId(id)).toBeGreaterThan(at);
    expect((await t.call("GET", `/events/${id}`)).status).toBe(200);
  });

  test("finds each event by the time in its id, through an index", async () => {
    await track("a", "ada@example.com", { total: 12 });
    t.clock.advance(1);
    await track("b");
    const { body } = await t.call("GET", "/events");
    for (const item of listAt(body, "data.items")) {
      const found = await t.call("GET", `/events/${stringAt(item, "id")}`);
      expect([found.status, found.at("data")]).toEqual([200, item]);
    }
    const sql = declaredStatements().find((text) => text.includes("INDEXED BY events_page")) ?? "";
    expect(planOf(t.db, sql).split("\n")[0]).toBe(
      "SEARCH e USING INDEX events_page (project_seq=? AND created_at>? AND created_at<?)",
    );
  });

  test("does not find other ids, or an event of another project", async () => {
    await track("a");
    const id = (await t.call("GET", "/events")).text("data.items.0.id");
    const stranger = await t.makeProject("stranger");
    for (const [wanted, key] of [
      ["nonsense", undefined],
      [id.replace(/.$/, (last) => (last === "0" ? "1" : "0")), undefined],
      [id, stranger.secretKey],
    ] as const) {
      const answer = await t.call(
        "GET",
        `/events/${wanted}`,
        undefined,
        key === undefined ? {} : { key },
      );
      expectError(answer, { status: 404, code: "EVENT_NOT_FOUND" });
    }
  });
});

test("periods and names are read from indexes, and only the events of one contact are searched", async () => {
  await track("a", "ada@example.com");
  const plans = await plansOfReads(t.app.app, async () => {
    await t.call("GET", "/events?event=a&from=2020-01-01T00:00:00Z");
    await t.call("GET", "/events?to=2040-01-01T00:00:00Z");
    await t.call("GET", "/events/names");
  });
  expect(plans).toEqual([
    expect.stringContaining("INDEX events_name (project_seq=? AND name=? AND created_at>?"),
    expect.stringContaining("INDEX events_page (project_seq=? AND created_at>?"),
    "SEARCH event_names USING INDEX event_names_rank (project_seq=? AND count<?)",
    "SEARCH event_names USING COVERING INDEX event_names_rank (project_seq=?)",
  ]);
  const ofContact = await plansOfReads(t.app.app, () =>
    t.call("GET", "/events?email=ada@example.com&from=2020-01-01T00:00:00Z"),
  );
  expect(ofContact).toHaveLength(2);
  for (const plan of ofContact) expect(plan).not.toMatch(/SCAN (?!json_each|chains)/);
});
