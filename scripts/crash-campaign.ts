/**
 * Kills the server over and over during a campaign, and counts what arrives.
 *
 * `bun scripts/crash-campaign.ts [--kills 50] [--recipients 20000] [--seed N] [--binary[=PATH]]`
 *
 * Exit code 1 where somebody was skipped, or got it twice without it having been under way at a
 * kill. Mails under way at a kill wait for half a minute and longer: the end takes its time.
 */

import { parseArgs } from "node:util";
import { join } from "node:path";
import { relayTo, removeFolder, ROOT, startServer, temporaryFolder } from "./bench/children.ts";
import { judge, say, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { runCampaignCrash } from "./crash/campaign.ts";

const DRAIN_LIMIT_MS = 15 * 60_000;

const { values } = parseArgs({
  options: {
    kills: { type: "string", default: "50" },
    recipients: { type: "string", default: "20000" },
    seed: { type: "string", default: "1" },
    binary: { type: "boolean", default: false },
  },
});

const data = temporaryFolder();
const key = await prepareStore(data, 0);
const kills = wholeNumber("kills", values.kills);
const recipients = wholeNumber("recipients", values.recipients);
console.log(`crash-campaign: ${whole(recipients)} recipients, ${kills} × kill -9`);
const report = await runCampaignCrash({
  kills,
  recipients,
  seed: wholeNumber("seed", values.seed),
  data,
  key,
  launch: (_, { port, relayPort }) =>
    startServer({
      binary: values.binary ? join(ROOT, "dist", "mailstead") : null,
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

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new Error(`--${name}: a number is needed`);
  return Number(text);
}
