/**
 * Kills the server over and over during a campaign, and counts what arrives.
 *
 * `bun scripts/crash-campaign.ts [--kills 50] [--recipients 20000] [--seed N] [--binary[=PATH]]`
 *
 * Exit code 1 where somebody was skipped, or got it twice without it having been under way at a
 * kill. Mails under way at a kill wait for half a minute and longer: the end takes its time.
 */

import { relayTo, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { judge, say, whole } from "./bench/report.ts";
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
  onLife: (life, arrived) => {
    if ((life + 1) % 10 === 0) say(`after ${life + 1} kills`, `${whole(arrived)} have it`);
  },
});
removeFolder(data);

const { stats, cancelled } = report;
say("arrived", `${whole(report.arrived)} of ${whole(recipients)}`);
say("under way at the kills", whole(report.inFlightAtKills));
say("paused by hand", `${report.paused} times`);
say("cancelled with a kill", `${whole(cancelled.sent)} sent, ${whole(cancelled.cancelled)} not`);
const isKept = judge([
  { name: "skipped", isMet: report.skipped === 0, measured: whole(report.skipped), wanted: "0" },
  {
    name: "twice",
    isMet: report.duplicates <= report.inFlightAtKills,
    measured: whole(report.duplicates),
    wanted: `≤ ${whole(report.inFlightAtKills)}, the mails under way`,
  },
  {
    name: "with another Message-ID or bytes",
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
    name: "arrived after the cancel",
    isMet: report.afterCancel === 0,
    measured: whole(report.afterCancel),
    wanted: "0",
  },
]);
process.exit(isKept ? 0 : 1);
