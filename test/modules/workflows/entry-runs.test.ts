/** Tests entry runs: by hand, by a schedule, after restarts and clock steps. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { workflowRunner } from "../../../src/modules/workflows/workflows.ts";
import { type Automation, automationPerTest, startAutomation } from "../../support/automation.ts";
import { chain, delay, type Given, step } from "./graphs.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

const next = automationPerTest();
let a: Automation;
beforeEach(async () => {
  a = await next();
});

/** The clock of tests begins on Monday, 2 March 2026, at 10:00 UTC. */
const daily = (rest: Given = {}): Given => ({
  trigger: { type: "SCHEDULE", cron: "0 9 * * *", timeZone: "UTC", segmentId: null, ...rest },
  steps: [step("end", "EXIT")],
});

async function addContacts(count: number, from = 0): Promise<void> {
  const contacts = Array.from({ length: count }, (_, i) => ({ email: `c${from + i}@example.net` }));
  for (const contact of contacts) await a.t.call("POST", "/contacts", contact);
}

const runs = async (
  id: string,
): Promise<{ status: string; entered: number; skipped: number }[]> => {
  const answer = await a.t.call("GET", `/workflows/${id}/entries`);
  return Object(answer.at("data.items"));
};

const summary = async (id: string) =>
  (await runs(id)).map(({ status, entered, skipped }) => `${status} ${entered} ${skipped}`);

const enter = (id: string, segmentId: string | null = null) =>
  a.t.call("POST", `/workflows/${id}/entries`, { segmentId });

describe("POST /workflows/{id}/entries", () => {
  test("lets all contacts enter once, and answers with the run", async () => {
    await addContacts(3);
    const id = await a.workflow({ trigger: { type: "MANUAL" }, steps: [delay("wait")] });
    const answer = await enter(id);
    expect([answer.status, answer.at("data.status")]).toEqual([202, "RUNNING"]);
    await a.settle();
    expect(await a.executions(id)).toHaveLength(3);
    await addContacts(1, 3);
    await enter(id);
    await a.settle();
    expect(await summary(id)).toEqual(["COMPLETED 1 3", "COMPLETED 3 0"]);
    const shown = await a.t.call("GET", `/workflows/${id}/entries/${answer.text("data.id")}`);
    expect([shown.at("data.entered"), shown.at("data.completedAt")]).toEqual([
      3,
      "2026-03-02T10:00:00.000Z",
    ]);
  });

  test("lets the contacts of a segment enter, as its condition was at the start", async () => {
    await addContacts(2);
    await a.t.call("POST", "/contacts", { email: "vip@example.net", data: { vip: true } });
    const filter = { field: "data.vip", operator: "equals", value: true };
    const condition = { logic: "AND", groups: [{ filters: [filter] }] };
    const segmentId = await a.t.create("/segments", { name: "VIP", condition }, "data.id");
    const id = await a.workflow(chain(step("end", "EXIT")));
    await enter(id, segmentId);
    await a.settle();
    expect(await summary(id)).toEqual(["COMPLETED 1 0"]);
  });

  test("refuses a disabled workflow, an unknown segment, and a second run at a time", async () => {
    const id = await a.workflow({ trigger: { type: "MANUAL" } });
    expect((await enter(id, "none")).at("error.errors.0.field")).toBe("segmentId");
    const answers = await Promise.all([enter(id), enter(id)]);
    expect(answers.map(({ status }) => status)).toEqual([202, 409]);
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: false });
    expect((await enter(id)).status).toBe(409);
    expect((await a.t.call("POST", `/workflows/${id}/entries`, {})).status).toBe(422);
  });

  test("answers the same run for the same Idempotency-Key", async () => {
    const id = await a.workflow({ trigger: { type: "MANUAL" } });
    const headers = { "idempotency-key": "once" };
    const send = () =>
      a.t.call("POST", `/workflows/${id}/entries`, { segmentId: null }, { headers });
    const [one, other] = [await send(), await send()];
    expect([one.status, other.body]).toEqual([202, one.body]);
    expect(await runs(id)).toHaveLength(1);
  });
});

