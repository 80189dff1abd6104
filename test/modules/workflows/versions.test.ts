/** Tests versions of graphs, and the deletion of workflows. */

import { beforeEach, describe, expect, test } from "bun:test";
import { createVersions } from "../../../src/modules/workflows/versions.ts";
import type { TestApp } from "../../support/app.ts";
import { silentLog } from "../../../src/lib/log.ts";
import { startAutomation } from "../../support/automation.ts";
import { waitUntil } from "../../support/eventually.ts";
import { projectPerTest, updateRows } from "../../support/project-per-test.ts";
import { startWebServer } from "../../support/web-server.ts";
import { chain, delay, step } from "./graphs.ts";
import { workflowService } from "../../../src/modules/workflows/service.ts";

let t: TestApp;
let id: string;
const projects = projectPerTest();
beforeEach(async () => {
  t = await projects.next();
  id = await t.create(
    "/workflows",
    { name: "W", enabled: true, ...chain(delay("wait")) },
    "data.id",
  );
});

const versionSeqs = () =>
  t.db.sqlite
    .query<{ seq: number }, [number]>(
      `SELECT v.seq FROM workflow_versions v JOIN workflows w ON w.seq = v.workflow_seq
       WHERE w.project_seq = ? ORDER BY v.seq`,
    )
    .all(t.project.seq)
    .map(({ seq }) => seq);

const current = () =>
  t.db.sqlite
    .query<{ seq: number; workflow: number }, [number]>(
      "SELECT version_seq AS seq, seq AS workflow FROM workflows WHERE project_seq = ?",
    )
    .get(t.project.seq) ?? { seq: 0, workflow: 0 };

let contacts = 0;

/** Inserts an execution of a new contact with one completed step; returns its `seq`. */
async function execution(status: string, versionSeq = current().seq): Promise<number> {
  const email = `c${contacts++}@example.com`;
  await t.call("POST", "/contacts", { email });
  const row = t.db.sqlite
    .query<{ seq: number }, [string, number, number, string, string]>(
      `INSERT INTO workflow_executions
         (id, project_seq, workflow_seq, version_seq, contact_seq, status, current_step_id, context,
          step_started_at, started_at)
       SELECT ?, project_seq, ?, ?, seq, ?, 'wait', '{}', 0, 0 FROM contacts WHERE email = ?
       RETURNING seq`,
    )
    .get(crypto.randomUUID(), current().workflow, versionSeq, status, email);
  const seq = row?.seq ?? 0;
  t.db.sqlite.run(
    `INSERT INTO workflow_execution_steps
       (execution_seq, number, step_id, type, outcome, started_at, completed_at)
     VALUES (?, 1, 'start', 'TRIGGER', 'COMPLETED', 0, 0)`,
    [seq],
  );
  return seq;
}

const change = (amount: number) =>
  t.call("PATCH", `/workflows/${id}`, chain(delay("wait", amount)));

