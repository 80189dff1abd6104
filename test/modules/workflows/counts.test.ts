/** Exact numbers of executions by status and by step, and the list of those at a step. */

import { beforeEach, describe, expect, test } from "bun:test";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { listAt, valueAt } from "../../support/json.ts";
import { plansOfReads } from "../../support/reads.ts";
import { expectError } from "../../support/refusal.ts";
import { chain, step } from "./graphs.ts";

let a: Automation;
const next = automationPerTest();
beforeEach(async () => {
  a = await next();
});

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
      },
    ]);
    expect(a.t.eventNames()).toEqual(before);
  });

  test("still counts the completed steps of executions that were removed", async () => {
    const id = await fill();
    a.t.db.sqlite.run(
      "DELETE FROM workflow_executions WHERE status <> 'WAITING' AND project_seq = ?",
      [a.t.project.seq],
    );
    const { executions, steps } = Object(
      (await a.t.call("GET", `/workflows/${id}/counts`)).at("data"),
    );
    expect(executions).toEqual({ ...NONE, WAITING: 3 });
    expect(steps).toContainEqual({ stepId: "end", active: 0, completed: 1, skipped: 0, failed: 0 });
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

test("counts are read from indexes, without the rows of executions and without sorting", async () => {
  const id = await fill();
  const plans = await plansOfReads(a.t.app.app, async () => {
    await a.t.call("GET", `/workflows/${id}/counts`);
    await a.t.call("GET", `/workflows/counts?ids=${id}`);
  });
  const ofExecutions = plans.map((plan) => plan.split("\n")[0] ?? "");
  expect(ofExecutions.map((line) => line.includes("USING COVERING INDEX"))).toEqual([
    true,
    true,
    true,
  ]);
  expect(plans.filter((plan) => /TEMP B-TREE/.test(plan))).toEqual([]);
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

describe("GET /workflows/{id}/executions with a step", () => {
  test("lists the executions of the status at the step, newest first, with their number", async () => {
    const id = await fill();
    const list = async (query: string) => {
      const answer = await a.t.call("GET", `/workflows/${id}/executions?${query}`);
      expect(answer.status).toBe(200);
      return answer;
    };
    const waiting = await list("status=WAITING&step=wait&limit=2");
    expect([waiting.at("data.total"), waiting.at("data.hasMore")]).toEqual([3, true]);
    const cursor = encodeURIComponent(waiting.text("data.nextCursor"));
    const rest = await list(`status=WAITING&step=wait&limit=2&cursor=${cursor}`);
    const emails = [...listAt(waiting.body, "data.items"), ...listAt(rest.body, "data.items")].map(
      (item) => valueAt(item, "contactEmail"),
    );
    expect(emails).toEqual(["p3@example.net", "p2@example.net", "p0@example.net"]);
    expect((await list("status=CANCELLED&step=wait")).at("data.total")).toBe(1);
    expect((await list("status=EXITED&step=end")).at("data.total")).toBe(0);
    expect((await list("status=WAITING&step=unknown")).at("data.total")).toBe(0);
  });

  test("is refused without a status", async () => {
    const id = await waiting();
    expectError(await a.t.call("GET", `/workflows/${id}/executions?step=wait`), {
      status: 422,
      code: "VALIDATION_ERROR",
      errors: [["status", "required"]],
    });
  });

  test("reads and counts in the index of steps, and does not sort", async () => {
    const id = await fill();
    const plans = await plansOfReads(a.t.app.app, async () => {
      await a.t.call("GET", `/workflows/${id}/executions?status=WAITING&step=wait`);
      await a.t.call("GET", `/workflows/${id}/executions?status=WAITING`);
    });
    expect(plans.filter((plan) => /TEMP B-TREE|SCAN/.test(plan))).toEqual([]);
    const used = (index: string) => plans.filter((plan) => plan.includes(index)).length;
    expect([used("workflow_executions_step"), used("workflow_executions_status")]).toEqual([2, 2]);
  });
});