describe("a run", () => {
  /** Starts a run and puts it back to its beginning, as a process that was killed leaves it. */
  async function openRun(segmentId: string | null = null) {
    const id = await a.workflow({ trigger: { type: "MANUAL" } });
    const answer = await enter(id, segmentId);
    await a.settle();
    const sql =
      "UPDATE workflow_entry_runs SET status = 'RUNNING', completed_at = NULL, cursor = 0 WHERE id = ?";
    a.t.db.sqlite.run(sql, [answer.text("data.id")]);
    return { id, cancelPath: `/workflows/${id}/entries/${answer.text("data.id")}/cancel` };
  }

  test("does not wait until many long ones of another project have ended", async () => {
    await addContacts(450);
    for (let i = 0; i < 5; i++) await openRun();
    const other = await next();
    const id = await other.workflow({ trigger: { type: "MANUAL" } });
    await other.t.call("POST", `/workflows/${id}/entries`, { segmentId: null });
    await a.settle();
    const { sqlite } = a.t.db;
    sqlite.run(`
      UPDATE workflow_entry_runs SET status = 'RUNNING', completed_at = NULL, cursor = 0
      WHERE project_seq IN (${a.t.project.seq}, ${other.t.project.seq});
      CREATE TEMP TABLE ended (project_seq INTEGER);
      CREATE TEMP TRIGGER note_end AFTER UPDATE OF status ON workflow_entry_runs
      BEGIN INSERT INTO ended VALUES (NEW.project_seq); END`);
    workflowRunner(a.t.app.app).entries.wake();
    await a.settle();
    const ended = sqlite.query<{ seq: number }, []>("SELECT project_seq AS seq FROM ended").all();
    sqlite.run("DROP TRIGGER note_end; DROP TABLE ended");
    expect(ended[0]?.seq).toBe(other.t.project.seq);
  });

  test("is cancelled by hand, once", async () => {
    const { id, cancelPath } = await openRun();
    const answer = await a.t.call("POST", cancelPath);
    expect([answer.status, answer.at("data.error")]).toEqual([200, "Cancelled by hand."]);
    expect((await a.t.call("POST", cancelPath)).status).toBe(409);
    expect(await summary(id)).toEqual(["CANCELLED 0 0"]);
  });

  test("is cancelled when its workflow is disabled", async () => {
    await addContacts(1);
    const { id } = await openRun();
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: false });
    await a.settle();
    expect(await summary(id)).toEqual(["CANCELLED 1 0"]);
  });

  test("goes on after a restart", async () => {
    await addContacts(2);
    const { id } = await openRun();
    workflowRunner(a.t.app.app).entries.wake();
    await a.settle();
    expect(await summary(id)).toEqual(["COMPLETED 2 2"]);
    expect(await a.executions(id)).toHaveLength(2);
  });

  test("fails with a reason if its segment was deleted", async () => {
    const segmentId = await a.t.create("/segments", { name: "s", type: "STATIC" }, "data.id");
    const { id } = await openRun(segmentId);
    a.t.db.sqlite.run("UPDATE segments SET deleted_at = 1");
    workflowRunner(a.t.app.app).entries.wake();
    await a.settle();
    const [run] = await runs(id);
    expect([run?.status, Object(run).error]).toEqual(["FAILED", "The segment was deleted."]);
  });
});

