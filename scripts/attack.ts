/**
 * Attacks a server with request bodies: every route that takes one, every kind of key, the largest
 * body that the route takes, in hostile forms, over 200 connections at once.
 *
 * `bun scripts/attack.ts [--connections 200] [--route TEXT] [--form TEXT] [--binary[=PATH]]`
 *
 * Prints for each the answers by status, the peak of resident memory and the slowest `/livez`.
 * Exit code 1 where memory reached 600 MiB, or `/livez` took 200 ms.
 */

import { runAttack } from "./attack/run.ts";
import { runCheck } from "./bench/run-check.ts";
import { ms, reportAims, whole } from "./bench/report.ts";
import { crashOptions } from "./crash/options.ts";

const LIMIT_MS = 3 * 60 * 60_000;
const MOST_MIB = 600;
const LONGEST_MS = 200;

const { connections, route, form, binary } = crashOptions("attack.ts", {
  connections: 200,
  route: "",
  form: "",
});

async function run(): Promise<boolean> {
  const worst = await runAttack({
    binary,
    connections,
    wants: (attack) => attack.route.includes(route) && attack.form.includes(form),
    onResult: (attack, { statuses, seconds, peakMiB, slowestMs, slowestOwnMs }) => {
      const answers = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
      const name = `${attack.route} ${attack.key}, ${attack.form}`.padEnd(70);
      const times = `${seconds.toFixed(1)} s, ${whole(peakMiB)} MiB, ${ms(slowestOwnMs)} (${ms(slowestMs)})`;
      console.log(`  ${name} ${times.padEnd(32)} ${answers.join(", ")}`);
    },
  });
  return reportAims([
    {
      name: "peak of resident memory",
      isMet: worst.peakMiB < MOST_MIB,
      measured: `${whole(worst.peakMiB)} MiB`,
      wanted: `< ${MOST_MIB} MiB`,
    },
    {
      name: "slowest /livez",
      isMet: worst.slowestOwnMs < LONGEST_MS,
      measured: `${ms(worst.slowestOwnMs)}; ${ms(worst.slowestMs)} with other processes`,
      wanted: `< ${LONGEST_MS} ms`,
    },
    {
      name: "bytes of bodies that were not given back",
      isMet: worst.leftBytes === 0,
      measured: whole(worst.leftBytes),
      wanted: "0",
    },
  ]);
}

await runCheck(run, LIMIT_MS);
