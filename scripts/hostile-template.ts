/**
 * Measures how much a project with expensive templates delays the transactional mail of another one.
 *
 * `bun scripts/hostile-template.ts [--rounds 6] [--seconds 15] [--binary[=PATH]]`
 *
 * Project A sends campaigns whose templates compute for many seconds, write a gigabyte, or never
 * end, and resumes them when the server pauses them. Project B sends mail at a fixed rate through
 * the same relay. Rounds with and without the campaigns alternate. The exit code is 1 if the 99th
 * percentile of B's mail is more than a fifth higher with the campaigns, or if the memory of the
 * process exceeds its peak of an ordinary campaign by more than 256 MiB.
 */

import { removeFolder, temporaryFolder } from "./bench/children.ts";
import { type Aim, fixed, ms, printValue, quantile, reportAims, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashOptions } from "./crash/options.ts";
import { hostileAims, type HostileReport, type Round, runHostile } from "./hostile/run.ts";

const RECIPIENTS = 10_000;
const LIMIT_MS = 30 * 60_000;
const MAX_RATIO = 1.2;

async function run(): Promise<boolean> {
  const options = crashOptions("hostile-template.ts", { rounds: 6, seconds: 15 });
  const { rounds, seconds, binary } = options;
  console.log(`hostile-template: ${rounds} rounds with and without, ${seconds} s each`);
  const data = temporaryFolder();
  const report = await runHostile({ data, binary, rounds, seconds, recipients: RECIPIENTS });
  removeFolder(data);
  return print(report);
}

function print(report: HostileReport): boolean {
  const { alone, attacked, ordinaryPeakMiB, attack, loopAims } = report;
  printValue(
    "campaigns: mails that failed, resumed",
    `${whole(attack.failed)}, ${whole(attack.resumed)} times`,
  );
  printRounds("accepted → arrived, alone", alone, "acceptedMs");
  printRounds("accepted → arrived, attacked", attacked, "acceptedMs");
  printRounds("request → arrived, alone", alone, "requestedMs");
  printRounds("request → arrived, attacked", attacked, "requestedMs");
  printValue("baseline, peak of an ordinary campaign", `${whole(ordinaryPeakMiB)} MiB`);
  return reportAims([
    ratioAim(
      "p99 from accepted to arrived, to that alone",
      p99(attacked, "acceptedMs") / p99(alone, "acceptedMs"),
    ),
    ratioAim(
      "p99 from request to arrived, to that alone",
      p99(attacked, "requestedMs") / p99(alone, "requestedMs"),
    ),
    ...hostileAims(report),
    ...loopAims,
  ]);
}

type Kind = keyof Round;

const all = (rounds: readonly Round[], kind: Kind) => rounds.flatMap((round) => round[kind]);
const p99 = (rounds: readonly Round[], kind: Kind) => quantile(all(rounds, kind), 0.99);

function printRounds(name: string, rounds: readonly Round[], kind: Kind): void {
  const each = rounds.map((round) => fixed(quantile(round[kind], 0.99), 1)).join(", ");
  const times = all(rounds, kind);
  const [p50, high, max] = [0.5, 0.99, 1].map((q) => ms(quantile(times, q)));
  printValue(name, `p50 ${p50}, p99 ${high}, max ${max}; p99 by round ${each}`);
}

function ratioAim(name: string, ratio: number): Aim {
  return { name, isMet: ratio <= MAX_RATIO, measured: fixed(ratio, 2), wanted: `≤ ${MAX_RATIO}` };
}

await runCheck(run, LIMIT_MS);
