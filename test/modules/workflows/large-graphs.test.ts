/** Tests graphs of the largest size through the API: they are stored and run to their end. */

import { beforeEach, expect, test } from "bun:test";
import { type Automation, automationPerTest } from "../../support/automation.ts";
import { chain, delay, type Given, graph, step, trigger } from "./graphs.ts";

const next = automationPerTest();
let a: Automation;
beforeEach(async () => {
  a = await next();
});

const mark = (id: string) => step(id, "UPDATE_CONTACT", { updates: { at: id } });
const marks = (prefix: string, count: number): Given[] =>
  Array.from({ length: count }, (_, i) => mark(`${prefix}${i}`));

test("500 steps run to the end, and a 501st is refused", async () => {
  const id = await a.workflow(chain(...marks("m", 499)));
  await a.track("signed-up");
  const execution = await a.only(id);
  expect(execution.status).toBe("COMPLETED");
  expect(execution.steps).toHaveLength(500);
  expect(execution.steps.at(-1)).toBe("m498 COMPLETED");
  const added = await a.t.call("POST", `/workflows/${id}/steps`, {
    after: "m498",
    type: "EXIT",
    config: {},
  });
  expect([added.status, added.at("error.errors.0.code")]).toEqual([422, "too_big"]);
});

test("of 200 steps with a SPLIT of ten branches, a contact runs one branch whole", async () => {
  const names = Array.from("abcdefghij");
  const length = 19;
  const branches = names.map((id, i) => ({ id, weight: i + 1 }));
  const steps = [trigger(), step("split", "SPLIT", { branches })];
  const ways = ["start>split"];
  for (const name of names) {
    steps.push(...marks(name, length));
    ways.push(`split>${name}0:${name}`);
    for (let i = 1; i < length; i++) ways.push(`${name}${i - 1}>${name}${i}`);
  }
  // All branches meet again.
  steps.push(...marks("end", 8));
  ways.push(...names.map((name) => `${name}${length - 1}>end0`));
  for (let i = 1; i < 8; i++) ways.push(`end${i - 1}>end${i}`);
  expect(steps).toHaveLength(200);
  const id = await a.workflow(graph(steps, ways));
  for (let i = 0; i < 5; i++) await a.track("signed-up", {}, `c${i}@example.net`);
  const executions = await a.executions(id);
  expect(executions).toHaveLength(5);
  for (const { id: executionId } of executions) {
    const execution = await a.execution(id, executionId);
    const branch = /:(?<name>[a-j])$/.exec(execution.steps[1] ?? "")?.groups?.["name"] ?? "";
    expect(execution.steps).toEqual([
      "start COMPLETED",
      `split COMPLETED:${branch}`,
      ...marks(branch, length).map((each) => `${String(each["id"])} COMPLETED`),
      ...marks("end", 8).map((each) => `${String(each["id"])} COMPLETED`),
    ]);
  }
});

test("a cycle whose only pause is a TIME_WINDOW is refused, because an open window does not wait", async () => {
  const days = ["MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN"];
  const config = { days, from: "00:00", to: "24:00", timeZone: "UTC" };
  const cycle = graph(
    [trigger(), step("window", "TIME_WINDOW", config), mark("m")],
    ["start>window", "window>m", "m>window"],
  );
  const refused = await a.t.call("POST", "/workflows", { name: "W", ...cycle });
  expect([refused.status, refused.at("error.errors.0.field")]).toEqual([422, "steps.1"]);
  const paused = graph(
    [...cycle.steps, delay("wait", 1, "minutes")],
    ["start>window", "window>m", "m>wait", "wait>window"],
  );
  const id = await a.workflow(paused);
  await a.track("signed-up");
  const execution = await a.only(id);
  expect([execution.status, execution.currentStepId]).toEqual(["WAITING", "wait"]);
});