describe("a schedule", () => {
  // The tests move the clock, so each has an application of its own.
  beforeEach(async () => {
    a = await startAutomation();
  });
  afterEach(() => a.t.close());

  test("lets contacts enter at its times, and says when the next one is", async () => {
    await addContacts(2);
    const id = await a.workflow(daily(), { allowReentry: true });
    const nextAt = async () => (await a.t.call("GET", `/workflows/${id}`)).at("data.nextEntryAt");
    expect(await nextAt()).toBe("2026-03-03T09:00:00.000Z");
    await a.advance(23 * HOUR - 1);
    expect(await runs(id)).toEqual([]);
    await a.advance(1);
    expect(await summary(id)).toEqual(["COMPLETED 2 0"]);
    expect(await nextAt()).toBe("2026-03-04T09:00:00.000Z");
    await a.advance(DAY);
    expect(await a.executions(id)).toHaveLength(4);
  });

  test("makes one run for all the times that passed meanwhile", async () => {
    await addContacts(1);
    const id = await a.workflow(daily(), { allowReentry: true });
    await a.advance(10 * DAY);
    expect(await summary(id)).toEqual(["COMPLETED 1 0"]);
  });

  test("lets a contact enter once ever without re-entry", async () => {
    await addContacts(1);
    const id = await a.workflow(daily());
    await a.advance(DAY);
    await addContacts(1, 1);
    await a.advance(DAY);
    expect(await summary(id)).toEqual(["COMPLETED 1 1", "COMPLETED 1 0"]);
  });

  test("ends when the workflow is disabled, and begins with the next time when it is enabled", async () => {
    await addContacts(1);
    const id = await a.workflow(daily());
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: false });
    await a.advance(2 * DAY);
    await a.t.call("PATCH", `/workflows/${id}`, { enabled: true });
    await a.settle();
    expect(await runs(id)).toEqual([]);
    await a.advance(DAY);
    expect(await summary(id)).toEqual(["COMPLETED 1 0"]);
  });

  test("of each minute makes no second run while the first one is under way", async () => {
    await addContacts(2);
    const id = await a.workflow(daily({ cron: "* * * * *" }), { allowReentry: true });
    await a.advance(MINUTE);
    // The run is at its beginning again, as after a kill, and three times come before it ends.
    a.t.db.sqlite.run(
      "UPDATE workflow_entry_runs SET status = 'RUNNING', completed_at = NULL, cursor = 0",
    );
    await a.advance(3 * MINUTE);
    expect(await summary(id)).toEqual(["COMPLETED 4 0"]);
    await a.advance(MINUTE);
    expect(await summary(id)).toEqual(["COMPLETED 2 0", "COMPLETED 4 0"]);
  });

  test("keeps its segment from being deleted", async () => {
    const segmentId = await a.t.create("/segments", { name: "s", type: "STATIC" }, "data.id");
    const id = await a.workflow(daily({ segmentId }));
    const remove = () => a.t.call("DELETE", `/segments/${segmentId}`);
    expect((await remove()).status).toBe(409);
    await a.t.call("PATCH", `/workflows/${id}`, { trigger: { type: "MANUAL" } });
    expect((await remove()).status).toBe(204);
  });

  test("is not moved by a change of something else, and is by a change of its times", async () => {
    const id = await a.workflow(daily());
    const patched = async (body: Given) =>
      (await a.t.call("PATCH", `/workflows/${id}`, body)).at("data.nextEntryAt");
    expect(await patched({ name: "Other" })).toBe("2026-03-03T09:00:00.000Z");
    const { trigger } = daily({ cron: "30 12 * * *", timeZone: "Europe/Berlin" });
    expect(await patched({ trigger })).toBe("2026-03-02T11:30:00.000Z");
    expect(await patched({ trigger: { type: "MANUAL" } })).toBeNull();
  });

  test("runs once at a time that comes again because the clock was set back", async () => {
    await addContacts(1);
    const id = await a.workflow(daily(), { allowReentry: true });
    await a.advance(23 * HOUR);
    expect(await summary(id)).toEqual(["COMPLETED 1 0"]);
    a.t.clock.advance(-2 * HOUR);
    await a.t.app.app.writer.write(workflowRunner(a.t.app.app).entries.planAgain);
    const answer = await a.t.call("GET", `/workflows/${id}`);
    expect(answer.at("data.nextEntryAt")).toBe("2026-03-03T09:00:00.000Z");
    workflowRunner(a.t.app.app).entries.wake();
    await a.advance(2 * HOUR);
    expect(await runs(id)).toHaveLength(1);
    await a.advance(DAY);
    expect(await runs(id)).toHaveLength(2);
  });
});
