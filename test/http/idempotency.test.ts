import { beforeEach, describe, expect, test } from "bun:test";
import { canonicalPath } from "../../src/http/route-path.ts";
import { createIdempotency } from "../../src/http/idempotency.ts";
import { type TestResponse, type TestApp, testApp } from "../support/app.ts";
import { projectPerTest } from "../support/project-per-test.ts";
import { expectError } from "../support/refusal.ts";

const DAY_MS = 24 * 60 * 60 * 1000;
const mail = { to: "ada@example.com", from: "a@acme.test", subject: "Hi", body: "<p>Hi</p>" };

const newCampaign = {
  name: "n",
  subject: "s",
  body: "<p>b</p>",
  from: "a@acme.test",
  audienceType: "ALL",
};

let t: TestApp;
const projects = projectPerTest();
beforeEach(async () => {
  t = await projects.next();
});

const send = (key: string, body: unknown = mail, app: TestApp = t) =>
  app.call("POST", "/v1/send", body, { headers: { "idempotency-key": key } });
const isReplay = (answer: TestResponse) => answer.headers.get("idempotency-replayed") === "true";

describe("a second request with the same key", () => {
  test("gets the same response, without a second mail", async () => {
    const first = await send("order 1");
    t.clock.advance(1000);
    const second = await send("order 1");
    expect([first.status, isReplay(first)]).toEqual([200, false]);
    expect([second.status, isReplay(second)]).toEqual([200, true]);
    expect(second.body).toEqual(first.body);
    expect(t.countRows("emails")).toBe(1);
  });

  test("gets the same status", async () => {
    const create = () =>
      t.call("POST", "/contacts", { email: "a@b.co" }, { headers: { "idempotency-key": "k" } });
    const [first, second] = [await create(), await create()];
    expect([first.status, second.status]).toEqual([201, 201]);
    expect(second.body).toEqual(first.body);
    expect(second.at("_meta.isNew")).toBe(true);
  });

  test("gets 409 for another body, and changes nothing", async () => {
    await send("order 1");
    const before = t.contents();
    const answer = await send("order 1", { ...mail, subject: "Ho" });
    expectError(answer, { status: 409, code: "IDEMPOTENCY_KEY_REUSED" });
    expect(t.contents()).toEqual(before);
  });

  test("is replayed nineteen times for twenty concurrent requests", async () => {
    const answers = await Promise.all(Array.from({ length: 20 }, () => send("order 1")));
    expect(answers.map((answer) => answer.status)).toEqual(Array.from({ length: 20 }, () => 200));
    expect(answers.filter(isReplay)).toHaveLength(19);
    expect(new Set(answers.map((answer) => answer.text("emails.0.email"))).size).toBe(1);
    expect(t.countRows("emails")).toBe(1);
  });

  test("gets 409 if it runs concurrently with another body", async () => {
    const other = { ...mail, to: "bob@example.com" };
    const answers = await Promise.all([send("order 1"), send("order 1", other)]);
    expect(answers.map((answer) => answer.status)).toEqual([200, 409]);
    expect(t.countRows("emails")).toBe(1);
  });

  test("runs if the concurrent first request fails", async () => {
    const unsubscribed = { ...mail, template: await marketingTemplate() };
    const answers = await Promise.all([send("k", unsubscribed), send("k", mail), send("k", mail)]);
    expect(answers.map((answer) => answer.status)).toEqual([400, 200, 200]);
    expect(answers.map(isReplay)).toEqual([false, false, true]);
    expect(t.countRows("emails")).toBe(1);
  });

  test("is replayed after a restart", async () => {
    const first = await send("order 1");
    const reopened = await testApp({ db: t.db, clock: t.clock });
    const second = await send("order 1", mail, reopened);
    expect(isReplay(second)).toBe(true);
    expect(second.body).toEqual(first.body);
    await reopened.close();
  });

  test("runs again after exactly 24 hours", async () => {
    await send("order 1");
    t.clock.advance(DAY_MS - 1);
    expect(isReplay(await send("order 1"))).toBe(true);
    t.clock.advance(1);
    const late = await send("order 1", { ...mail, subject: "Another" });
    expect([late.status, isReplay(late)]).toEqual([200, false]);
    expect(isReplay(await send("order 1", { ...mail, subject: "Another" }))).toBe(true);
    expect(t.countRows("emails")).toBe(2);
  });
});

