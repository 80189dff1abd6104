/** `GET /emails` and its filters, compared with a filter over the list of all emails. */

import { afterAll, beforeAll, describe, expect, spyOn, test } from "bun:test";
import { EMAIL_SOURCES, EMAIL_STATUSES } from "../../../src/db/schema/emails.ts";
import { addDomain, type TestApp, testApp } from "../../support/app.ts";
import { migratedFile } from "../../support/database.ts";
import { valueAt, listAt, stringAt } from "../../support/json.ts";
import { planOf } from "../../support/outbox.ts";
import { expectError } from "../../support/refusal.ts";

let t: TestApp;
let stranger: string;
let template: string;
let campaigns: string[];

const RECIPIENTS = ["ada@example.com", "bob@mail.example.com", "cy@bücher.example", "d+e@b.co"];

beforeAll(async () => {
  t = await testApp({ db: migratedFile() });
  stranger = (await t.makeProject("stranger")).secretKey;
  await addDomain(t.app, t.project.seq, "sub.acme.test");
  const TEMPLATE = { name: "t", subject: "s", body: "b", type: "TRANSACTIONAL" };
  template = await t.create("/templates", TEMPLATE, "data.id");
  campaigns = [];
  for (const name of ["first", "second"]) {
    const content = { name, subject: "s", body: "b", from: "news@acme.test", audienceType: "ALL" };
    campaigns.push(await t.create("/campaigns", content, "data.id"));
  }
  let i = 0;
  for (const key of [t.secretKey, stranger, t.secretKey]) {
    const domain = key === stranger ? "stranger.test" : i === 0 ? "acme.test" : "sub.acme.test";
    for (const to of RECIPIENTS) {
      const from = `${i % 2 === 0 ? "orders" : "news"}@${domain}`;
      const which = i % 3 === 0 && key !== stranger ? { template } : {};
      const mail = { to: [to, RECIPIENTS[0]], from, subject: "Hi", body: "b", ...which };
      await t.create("/v1/send", mail, "data.emails.0.email", { key });
      t.clock.advance(60_000);
      i++;
    }
  }
  const rows = t.db.sqlite
    .query<{ seq: number; isOwn: number }, []>("SELECT seq, project_seq = 1 AS isOwn FROM emails")
    .all();
  for (const { seq, isOwn } of rows) {
    const status = EMAIL_STATUSES[seq % 4];
    const source = EMAIL_SOURCES[seq % 3];
    const campaignSeq = isOwn === 1 && seq % 5 === 0 ? (seq % 2) + 1 : null;
    t.db.sqlite.run(
      `UPDATE OR IGNORE emails SET status = ?1, source = ?2, campaign_seq = ?3,
         subject = iif(seq % 4 = 1, 'Größe ÄNDERN: 100%_', subject) WHERE seq = ?4`,
      [status ?? "", source ?? "", campaignSeq, seq],
    );
  }
  // In each pair of queued mails, one was deferred at its last attempt, and one at an earlier attempt.
  t.db.sqlite.run(`
    INSERT INTO attempts (email_seq, number, started_at, duration_ms, outcome, class)
    SELECT seq, n, 0, 1, iif(n = 2 AND seq % 8 = 0, 'failed', 'deferred'), 'greylisted'
    FROM emails JOIN (SELECT 1 AS n UNION SELECT 2) WHERE status = 'QUEUED'`);
  t.db.sqlite.run("UPDATE emails SET attempts = 2 WHERE status = 'QUEUED'");
});
afterAll(() => t.close());

type Email = Record<
  | "id"
  | "to"
  | "from"
  | "subject"
  | "status"
  | "source"
  | "createdAt"
  | "templateId"
  | "campaignId"
  | "wasDeferred",
  string | null
>;

/** Ids on all pages of a filter, newest first. Checks that every page has the same total. */
async function pagesOf(query: string, limit: number, key = t.secretKey): Promise<unknown[]> {
  const ids: unknown[] = [];
  for (let cursor = ""; ;) {
    const answer = await t.call("GET", `/emails?limit=${limit}${query}${cursor}`, undefined, {
      key,
    });
    const items = listAt(answer.body, "data.items");
    ids.push(...items.map((item) => valueAt(item, "id")));
    expect([answer.status, answer.at("data.hasMore")]).toEqual([200, ids.length < totalOf(answer)]);
    if (answer.at("data.hasMore") !== true) {
      expect(ids.length).toBe(totalOf(answer));
      return ids;
    }
    cursor = `&cursor=${answer.text("data.nextCursor")}`;
  }
}

