/**
 * Kills the server repeatedly during a campaign, and counts the mails that arrive.
 *
 * `bun scripts/crash-campaign.ts [--kills 50] [--recipients 20000] [--seed N] [--binary[=PATH]]`
 *
 * The exit code is 1 if a recipient was skipped, or received the mail twice although it was not under
 * way at a kill. Mails that were under way at a kill are retried after half a minute or more, so the
 * script still waits for them after the last kill.
 */

import { relayTo, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { runCampaignCrash } from "./crash/campaign.ts";
import { crashOptions } from "./crash/options.ts";

const DRAIN_LIMIT_MS = 15 * 60_000;

const options = crashOptions("crash-campaign.ts", { kills: 50, recipients: 20_000, seed: 1 });
const { kills, recipients, seed, binary } = options;
const data = temporaryFolder();
const key = await prepareStore(data, 0);
console.log(`crash-campaign: ${whole(recipients)} recipients, ${kills} × kill -9`);
const report = await runCampaignCrash({
  kills,
  recipients,
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
printValue("arrived", `${whole(report.arrived)} of ${whole(recipients)}`);
printValue("under way at the kills", whole(report.inFlightAtKills));
printValue("paused by request", `${report.paused} times`);
printValue(
  "cancelled, then killed",
  `${whole(cancelled.sent)} sent, ${whole(cancelled.cancelled)} cancelled`,
);
const isKept = reportAims([
  { name: "skipped", isMet: report.skipped === 0, measured: whole(report.skipped), wanted: "0" },
  {
    name: "duplicates",
    isMet: report.duplicates <= report.inFlightAtKills,
    measured: whole(report.duplicates),
    wanted: `≤ ${whole(report.inFlightAtKills)}, the mails under way`,
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
