import { expect, test } from "bun:test";
import {
  relayTo,
  removeFolder,
  startServer,
  temporaryFolder,
} from "../../../scripts/bench/children.ts";
import { prepareStore } from "../../../scripts/bench/store.ts";
import { isWorkflowKept, runWorkflowCrash } from "../../../scripts/crash/workflows.ts";

const HOUR = 60 * 60_000;
const LIMIT_MS = 60_000;
const EXECUTIONS = 60;

/** A short run of scripts/crash-workflows.ts. The clock is one hour later at each start. */
test(
  "each step of an execution happens once, even if the process is killed at any time",
  async () => {
    const data = temporaryFolder();
    const report = await runWorkflowCrash({
      kills: 4,
      executions: EXECUTIONS,
      seed: 1,
      data,
      key: await prepareStore(data, 0),
      launch: (life, { port, relayPort }) =>
        startServer({
          binary: null,
          program: [process.execPath, "test/support/server-ahead.ts", String(life * HOUR)],
          data,
          port,
          args: [...relayTo(relayPort, 0), "--allow-private-addresses", "true"],
        }),
      drainLimitMs: LIMIT_MS - 15_000,
      relaunchAfterMs: 8_000,
    });
    removeFolder(data);
    expect(report).toMatchObject({ executions: EXECUTIONS, example: "", astray: 0, missing: 0 });
    expect([report, isWorkflowKept(report)]).toEqual([report, true]);
    expect(report.called).toBe(EXECUTIONS / 2);
  },
  LIMIT_MS,
);