const totalOf = ({ body }: { body: unknown }) => Number(valueAt(body, "data.total"));

async function all(): Promise<Email[]> {
  const { body } = await t.call("GET", "/emails?limit=100");
  const nullable = (item: unknown, name: keyof Email) =>
    valueAt(item, name) === null ? null : stringAt(item, name);
  return listAt(body, "data.items").map((item) => ({
    id: nullable(item, "id"),
    to: nullable(item, "to"),
    from: nullable(item, "from"),
    subject: nullable(item, "subject"),
    status: nullable(item, "status"),
    source: nullable(item, "source"),
    createdAt: nullable(item, "createdAt"),
    templateId: nullable(item, "templateId"),
    campaignId: nullable(item, "campaignId"),
    wasDeferred: valueAt(listAt(item, "attempts").at(-1), "outcome") === "deferred" ? "yes" : "no",
  }));
}

type Filter = [query: () => string, matches: (email: Email) => boolean];

const filters: Record<string, Filter> = {
  "status=SENT": [() => "&status=SENT", ({ status }) => status === "SENT"],
  "status=DEFERRED": [() => "&status=DEFERRED", ({ wasDeferred }) => wasDeferred === "yes"],
  "ended=true": [() => "&ended=true", ({ status }) => status === "SENT" || status === "DELIVERED"],
  "ended=false": [
    () => "&ended=false",
    ({ status }) => status === "QUEUED" || status === "SENDING",
  ],
  "source=CAMPAIGN": [() => "&source=CAMPAIGN", ({ source }) => source === "CAMPAIGN"],
  templateId: [() => `&templateId=${template}`, ({ templateId }) => templateId === template],
  "first campaignId": [
    () => `&campaignId=${campaigns[0] ?? ""}`,
    ({ campaignId }) => campaignId === campaigns[0],
  ],
  "second campaignId": [
    () => `&campaignId=${campaigns[1] ?? ""}`,
    ({ campaignId }) => campaignId === campaigns[1],
  ],
  "to an address": [() => "&to=ada@example.com", ({ to }) => to === "ada@example.com"],
  "to an address in another spelling": [
    () => `&to=${encodeURIComponent(" CY@BÜCHER.example ")}`,
    ({ to }) => to === "cy@xn--bcher-kva.example",
  ],
  "to an address with a plus": [() => "&to=d%2Be@b.co", ({ to }) => to === "d+e@b.co"],
  "to a domain": [() => "&to=@example.com", ({ to }) => to?.endsWith("@example.com") === true],
  "to an international domain": [
    () => `&to=${encodeURIComponent("@bücher.example")}`,
    ({ to }) => to === "cy@xn--bcher-kva.example",
  ],
  "from an address": [() => "&from=orders@acme.test", ({ from }) => from === "orders@acme.test"],
  "from a domain": [
    () => "&from=@sub.acme.test",
    ({ from }) => from?.endsWith("@sub.acme.test") === true,
  ],
  "a part of the subject, in another letter case": [
    () => `&subject=${encodeURIComponent("größe ändern: 100%_")}`,
    ({ subject }) => subject?.includes("ÄNDERN") === true,
  ],
  since: [
    () => "&since=2026-03-02T10:02:00Z",
    ({ createdAt }) => (createdAt ?? "") >= "2026-03-02T10:02:00.000Z",
  ],
  until: [
    () => "&until=2026-03-02T10:02:00Z",
    ({ createdAt }) => (createdAt ?? "") <= "2026-03-02T10:02:00.000Z",
  ],
};

