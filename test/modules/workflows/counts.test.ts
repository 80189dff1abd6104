/** Numbers of executions: exact by status, and by step within the limits of one request. */

import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { workflows } from "../../../src/db/schema/workflows.ts";
import { createSlicedCount } from "../../../src/db/sliced-count.ts";
import { createFairScheduler } from "../../../src/lib/slice-queue.ts";
import { createWorkflowCounts } from "../../../src/modules/workflows/counts.ts";
import { type Automation, startAutomation } from "../../support/automation.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "./graphs.ts";

let a: Automation;
beforeEach(async () => {
  a = await startAutomation();
});
afterEach(() => a.close());

const NONE = { RUNNING: 0, WAITING: 0, COMPLETED: 0, EXITED: 0, FAILED: 0, CANCELLED: 0 };
const waiting = () =>
  a.workflow(chain(step("wait", "WAIT_FOR_EVENT", { eventName: "bought" }), step("end", "EXIT")));

/** Five executions, of which one was continued and one cancelled. */
async function fill(): Promise<string> {
  const id = await waiting();
  for (let i = 0; i < 5; i++) await a.track("signed-up", {}, `p${i}@example.net`);
  await a.track("bought", {}, "p1@example.net");
  const list = await a.t.call("GET", `/workflows/${id}/executions?status=WAITING`);
  const execution = list.text("data.items.0.id");
  await a.t.call("POST", `/workflows/${id}/executions/${execution}/cancel`);
  return id;
}

const EXECUTIONS = { ...NONE, WAITING: 3, EXITED: 1, CANCELLED: 1 };

describe("GET /workflows/{id}/counts", () => {
  test("counts executions by status and by step, and records no event", async () => {
    const id = await fill();
    const before = a.t.eventNames();
    const answer = await a.t.call("GET", `/workflows/${id}/counts`);
    expect([answer.status, answer.at("data")]).toEqual([
      200,
      {
        executions: EXECUTIONS,
        steps: [
          { stepId: "wait", active: 3, completed: 1, skipped: 0, failed: 0 },
          { stepId: "end", active: 0, completed: 1, skipped: 0, failed: 0 },
          { stepId: "start", active: 0, completed: 5, skipped: 0, failed: 0 },
        ],
        countedExecutions: 5,
        isEveryActiveCounted: true,
      },
    ]);
    expect(a.t.eventNames()).toEqual(before);
  });

  test("reads the newest executions, up to a limit of rows", async () => {
    await fill();
    const { db } = a.t;
    const scheduler = createFairScheduler();
    const [row] = db.select().from(workflows).all();
    if (row === undefined) throw new Error("there is no workflow");
    const counts = createWorkflowCounts({
      db,
      scheduler,
      count: createSlicedCount({ db, scheduler }),
      getWorkflow: () => row,
      findWorkflow: () => null,
      limits: { rows: 2, activeExecutions: 2, completedSteps: 3 },
    });
    const found = await counts.ofWorkflow(1, "any");
    expect(found.executions).toEqual(EXECUTIONS);
    expect([found.countedExecutions, found.isEveryActiveCounted]).toEqual([3, false]);
    expect(found.steps.find(({ stepId }) => stepId === "wait")?.active).toBe(2);
  });

  test("of another project are not found", async () => {
    const id = await waiting();
    const stranger = await a.t.makeProject("stranger");
    const key = { key: stranger.secretKey };
    expectError(await a.t.call("GET", `/workflows/${id}/counts`, undefined, key), {
      status: 404,
      code: "WORKFLOW_NOT_FOUND",
    });
    const list = await a.t.call("GET", `/workflows/counts?ids=${id}`, undefined, key);
    expect(list.at("data")).toEqual({ items: [] });
  });
});

describe("GET /workflows/counts", () => {
  test("counts the executions of the given workflows", async () => {
    const [full, empty] = [await fill(), await waiting()];
    const answer = await a.t.call("GET", `/workflows/counts?ids=${full},unknown,${empty},${full}`);
    expect(answer.at("data")).toEqual({
      items: [
        { workflowId: full, executions: EXECUTIONS },
        { workflowId: empty, executions: NONE },
      ],
    });
  });

  test("counts nothing without ids", async () => {
    const answer = await a.t.call("GET", "/workflows/counts");
    expect([answer.status, answer.at("data")]).toEqual([200, { items: [] }]);
  });

  test.each(["", "a,,b", Array.from({ length: 101 }, () => "a").join(",")])(
    "refuses the ids %j",
    async (ids) => {
      expect((await a.t.call("GET", `/workflows/counts?ids=${ids}`)).status).toBe(422);
    },
  );
});