describe("a key can be used again", () => {
  const cases: [name: string, body: unknown, status: number][] = [
    ["after 422", { ...mail, to: "nope" }, 422],
    ["after 404", { ...mail, template: "nope" }, 404],
    ["after 403", { ...mail, from: "a@elsewhere.test" }, 403],
  ];
  for (const [name, body, status] of cases) {
    test(name, async () => {
      const before = t.countRows("idempotency_keys");
      expect((await send("order 1", body)).status).toBe(status);
      expect(t.countRows("idempotency_keys")).toBe(before);
      const answer = await send("order 1");
      expect([answer.status, isReplay(answer)]).toEqual([200, false]);
    });
  }

  test("after 400, which is found within the change", async () => {
    const template = await marketingTemplate();
    expect((await send("order 1", { ...mail, template })).status).toBe(400);
    expect((await send("order 1")).status).toBe(200);
  });

  test("after 503, because nothing was stored", async () => {
    t.db.sqlite.run("PRAGMA query_only = ON");
    expect((await send("order 1")).status).toBe(503);
    t.db.sqlite.run("PRAGMA query_only = OFF");
    const answer = await send("order 1");
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });
});

describe("a key belongs to", () => {
  test("a project", async () => {
    const other = await t.makeProject("other");
    await send("k");
    const theirs = { ...mail, from: "a@other.test" };
    const rest = { key: other.secretKey, headers: { "idempotency-key": "k" } };
    const answer = await t.call("POST", "/v1/send", theirs, rest);
    expect([answer.status, isReplay(answer)]).toEqual([200, false]);
  });

  test("a project, independently of the API key", async () => {
    const again = await testApp({ db: t.db, clock: t.clock }); // This creates new API keys.
    await send("k");
    expect(isReplay(await send("k", mail, again))).toBe(true);
    await again.close();
  });

  test("a path", async () => {
    await send("k");
    const rest = { headers: { "idempotency-key": "k" } };
    expect((await t.call("POST", "/contacts", { email: "a@b.co" }, rest)).status).toBe(201);
  });

  test("its exact spelling", async () => {
    await send("k");
    expect(isReplay(await send("K"))).toBe(false);
  });
});

describe("two spellings of one path share their keys", () => {
  const headers = { "idempotency-key": "k" };
  const post = (path: string, body: unknown) => t.call("POST", path, body, { headers });

  const spellings: [first: string, second: string][] = [
    ["/v1/send", "/v1/send/"],
    ["/v1/send/", "/v1/send"],
    ["/v1/send/", "/v1/send/?source=shop"],
  ];
  for (const [first, second] of spellings) {
    test(`${first} and ${second}`, async () => {
      const answers = [await post(first, mail), await post(second, mail)];
      expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual([
        [200, false],
        [200, true],
      ]);
      expect(t.countRows("emails")).toBe(1);
    });
  }

  test("an id with a trailing slash or percent-encoding", async () => {
    const campaign = await t.create("/campaigns", newCampaign, "data.id");
    const encoded = campaign.replace(/^./, (digit) => `%${digit.charCodeAt(0).toString(16)}`);
    const copy = (path: string) => post(path, undefined);
    const first = await copy(`/campaigns/${campaign}/duplicate`);
    expect([first.status, isReplay(first)]).toEqual([201, false]);
    for (const path of [`/campaigns/${campaign}/duplicate/`, `/campaigns/${encoded}/duplicate`]) {
      const answer = await copy(path);
      expect([path, answer.status, isReplay(answer)]).toEqual([path, 201, true]);
      expect(answer.body).toEqual(first.body);
    }
    expect(t.countRows("campaigns")).toBe(2);
  });

  test("but the paths of two campaigns do not", async () => {
    const ids = [
      await t.create("/campaigns", newCampaign, "data.id"),
      await t.create("/campaigns", newCampaign, "data.id"),
    ];
    const answers = await Promise.all(ids.map((id) => post(`/campaigns/${id}/duplicate/`, {})));
    expect(answers.map((answer) => [answer.status, isReplay(answer)])).toEqual([
      [201, false],
      [201, false],
    ]);
  });

  test("also on a socket, where the router of the server reads the path", async () => {
    const own = await testApp({ config: { port: 0 } });
    const url = `http://127.0.0.1:${await own.app.listen()}`;
    const replays: (string | null)[] = [];
    for (const path of ["/v1/send", "/v1/send/"]) {
      const response = await fetch(url + path, {
        method: "POST",
        headers: { ...headers, authorization: `Bearer ${own.secretKey}` },
        body: JSON.stringify(mail),
      });
      expect([path, response.status]).toEqual([path, 200]);
      replays.push(response.headers.get("idempotency-replayed"));
    }
    expect(replays).toEqual([null, "true"]);
    expect(own.countRows("emails")).toBe(1);
    await own.close();
  });

  const paths: [path: string, canonical: string][] = [
    ["/", "/"],
    ["/a", "/a"],
    ["/a/", "/a"],
    ["/a//", "/a/"],
    ["/a/%62", "/a/b"],
    ["/a/%C3%BC", "/a/%C3%BC"],
    ["/a/%c3%bc/", "/a/%C3%BC"],
    ["/a/b%2Fc", "/a/b%2Fc"],
    ["/a/b%2fc", "/a/b%2Fc"],
    ["/a/%ff", "/a/%ff"],
    ["/a/%", "/a/%"],
  ];
  test.each(paths)("%s is %s", (path, canonical) => {
    expect(canonicalPath(path)).toBe(canonical);
  });
});

