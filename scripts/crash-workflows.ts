/**
 * Kills the server repeatedly while workflows run, and checks that each step happened once.
 *
 * `bun scripts/crash-workflows.ts [--kills 50] [--executions 2000] [--seed N] [--binary]`
 *
 * The exit code is 1 if an execution took a wrong path, or if a mail step did not create exactly one
 * mail. After the last kill the script waits about a minute for delays and for mails that were under
 * way at a kill.
 */

import { relayTo, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
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
  onKill: (kill, tracked) => {
    if ((kill + 1) % 10 === 0)
      printValue(`after ${kill + 1} kills`, `${whole(tracked)} contacts tracked`);
  },
});
removeFolder(data);

printValue("executions", whole(report.executions));
printValue("webhook steps that sent a request", whole(report.called));
printValue("calls, mails under way at kills", `${report.callsAtKills}, ${report.mailsAtKills}`);
if (report.example !== "") printValue("example of a wrong path", report.example);
const none = (name: string, count: number) => ({
  name,
  isMet: count === 0,
  measured: whole(count),
  wanted: "0",
});
const atMost = (name: string, count: number, limit: number) => ({
  name,
  isMet: count <= limit,
  measured: whole(count),
  wanted: `≤ ${whole(limit)}, the number under way at kills`,
});
const isKept = reportAims([
  none("executions that did not start", report.missing),
  none("executions on a wrong path", report.astray),
  none("mails created beyond one per step", report.surplusMails),
  none("mails not created", report.missingMails),
  none("mails that did not arrive", report.lostMails),
  none("contacts with wrong data", report.wrongContacts),
  none("projects with wrong counters", report.wrongCounters),
  atMost("calls repeated with the same id", report.repeatedCalls, report.callsAtKills),
  atMost("mails that arrived twice", report.duplicateMails, report.mailsAtKills),
]);
process.exit(isKept ? 0 : 1);
