/** The periods for which a project keeps its data, and the purges that honour them. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { removeOldData } from "../../src/modules/retention.ts";
import { type TestApp, testApp } from "../support/app.ts";
import { waitUntil } from "../support/eventually.ts";
import { removeUsers, signIn } from "../support/session.ts";
import { chain, step } from "./workflows/graphs.ts";

const DAY = 24 * 60 * 60_000;
const INSTALLATION = { retainBodies: 20, retainRaw: 20, retainEvents: 0 };

let t: TestApp;
let acme: ReturnType<TestApp["inProject"]>;
let shop: typeof acme;
beforeEach(async () => {
  t = await testApp({ config: INSTALLATION });
  const { project, secretKey, publicKey } = t;
  acme = t.inProject({ project, secretKey, publicKey });
  shop = t.inProject(await t.makeProject("shop"));
});
afterEach(() => t.close());

/** Sends a mail, records an event, and runs a workflow to its end in each project. */
async function fill(): Promise<void> {
  for (const { create, call, project } of [acme, shop]) {
    await create(
      "/workflows",
      { name: "Flow", enabled: true, ...chain(step("end", "EXIT")), allowReentry: true },
      "data.id",
    );
    const mail = { from: `a@${project.name}.test`, subject: "Hi", body: "<p>Hello</p>" };
    await call("POST", "/v1/send", { ...mail, to: "ada@example.net" });
    await call("POST", "/v1/track", { event: "signed-up", email: "ada@example.net" });
  }
  await t.deliver();
  await waitUntil(() => t.countRows("workflow_executions WHERE status = 'EXITED'") === 2);
}

async function purge(): Promise<void> {
  const copy = { ...t.app.app };
  while (await removeOldData(copy));
}

const count = (sql: string, projectSeq: number): number =>
  t.db.sqlite.query<{ n: number }, [number]>(sql).get(projectSeq)?.n ?? -1;

const stored = ({ project: { seq } }: typeof acme) => ({
  bodies: count("SELECT count(*) AS n FROM messages WHERE html <> '' AND project_seq = ?", seq),
  raw: count(
    `SELECT count(*) AS n FROM captured_messages JOIN emails ON emails.seq = email_seq
     WHERE project_seq = ?`,
    seq,
  ),
  events: Math.sign(count("SELECT count(*) AS n FROM events WHERE project_seq = ?", seq)),
  executions: count("SELECT count(*) AS n FROM workflow_executions WHERE project_seq = ?", seq),
});

const ALL = { bodies: 1, raw: 1, events: 1, executions: 1 };

describe("after the period of a project", () => {
  const cases: [columns: string, left: Partial<typeof ALL>][] = [
    ["retain_bodies = 5", { bodies: 0 }],
    ["retain_raw = 5", { raw: 0 }],
    ["retain_events = 5", { events: 0, executions: 0 }],
    ["retain_received = 5", {}],
    ["retain_bodies = 30, retain_raw = 30", {}],
  ];
  for (const [columns, left] of cases) {
    test(`${columns} removes that data, and none of another project`, async () => {
      await fill();
      t.db.sqlite.run(`UPDATE projects SET ${columns} WHERE seq = ?`, [shop.project.seq]);
      t.clock.advance(4 * DAY);
      await purge();
      expect([stored(acme), stored(shop)]).toEqual([ALL, ALL]);
      t.clock.advance(2 * DAY);
      await t.app.writer.write(() => t.db.sqlite.run("UPDATE readers SET seq = 1000"));
      await purge();
      expect([stored(acme), stored(shop)]).toEqual([ALL, { ...ALL, ...left }]);
      // A longer period than that of the installation has no effect.
      t.clock.advance(15 * DAY);
      await purge();
      expect([stored(acme), stored(shop)]).toMatchObject([
        { bodies: 0, raw: 0, events: 1 },
        { bodies: 0, raw: 0 },
      ]);
    });
  }

  test("a mail that waited for that long keeps its body until it has left", async () => {
    await fill();
    t.db.sqlite.run("UPDATE projects SET retain_bodies = 5, retain_raw = 5");
    t.db.sqlite.run("UPDATE emails SET next_at = 1e15 WHERE project_seq = ?", [shop.project.seq]);
    t.clock.advance(6 * DAY);
    await purge();
    expect([stored(acme), stored(shop)]).toMatchObject([{ bodies: 0, raw: 0 }, ALL]);
    t.db.sqlite.run("UPDATE emails SET next_at = NULL");
    await purge();
    expect(stored(shop)).toMatchObject({ bodies: 0, raw: 0 });
  });

  test("the searches read an index of the project", () => {
    const plans = [
      "SELECT seq FROM emails WHERE project_seq = +? AND seq > +? ORDER BY seq LIMIT +?",
      "SELECT * FROM events WHERE project_seq = +? ORDER BY created_at, seq LIMIT +?",
      `SELECT e.seq FROM workflow_executions e CROSS JOIN workflows w ON w.seq = e.workflow_seq
       WHERE e.project_seq = +? AND e.seq > +? ORDER BY e.seq LIMIT +?`,
      `SELECT id FROM received_mails WHERE project_seq = +? AND state = 'RECEIVED'
       ORDER BY seq LIMIT +?`,
    ].map((sql) => t.db.sqlite.query<{ detail: string }, []>(`EXPLAIN QUERY PLAN ${sql}`).all());
    const details = plans.map((plan) => plan.map(({ detail }) => detail).join("; "));
    for (const detail of details) expect(detail).not.toMatch(/SCAN|TEMP B-TREE/);
    expect(details).toEqual([
      expect.stringContaining("emails_page"),
      expect.stringContaining("events_page"),
      expect.stringContaining("workflow_executions_project"),
      expect.stringContaining("received_mails_page"),
    ]);
  });
});