describe("the header Idempotency-Key", () => {
  for (const key of ["x", " ".repeat(1) + "a b", "x".repeat(255), "~!{}[]'\""]) {
    test(`accepts ${JSON.stringify(key.slice(0, 20))}`, async () => {
      expect((await send(key)).status).toBe(200);
    });
  }
  for (const key of ["", "x".repeat(256), "ü", "a\tb"]) {
    test(`refuses ${JSON.stringify(key.slice(0, 20))}`, async () => {
      const errors = [["Idempotency-Key", "invalid_format"]] as const;
      expectError(await send(key), { status: 422, code: "VALIDATION_ERROR", errors });
      expect(t.countRows("emails")).toBe(0);
    });
  }

  test("is optional: without it every request runs", async () => {
    await t.call("POST", "/v1/send", mail);
    await t.call("POST", "/v1/send", mail);
    expect(t.countRows("emails")).toBe(2);
  });
});

test("every POST that creates something replays its response", async () => {
  const template = { name: "n", subject: "s", body: "b", type: "MARKETING" };
  const calls: [path: string, body: unknown, table: string][] = [
    ["/v1/send", mail, "emails"],
    ["/v1/track", { email: "a@b.co", event: "x" }, "events"],
    ["/contacts", { email: "new@b.co" }, "contacts"],
    ["/templates", template, "templates"],
    ["/segments", { name: "s", type: "STATIC" }, "segments"],
    ["/domains", { domain: "again.example" }, "domains"],
    ["/contacts/bulk", { action: "unsubscribe", ids: ["none"] }, "jobs"],
    ["/suppressions", { email: "bad@b.co" }, "suppressions"],
  ];
  for (const [path, body, table] of calls) {
    const rest = { headers: { "idempotency-key": "k" } };
    const first = await t.call("POST", path, body, rest);
    const stored = t.countRows(table);
    const second = await t.call("POST", path, body, rest);
    expect([path, isReplay(second), t.countRows(table)]).toEqual([path, true, stored]);
    expect(second.body).toEqual(first.body);
  }
});

test("a purge deletes old responses one chunk at a time, and no recent ones", async () => {
  t.db.sqlite.run("DELETE FROM idempotency_keys");
  const { purge } = createIdempotency({
    db: t.db,
    writer: t.app.writer,
    clock: t.clock,
    sealKey: new Uint8Array(32),
  });
  const insert = t.db.sqlite
    .prepare(`INSERT INTO idempotency_keys (scope, request_digest, status, body, created_at)
     VALUES (?, '', 200, '{}', ?)`);
  for (let i = 0; i < 1500; i++) insert.run(`old ${i}`, t.clock.now());
  t.clock.advance(DAY_MS + 1);
  for (let i = 0; i < 3; i++) insert.run(`young ${i}`, t.clock.now());
  expect([await purge(), await purge(), await purge()]).toEqual([1000, 500, 0]);
  expect(t.db.sqlite.query("SELECT scope FROM idempotency_keys").all()).toHaveLength(3);
});

function marketingTemplate(): Promise<string> {
  const template = { name: "n", subject: "s", body: "b", type: "MARKETING" };
  return t.create("/templates", template, "data.id");
}