describe("versions", () => {
  /** Changes the graph so often that versions from before are none of the newest 50. */
  async function changeOften() {
    for (let amount = 10; amount < 60; amount++) await change(amount);
  }

  test("are created by a change of the graph, and the newest 50 are kept", async () => {
    const { seq: before } = current();
    await change(3);
    expect(versionSeqs()).toEqual([before, current().seq]);
    await changeOften();
    expect(versionSeqs()).toHaveLength(50);
    expect(versionSeqs()).toContain(current().seq);
  });

  test("are not created by the same graph or by a change of other fields", async () => {
    const { seq } = current();
    await change(2);
    await t.call("PATCH", `/workflows/${id}`, { name: "Other", enabled: false });
    expect([current().seq, versionSeqs()]).toEqual([seq, [seq]]);
  });

  test("are created by an edit of a single step", async () => {
    const { seq } = current();
    await t.call("PATCH", `/workflows/${id}/steps/wait`, { name: "Rest" });
    expect(current().seq).toBeGreaterThan(seq);
  });

  for (const status of ["RUNNING", "WAITING"]) {
    test(`are kept while an execution of them is ${status}`, async () => {
      const { seq: before, workflow } = current();
      const running = await execution(status);
      await change(3);
      const { seq: unused } = current();
      await changeOften();
      expect(versionSeqs()).toHaveLength(51);
      expect(versionSeqs()).toContain(before);
      expect(versionSeqs()).not.toContain(unused);
      t.db.sqlite.run("UPDATE workflow_executions SET status = 'COMPLETED' WHERE seq = ?", [
        running,
      ]);
      createVersions({ db: t.db, clock: t.clock }).dropUnused(workflow);
      expect(versionSeqs()).toHaveLength(50);
      expect(versionSeqs()).not.toContain(before);
    });
  }

  test("are deleted although they have ended executions", async () => {
    const { seq: before } = current();
    for (const status of ["COMPLETED", "EXITED", "FAILED", "CANCELLED"]) await execution(status);
    await changeOften();
    expect(versionSeqs()).not.toContain(before);
    expect(t.countRows("workflow_executions")).toBe(4);
  });

  test("of other workflows are not deleted", async () => {
    await t.create("/workflows", { name: "Other", ...chain() }, "data.id");
    const before = versionSeqs();
    await t.call("PATCH", `/workflows/${id}`, { name: "W" });
    createVersions({ db: t.db, clock: t.clock }).dropUnused(999);
    expect(versionSeqs()).toEqual(before);
  });

  test("do not reuse a seq after a rollback, because graphs are cached by it", async () => {
    const versions = createVersions({ db: t.db, clock: t.clock });
    const { workflow } = current();
    const empty = { steps: [], transitions: [] };
    const refused = t.app.writer.write(() => {
      const seq = versions.store({ seq: workflow, projectSeq: t.project.seq }, empty);
      versions.graphOf(seq);
      throw new Error(String(seq));
    });
    const lost = await refused.catch((error: unknown) => Number(Object(error).message));
    const seq = await t.app.writer.write(() =>
      versions.store({ seq: workflow, projectSeq: t.project.seq }, empty),
    );
    expect(seq).toBeGreaterThan(lost);
  });

  test("come from the cache, and an unknown one is null", async () => {
    const versions = createVersions({ db: t.db, clock: t.clock });
    const graph = versions.graphOf(current().seq);
    expect(graph?.steps.map((each) => each.id)).toEqual(["start", "wait"]);
    expect(versions.graphOf(current().seq)).toBe(graph);
    expect(versions.graphOf(12_345)).toBeNull();
  });

  test("that exceed the limit of the cache are read again from the database", async () => {
    const versions = createVersions({ db: t.db, clock: t.clock });
    const { workflow } = current();
    const body = "x".repeat(64_000);
    const seqs = await t.app.writer.write(() =>
      Array.from({ length: 200 }, (_, i) => {
        const { steps, transitions } = chain(step(`s${i}`, "WEBHOOK", { body }));
        const graph = JSON.parse(JSON.stringify({ steps, transitions }));
        return versions.store({ seq: workflow, projectSeq: t.project.seq }, graph);
      }),
    );
    for (const round of [0, 1]) {
      const found = seqs.map((seq) => versions.graphOf(seq)?.steps[1]?.id);
      expect([round, found]).toEqual([round, seqs.map((_, i) => `s${i}`)]);
    }
  });
});