describe("an admin", () => {
  const open = async () => {
    removeUsers(t);
    const owner = await signIn(t);
    const { id } = acme.project;
    return (method: string, body?: unknown) =>
      owner.call(method, `/projects/${id}`, body, { "x-project": id });
  };

  test("sets the periods, sees those of the installation, and removes them", async () => {
    const call = await open();
    const NONE = { retainBodies: null, retainRaw: null, retainEvents: null, retainReceived: null };
    const retentionLimits = {
      retainBodies: 20,
      retainRaw: 20,
      retainEvents: null,
      retainReceived: 30,
    };
    expect((await call("GET")).at("data")).toMatchObject({ ...NONE, retentionLimits });
    const OWN = { retainBodies: 20, retainRaw: 1, retainEvents: 36_500, retainReceived: 7 };
    expect((await call("PATCH", OWN)).at("data")).toMatchObject({ ...OWN, retentionLimits });
    const kept = { ...OWN, retainRaw: null, tracking: "DISABLED" };
    await call("PATCH", { retainRaw: null, tracking: "DISABLED" });
    expect((await call("GET")).at("data")).toMatchObject(kept);
    expect((await call("PATCH", NONE)).at("data")).toMatchObject(NONE);
  });

  test("changes no column by another member of the request", async () => {
    const call = await open();
    const before = t.db.sqlite.query("SELECT * FROM projects WHERE id = ?").get(acme.project.id);
    const others = { seq: 99, createdAt: 1, note: [1] };
    expect((await call("PATCH", others)).status).toBe(200);
    const after = t.db.sqlite.query("SELECT * FROM projects WHERE id = ?").get(acme.project.id);
    expect(after).toEqual(before);
  });

  test("gets an error that names the field for each period that is not possible", async () => {
    const call = await open();
    const cases: [body: object, field: string, message: string][] = [
      [{ retainBodies: 21 }, "retainBodies", "at most 20"],
      [{ retainRaw: 100 }, "retainRaw", "at most 20"],
      [{ retainReceived: 31 }, "retainReceived", "at most 30"],
      [{ retainEvents: 36_501 }, "retainEvents", "36500"],
      [{ retainEvents: 0 }, "retainEvents", "1"],
      [{ retainBodies: 1.5 }, "retainBodies", "whole"],
      [{ retainBodies: "5" }, "retainBodies", "number"],
    ];
    for (const [body, field, message] of cases) {
      const refused = await call("PATCH", { ...body, tracking: "DISABLED" });
      expect([body, refused.status, refused.at("error.errors.0.field")]).toEqual([
        body,
        422,
        field,
      ]);
      expect(refused.text("error.errors.0.message")).toContain(message);
    }
    expect((await call("GET")).at("data")).toMatchObject({ tracking: "MARKETING_ONLY" });
  });
});
