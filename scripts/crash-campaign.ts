/**
 * Kills the server repeatedly during a campaign, and counts the mails that arrive.
 *
 * `bun scripts/crash-campaign.ts [--kills 50] [--recipients 50000] [--mail unsigned|signed]
 * [--signal KILL|TERM] [--seed N] [--binary[=PATH]]`
 *
 * The exit code is 1 if a recipient was skipped, or received the mail twice although it was not under
 * way at a kill, or if more mails were leased at a kill than the server may lease ahead. Mails that
 * were under way at a kill are retried after half a minute or more, so the script still waits for
 * them after the last kill. With `--signal TERM` the server ends the mails under way, so no mail may
 * arrive twice. The signatures of a mail that arrives twice differ in their time; all other bytes
 * must be the same.
 */

import { relayTo, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { MAX_LEASED, runCampaignCrash } from "./crash/campaign.ts";
import { choiceOf, crashOptions } from "./crash/options.ts";

const DRAIN_LIMIT_MS = 15 * 60_000;

const options = crashOptions("crash-campaign.ts", {
  kills: 50,
  recipients: 50_000,
  mail: "unsigned",
  signal: "KILL",
  seed: 1,
});
const { kills, recipients, seed, binary } = options;
const signal = choiceOf("signal", options.signal, ["KILL", "TERM"]);
const mail = choiceOf("mail", options.mail, ["unsigned", "signed"]);
const data = temporaryFolder();
const key = await prepareStore(data, 0, { isSigned: mail === "signed" });
console.log(
  `crash-campaign: ${whole(recipients)} recipients, ${mail}, ${kills} × SIG${signal}, seed ${seed}`,
);
const report = await runCampaignCrash({
  kills,
  recipients,
  signal,
  seed,
  data,
  key,
  launch: (_, { port, relayPort }) =>
    startServer({
      binary,
      data,
      port,
      args: relayTo(relayPort, 0),
    }),
  drainLimitMs: DRAIN_LIMIT_MS,
  onKill: (kill, arrived) => {
    if ((kill + 1) % 10 === 0)
      printValue(`after ${kill + 1} kills`, `${whole(arrived)} recipients have it`);
  },
});
removeFolder(data);

const { stats, cancelled } = report;
const allowedDuplicates = signal === "TERM" ? 0 : report.inFlightAtKills;
printValue("arrived", `${whole(report.arrived)} of ${whole(recipients)}`);
printValue(
  "under way at the kills",
  `${whole(report.inFlightAtKills)}, at most ${whole(report.mostLeased)} at one`,
);
printValue("kills while mails were sent", `${report.killsWhileSending} of ${kills}`);
printValue("paused by request", `${report.paused} times`);
printValue(
  "cancelled, then killed",
  `${whole(cancelled.sent)} sent, ${whole(cancelled.cancelled)} cancelled`,
);
const isKept = reportAims([
  { name: "skipped", isMet: report.skipped === 0, measured: whole(report.skipped), wanted: "0" },
  {
    name: "duplicates",
    isMet: report.duplicates <= allowedDuplicates,
    measured: whole(report.duplicates),
    wanted: `≤ ${whole(allowedDuplicates)}, the mails that were not ended`,
  },
  {
    name: "most mails leased at a kill",
    isMet: report.mostLeased <= MAX_LEASED,
    measured: whole(report.mostLeased),
    wanted: `≤ ${MAX_LEASED}`,
  },
  {
    name: "kills while mails were sent",
    isMet: report.killsWhileSending >= kills / 3,
    measured: String(report.killsWhileSending),
    wanted: `at least a third of ${kills}; with fewer, take more recipients`,
  },
  {
    name: "exit codes other than 0 after SIGTERM",
    isMet: report.faultyEnds === 0,
    measured: String(report.faultyEnds),
    wanted: "0",
  },
  {
    name: "duplicates that differ",
    isMet: report.differing === 0,
    measured: whole(report.differing),
    wanted: "0",
  },
  {
    name: "statistics",
    isMet: stats.sent === recipients && stats.queued === 0 && report.status === "SENT",
    measured: `${report.status}, ${whole(stats.sent)} sent, ${whole(stats.queued)} queued`,
    wanted: `SENT, ${whole(recipients)} sent, 0 queued`,
  },
  {
    name: "projects with wrong counters",
    isMet: report.wrongCounters === 0,
    measured: whole(report.wrongCounters),
    wanted: "0",
  },
  {
    name: "arrived after the cancel",
    isMet: report.afterCancel === 0,
    measured: whole(report.afterCancel),
    wanted: "0",
  },
]);
process.exit(isKept ? 0 : 1);