describe("DELETE /workflows/{id}", () => {
  test("deletes its executions, their steps and its versions, and responds 404 afterwards", async () => {
    const before = current().seq;
    await execution("WAITING");
    await execution("COMPLETED");
    await change(3);
    expect(versionSeqs()).toContain(before);
    const answer = await t.call("DELETE", `/workflows/${id}`);
    expect([answer.status, answer.body]).toEqual([204, undefined]);
    expect((await t.call("GET", `/workflows/${id}`)).status).toBe(404);
    expect((await t.call("DELETE", `/workflows/${id}`)).status).toBe(404);
    expect([t.countRows("workflows"), t.countRows("workflow_executions")]).toEqual([0, 0]);
    const left = `SELECT 1 FROM workflow_execution_steps
      WHERE execution_seq NOT IN (SELECT seq FROM workflow_executions)
      UNION ALL SELECT 1 FROM workflow_versions WHERE workflow_seq NOT IN (SELECT seq FROM workflows)`;
    expect(t.db.sqlite.query(left).all()).toEqual([]);
    expect(t.countRows("contacts")).toBe(2);
  });

  test("deletes thousands of executions in slices, the active ones before it responds", async () => {
    const statement = t.db.sqlite.prepare(
      `INSERT INTO workflow_executions
         (id, project_seq, workflow_seq, version_seq, status, context, step_started_at, started_at)
       VALUES (?, ?, ?, ?, ?, '{}', 0, 0)`,
    );
    const { seq, workflow } = current();
    await t.app.writer.write(() => {
      for (let i = 0; i < 6000; i++) {
        const status = i % 5 === 0 ? "WAITING" : "COMPLETED";
        statement.run(crypto.randomUUID(), t.project.seq, workflow, seq, status);
      }
    });
    expect((await t.call("DELETE", `/workflows/${id}`)).status).toBe(204);
    const active = t.db.sqlite
      .query<{ n: number }, [number]>(
        `SELECT count(*) AS n FROM workflow_executions
         WHERE status = 'WAITING' AND project_seq = ?`,
      )
      .get(t.project.seq);
    expect(active?.n).toBe(0);
    expect(t.countRows("workflow_executions")).toBeGreaterThan(0);
    expect((await workflowService(t.app.app).list(t.project.seq, {})).items).toEqual([]);
    await workflowService(t.app.app).removeDeleted();
    expect([t.countRows("workflow_executions"), t.countRows("workflows")]).toEqual([0, 0]);
  });

  test("is finished by sweep after a crash", async () => {
    await execution("WAITING");
    updateRows(t, "workflows", "deleted_at = 1, is_enabled = 0");
    expect((await t.call("GET", `/workflows/${id}`)).status).toBe(404);
    expect(workflowService(t.app.app).findTriggered(t.project.seq, "signed-up")).toEqual([]);
    await workflowService(t.app.app).removeDeleted();
    await waitUntil(() => versionSeqs().length === 0);
    expect(t.countRows("workflow_executions")).toBe(0);
  });
});

describe("findTriggered", () => {
  const started = (eventName: string, projectSeq = t.project.seq) =>
    workflowService(t.app.app)
      .findTriggered(projectSeq, eventName)
      .map((workflow) => workflow.id);

  test("returns the enabled workflows of the project whose current TRIGGER has the name", async () => {
    const body = { name: "Off", ...chain() };
    const off = await t.create("/workflows", body, "data.id");
    const both = await t.create(
      "/workflows",
      { ...body, enabled: true, allowReentry: true },
      "data.id",
    );
    expect(started("signed-up")).toEqual([id, both]);
    expect(workflowService(t.app.app).findTriggered(t.project.seq, "signed-up")[1]).toMatchObject({
      allowReentry: 1,
    });
    expect([started("left"), started("signed-up", t.project.seq + 1)]).toEqual([[], []]);
    await t.call("PATCH", `/workflows/${off}`, { enabled: true });
    await t.call("PATCH", `/workflows/${id}`, { trigger: { type: "EVENT", eventName: "left" } });
    await t.call("PATCH", `/workflows/${both}`, { enabled: false });
    expect([started("signed-up"), started("left")]).toEqual([[off], [id]]);
  });
});

test("a workflow can be deleted during its webhook call, and the response is ignored", async () => {
  const logged: string[] = [];
  // The warning of the event loop watchdog depends on the load of the machine.
  const note = (message: string) => void (message === "event loop held" || logged.push(message));
  let answer = () => {};
  const server = await startWebServer({
    answer: () => ({ write: (response) => (answer = () => response.end("{}")) }),
  });
  const a = await startAutomation({ log: { ...silentLog, warn: note, error: note } });
  const url = `${server.origin}/slow`;
  const flow = await a.workflow(
    chain(step("call", "WEBHOOK", { url, method: "POST" }), delay("d")),
  );
  await a.t.call("POST", "/v1/track", { event: "signed-up", email: "ada@example.net" });
  await waitUntil(() => server.requests.length === 1);
  expect((await a.t.call("DELETE", `/workflows/${flow}`)).status).toBe(204);
  answer();
  await a.settle();
  expect([a.t.countRows("workflow_executions"), logged]).toEqual([0, []]);
  await a.close();
  await server.close();
});
