/** Runs a backtest of a workflow or a segment to its end. */

import { expect } from "bun:test";
import type { TestApp } from "./app.ts";
import { waitUntilRead } from "./eventually.ts";
import { valueAt } from "./json.ts";

/** The backtest when it has ended; `path` is that of the workflow or the segment. */
export async function backtestOf(
  t: Pick<TestApp, "call">,
  path: string,
  input: object,
): Promise<unknown> {
  const started = await t.call("POST", `${path}/backtest`, input);
  expect([started.status, started.at("data.status")]).toEqual([200, "RUNNING"]);
  let last: unknown = null;
  await waitUntilRead(async () => {
    last = (await t.call("GET", `${path}/backtest`)).at("data.backtest");
    return valueAt(last, "status") !== "RUNNING";
  });
  if (valueAt(last, "status") !== "COMPLETED") throw new Error(JSON.stringify(last));
  return last;
}
