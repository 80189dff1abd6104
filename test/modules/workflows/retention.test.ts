/** Retention of ended executions. */

import { afterEach, expect, test } from "bun:test";
import { removeOldData } from "../../../src/modules/retention.ts";
import { type Automation, DAY, HOUR, startAutomation } from "../../support/automation.ts";
import { chain, delay, step } from "./graphs.ts";

let a: Automation;
afterEach(() => a.close());

async function start() {
  a = await startAutomation({ config: { retainBodies: 0, retainRaw: 0, retainEvents: 0 } });
  const app = { ...a.t.app.app };
  const days = { bodies: 0, raw: 0, events: 10, deliveries: 0 };
  return {
    async purge(): Promise<void> {
      await a.advance(HOUR);
      while (await removeOldData(app, days));
    },
  };
}

test("ended executions are deleted with their steps after the retention time, active ones are kept", async () => {
  const { purge } = await start();
  const id = await a.workflow(chain(delay("wait", 5, "days")), { allowReentry: true });
  await a.track("signed-up", { n: 1 }, "ada@example.net");
  await a.advance(5 * DAY);
  const slow = await a.workflow(chain(delay("wait", 100, "days")), { allowReentry: true });
  await a.track("signed-up", { n: 2 }, "bob@example.net");
  await a.advance(9 * DAY);
  await purge();
  expect(await a.executions(id)).toHaveLength(2);
  await a.advance(DAY);
  await purge();
  expect((await a.executions(id)).map(({ context }) => context)).toEqual([{ n: 2 }]);
  await a.advance(10 * DAY);
  await purge();
  expect(await a.executions(id)).toEqual([]);
  expect(await a.only(slow)).toMatchObject({ status: "WAITING", context: { n: 2 } });
  expect(a.t.countRows("workflow_execution_steps")).toBe(1);
  await a.advance(100 * DAY);
  await purge();
  expect(await a.only(slow)).toMatchObject({ status: "COMPLETED" });
  await a.advance(11 * DAY);
  await purge();
  expect(await a.executions(slow)).toEqual([]);
});

test("without re-entry, retention keeps the row without its data, so the contact cannot enter again", async () => {
  const { purge } = await start();
  const id = await a.workflow(chain(step("end", "EXIT")));
  await a.track("signed-up", { secret: "rosebud" });
  await a.advance(11 * DAY);
  await purge();
  expect(await a.only(id)).toMatchObject({ status: "EXITED", context: {}, steps: [] });
  await a.track("signed-up");
  expect(await a.executions(id)).toHaveLength(1);
});
