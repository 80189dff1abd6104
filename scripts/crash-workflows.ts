/**
 * Kills the server repeatedly while workflows run, and checks that each step happened once.
 *
 * `bun scripts/crash-workflows.ts [--kills 50] [--executions 2000] [--contacts 0] [--seed N] [--binary]`
 *
 * The exit code is 1 if an execution took a wrong path, or if a mail step did not create exactly one
 * mail. After the last kill the script waits about a minute for delays and for mails that were under
 * way at a kill.
 *
 * With `--contacts 20000` so many contacts enter workflows by schedules and by hand instead: each must
 * enter once.
 */

import { printValue, reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashEntries } from "./crash/entries.ts";
import { crashOptions } from "./crash/options.ts";
import { crashWorkflows } from "./crash/workflows.ts";

async function run(): Promise<boolean> {
  const options = crashOptions("crash-workflows.ts", {
    kills: 50,
    executions: 2_000,
    contacts: 0,
    seed: 1,
  });
  const rest = { isHourly: false, drainLimitMs: 10 * 60_000 };
  if (options.contacts > 0) {
    console.log(`crash-workflows: ${whole(options.contacts)} contacts, ${options.kills} × kill -9`);
    return reportOutcome(await crashEntries({ ...options, ...rest }));
  }
  console.log(
    `crash-workflows: ${whole(options.executions)} executions, ${options.kills} × kill -9`,
  );
  const outcome = await crashWorkflows({
    ...options,
    ...rest,
    onKill: (kill, progress) => {
      if ((kill + 1) % 10 !== 0) return;
      printValue(
        `after ${kill + 1} kills`,
        `${whole(progress)} contacts tracked and webhooks called`,
      );
    },
  });
  return reportOutcome(outcome);
}

await runCheck(run, 60 * 60_000);
