/**
 * Attacks a server with hostile request bodies. Each attack sends the largest body of one route, in
 * one hostile form and with one kind of key, over 200 connections at the same time.
 *
 * `bun scripts/attack.ts [--connections 200] [--route TEXT] [--form TEXT] [--binary[=PATH]]`
 *
 * For each attack it prints the peak of resident memory, the slowest `/livez` (in brackets with the
 * time for which other processes had the processors) and the number of responses by status. The exit
 * code is 1 if memory reached 600 MiB, `/livez` took 200 ms, or the server lost track of a body.
 */

import { attackAims, runAttack } from "./attack/run.ts";
import { runCheck } from "./bench/run-check.ts";
import { ms, reportAims, whole } from "./bench/report.ts";
import { crashOptions } from "./crash/options.ts";

const LIMIT_MS = 3 * 60 * 60_000;
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
  return reportAims(attackAims(worst, LONGEST_MS));
}

await runCheck(run, LIMIT_MS);
