/**
 * Kills the server over and over while workflows run, and looks whether each step happened once.
 *
 * `bun scripts/crash-workflows.ts [--kills 50] [--executions 2000] [--seed N] [--binary]`
 *
 * Exit code 1 where an execution went astray, or a mail step made another number of mails than one.
 * Delays and mails under way at a kill take their minute at the end.
 */

import { relayTo, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { judge, say, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { runWorkflowCrash } from "./crash/workflows.ts";
import { crashOptions } from "./crash/options.ts";

const DRAIN_LIMIT_MS = 10 * 60_000;

const options = crashOptions("crash-workflows.ts", { kills: 50, executions: 2_000, seed: 1 });
const { kills, executions, seed, binary } = options;
const data = temporaryFolder();
const key = await prepareStore(data, 0);
console.log(`crash-workflows: ${whole(executions)} executions, ${kills} × kill -9`);
const report = await runWorkflowCrash({
  kills,
  executions,
  seed,
  data,
  key,
  launch: (_, { port, relayPort }) =>
    startServer({
      binary,
      data,
      port,
      args: [...relayTo(relayPort, 0), "--allow-private-addresses", "true"],
    }),
  drainLimitMs: DRAIN_LIMIT_MS,
  onLife: (life, tracked) => {
    if ((life + 1) % 10 === 0) say(`after ${life + 1} kills`, `${whole(tracked)} tracked`);
  },
});
removeFolder(data);

say("executions", whole(report.executions));
say("webhook steps that called", whole(report.called));
say("calls, mails under way at kills", `${report.callsAtKills}, ${report.mailsAtKills}`);
if (report.example !== "") say("for example", report.example);
const none = (name: string, count: number) => ({
  name,
  isMet: count === 0,
  measured: whole(count),
  wanted: "0",
});
const atMost = (name: string, count: number, most: number) => ({
  name,
  isMet: count <= most,
  measured: whole(count),
  wanted: `≤ ${whole(most)}, those under way at kills`,
});
const isKept = judge([
  none("executions that did not start", report.missing),
  none("steps not done, or done twice", report.astray),
  none("mails made beyond one per step", report.surplusMails),
  none("mails not made", report.missingMails),
  none("mails that did not arrive", report.lostMails),
  none("contacts not as they have to be", report.wrongContacts),
  atMost("calls repeated, by the same name", report.repeatedCalls, report.callsAtKills),
  atMost("mails that arrived twice", report.duplicateMails, report.mailsAtKills),
]);
process.exit(isKept ? 0 : 1);