describe("a filter finds all matching emails in pages with exact totals", () => {
  test.each(Object.entries(filters))("%s", async (_, [query, matches]) => {
    const emails = await all();
    const wanted = emails.filter(matches).map(({ id }) => id);
    expect(wanted.length).toBeGreaterThan(0);
    expect(wanted.length).toBeLessThan(emails.length);
    for (const limit of [1, 2, 100]) expect(await pagesOf(query(), limit)).toEqual(wanted);
  });

  test("combined filters find the emails that match all of them", async () => {
    const named = Object.entries(filters);
    const emails = await all();
    for (const [i, [, [query, matches]]] of named.entries()) {
      for (const [, [otherQuery, otherMatches]] of named.slice(i + 1)) {
        if (query().split("=")[0] === otherQuery().split("=")[0]) continue;
        const wanted = emails.filter((email) => matches(email) && otherMatches(email));
        const found = await pagesOf(query() + otherQuery(), 3);
        expect(found).toEqual(wanted.map(({ id }) => id));
      }
    }
  });
});

describe("another project", () => {
  test("has its own emails for each filter", async () => {
    const known = new Set(await pagesOf("", 100, stranger));
    const own = new Set((await all()).map(({ id }) => id));
    for (const [name, [query]] of Object.entries(filters)) {
      for (const id of await pagesOf(query(), 100)) {
        expect([name, known.has(id), own.has(String(id))]).toEqual([name, false, true]);
      }
      for (const id of await pagesOf(query(), 100, stranger)) {
        expect([name, known.has(id), own.has(String(id))]).toEqual([name, true, false]);
      }
    }
  });

  test("does not know the campaigns and templates of the first one", async () => {
    for (const filter of [
      `campaignId=${campaigns[0] ?? ""}`,
      `templateId=${template}`,
      "campaignId=no-such-campaign",
    ]) {
      const answer = await t.call("GET", `/emails?${filter}`, undefined, { key: stranger });
      expect([answer.status, totalOf(answer)]).toEqual([200, 0]);
    }
  });
});

test("an invalid filter is refused", async () => {
  const faults: [query: string, field: string, code: string][] = [
    ["to=ada", "to", "invalid_format"],
    ["to=", "to", "invalid_format"],
    ["to=@", "to", "invalid_format"],
    ["to=@a_b", "to", "invalid_format"],
    ["from=a@b@", "from", "invalid_format"],
    ["from=%00", "from", "invalid_format"],
  ];
  for (const [query, field, code] of faults) {
    const answer = await t.call("GET", `/emails?${query}`);
    const errors = [[field, code]] as const;
    expectError(answer, { status: 422, code: "VALIDATION_ERROR", errors });
  }
});

describe("with many emails", () => {
  const MANY = 30_000;
  beforeAll(() => {
    t.db.sqlite.run(
      `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?)
       INSERT INTO emails (id, project_seq, message_seq, source, to_address, subject, status,
                           priority, created_at)
       SELECT 'many-' || n, 1, 1, 'TRANSACTIONAL', 'p' || n || '@many.test', 's', 'SENT', 0, n
       FROM numbers`,
      [MANY],
    );
  });

  test.each([
    ["to=p7@many.test", 1],
    ["to=@many.test", MANY],
    ["from=nobody@acme.test", 0],
    ["subject=nothing", 0],
    ["since=2027-01-01T00:00:00Z", 0],
    ["source=CAMPAIGN&to=@many.test", 0],
  ])("%s counts all that it finds", async (query, total) => {
    expect(totalOf(await t.call("GET", `/emails?${query}`))).toBe(total);
  });

  test("every statement uses an index and sorts nothing", async () => {
    const spy = spyOn(t.app.app.reader, "find");
    for (const filter of ["", ...Object.values(filters).map(([query]) => query())]) {
      await t.call("GET", `/emails?limit=1${filter}`);
    }
    const statements = [...new Set(spy.mock.calls.map(([, { sql }]) => sql))];
    spy.mockRestore();
    const scans = statements.filter((sql) => sql.includes("INDEXED BY"));
    expect(scans.length).toBeGreaterThan(10);
    for (const sql of scans) {
      // The connection of the event loop has not the functions of readers.
      const plan = planOf(t.db, sql.replace("in_time(e.seq)", "1").replace("has_text(", "instr("));
      expect(plan).not.toMatch(/SCAN \w+$/m);
      expect(plan).not.toContain("TEMP B-TREE");
    }
  });
});
