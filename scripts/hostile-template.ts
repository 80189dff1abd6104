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
 *
 * Then A sends 30 mails, asks for 15 previews and checks 30 messages at the same time, each of which takes
 * long: `/livez` must take less than 200 ms, and `POST /contacts` of B less than 400 ms. `--rounds 0` runs
 * only this part.
 */

import { removeFolder, temporaryFolder } from "./bench/children.ts";
import {
  type Aim,
  fixed,
  ms,
  printValue,
  quantile,
  reportAims,
  reportOutcome,
  whole,
} from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashOptions } from "./crash/options.ts";
import { runNeighbours } from "./hostile/neighbours.ts";
import { hostileAims, type HostileReport, type Round, runHostile } from "./hostile/run.ts";

const RECIPIENTS = 10_000;
const LIMIT_MS = 30 * 60_000;
const MAX_RATIO = 1.2;
const REQUESTS = { sends: 30, previews: 15, checks: 30, longestMs: 200 };

async function run(): Promise<boolean> {
  const options = crashOptions("hostile-template.ts", { rounds: 6, seconds: 15 });
  const { rounds, seconds, binary } = options;
  console.log(`hostile-template: ${rounds} rounds with and without, ${seconds} s each`);
  const isFast =
    rounds === 0 ||
    print(
      await withFolder((data) =>
        runHostile({ data, binary, rounds, seconds, recipients: RECIPIENTS }),
      ),
    );
  const neighbours = await withFolder((data) => runNeighbours({ data, binary, ...REQUESTS }));
  return reportOutcome(neighbours) && isFast;
}

async function withFolder<T>(work: (data: string) => Promise<T>): Promise<T> {
  const data = temporaryFolder();
  const result = await work(data);
  removeFolder(data);
  return result;
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
