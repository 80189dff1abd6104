/**
 * Simulates power cuts while the server works, and checks the database afterwards.
 *
 * `bun scripts/power-cut.ts [--load accept|campaign] [--mails 6000] [--cuts 150] [--seed N]
 * [--searches 2] [--durability background|sqlite] [--lie nothing|log|begin|database] [--binary[=PATH]]`
 *
 * A process that is killed loses nothing that it wrote. A power cut may lose any write that no sync
 * has completed, in any order. The server runs under strace (Linux), which reports writes to the
 * database and its write-ahead log, and when each sync begins and ends; `power-cut/disk.ts` computes
 * from that which contents a disk may have. After each cut SQLite must open the database and find it
 * undamaged.
 *
 * With `--load accept` the server accepts mails and events, and the database must contain each whose
 * request was answered. As many searches as `--searches` says run meanwhile in threads. With
 * `--load campaign` it sends a campaign, and no mail may have left without a lease, or be SENT without
 * having left.
 *
 * `--lie log|begin|database` adds a second disk, which ignores all syncs of the log, only the first
 * sync after the log was restarted, or all syncs of the database. Its cuts must find damage, which
 * shows that the check works.
 */

import { reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { choiceOf, crashOptions } from "./crash/options.ts";
import { DURABILITIES, LIES, LOADS, runPowerCut } from "./power-cut/run.ts";

async function run(): Promise<boolean> {
  const numbers = { mails: 6000, cuts: 150, searches: 2, seed: 1 };
  const words = { load: "accept", durability: "background", lie: "nothing" };
  const options = crashOptions("power-cut.ts", { ...words, ...numbers });
  const { load, mails, seed } = options;
  console.log(`power-cut: ${load}, ${whole(mails)} mails, seed ${seed}`);
  const outcome = await runPowerCut({
    ...options,
    load: choiceOf("load", load, LOADS),
    // The mails of a campaign are too small to fill the log.
    leastRestarts: load === "accept" ? 3 : 1,
    durability: choiceOf("durability", options.durability, DURABILITIES),
    lie: choiceOf("lie", options.lie, LIES),
  });
  return reportOutcome(outcome);
}

await runCheck(run, 30 * 60_000);
