/**
 * Kills the server repeatedly while persons are erased, and checks that each has one receipt and that their
 * addresses stand nowhere in the data folder.
 *
 * `bun scripts/crash-erasures.ts [--kills 50] [--people 200] [--seed N] [--binary[=PATH]]`
 */

import { reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashErasures } from "./crash/erasures.ts";
import { crashOptions } from "./crash/options.ts";

async function run(): Promise<boolean> {
  const options = crashOptions("crash-erasures.ts", { kills: 50, people: 200, seed: 1 });
  console.log(`crash-erasures: ${whole(options.people)} people, ${options.kills} × kill -9`);
  const rest = { isHourly: false, drainLimitMs: 10 * 60_000 };
  return reportOutcome(await crashErasures({ ...options, ...rest }));
}

await runCheck(run, 60 * 60_000);
