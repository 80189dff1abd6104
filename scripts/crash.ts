/**
 * Kills the server repeatedly while it accepts and sends mail, and counts the mails that arrive.
 *
 * `bun scripts/crash.ts [--transport relay|direct|capture-smtp|submission|inbound] [--kills 100] [--seed N] [--binary[=PATH]]`
 *
 * The exit code is 1 if an accepted mail was lost, or arrived twice although it was not under way at
 * a kill. Mails that were under way at a kill are retried after half a minute or more, so the script
 * still waits for them after the last kill.
 *
 * With `--transport capture-smtp` the server catches mail over SMTP instead: every message that was
 * answered with 250 must be in the inbox after the last restart, once. With `--transport submission`
 * clients submit mail over SMTP: every message that was answered with 250 must have one record and
 * leave as it was sent, also if it was sent again because its client got no answer. With
 * `--transport inbound` mail arrives for an inbound route: every message that was answered with 250
 * is received as it was sent, with one event and one forwarded mail.
 */

import { removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { runCheck } from "./bench/run-check.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { runCaptureCrashLoop } from "./crash/capture.ts";
import { type CrashReport, runCrashLoop } from "./crash/loop.ts";
import { runInboundCrashLoop } from "./crash/inbound.ts";
import { runSubmissionCrashLoop } from "./crash/submission.ts";
import { crashOptions } from "./crash/options.ts";

const CONNECTIONS = 4;
const SMTP_CONNECTIONS = 10;
const DRAIN_LIMIT_MS = 10 * 60_000;
const LIMIT_MS = 30 * 60_000;

const SMTP_LOOPS = {
  "capture-smtp": runCaptureCrashLoop,
  submission: runSubmissionCrashLoop,
  inbound: runInboundCrashLoop,
};
type SmtpTransport = keyof typeof SMTP_LOOPS;
const isSmtp = (text: string): text is SmtpTransport => Object.hasOwn(SMTP_LOOPS, text);

/** The parts of a report that may have any value; every other part must be 0. */
const COUNTS: Readonly<Record<string, string | undefined>> = {
  accepted: "answered with 250",
  repeated: "sent again after a kill",
  listed: "in the inbox",
  unanswered: "without an answer",
};

function parseTransport(text: string): "relay" | "direct" {
  if (text === "relay" || text === "direct") return text;
  throw new Error("--transport must be relay, direct, capture-smtp, submission or inbound");
}

async function run(): Promise<boolean> {
  const options = crashOptions("crash.ts", { transport: "relay", kills: 100, seed: 1 });
  const { kills, seed, binary } = options;
  if (isSmtp(options.transport)) return runSmtp(options.transport, { kills, seed, binary });
  const transport = parseTransport(options.transport);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0, { isSigned: transport === "direct" });
  console.log(`crash: ${kills} × kill -9, ${transport}, seed ${seed}`);
  const report = await runCrashLoop({
    kills,
    seed,
    data,
    key,
    connections: CONNECTIONS,
    transport,
    launch: (_, { port, args }) => startServer({ binary, data, port, args }),
    drainLimitMs: DRAIN_LIMIT_MS,
    onKill: (kill, accepted) => {
      if ((kill + 1) % 10 === 0)
        printValue(`after ${kill + 1} kills`, `${whole(accepted)} accepted`);
    },
  });
  removeFolder(data);
  return print(report);
}

async function runSmtp(
  transport: SmtpTransport,
  options: { kills: number; seed: number; binary: string | null },
) {
  const { kills, seed, binary } = options;
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  console.log(`crash: ${kills} × kill -9, ${transport}, seed ${seed}`);
  const report = await SMTP_LOOPS[transport]({
    kills,
    seed,
    data,
    key,
    connections: SMTP_CONNECTIONS,
    launch: ({ port, args }) => startServer({ binary, data, port, args }),
    onKill: (kill, accepted) => {
      if ((kill + 1) % 10 === 0)
        printValue(`after ${kill + 1} kills`, `${whole(accepted)} answered with 250`);
    },
  });
  removeFolder(data);
  const counts = Object.entries(report);
  for (const [name, count] of counts) {
    const label = COUNTS[name];
    if (label !== undefined) printValue(label, whole(count));
  }
  return reportAims(
    counts
      .filter(([name]) => COUNTS[name] === undefined)
      .map(([name, count]) => ({ name, isMet: count === 0, measured: whole(count), wanted: "0" })),
  );
}

function print(report: CrashReport): boolean {
  printValue("accepted", whole(report.accepted));
  printValue("delivered", whole(report.delivered));
  printValue("under way at the kills", whole(report.inFlightAtKills));
  printValue("requests without a response", whole(report.unanswered));
  printValue("of these, mail was already stored", whole(report.replayed));
  return reportAims([
    { name: "lost", isMet: report.lost === 0, measured: whole(report.lost), wanted: "0" },
    {
      name: "duplicates",
      isMet: report.duplicates <= report.inFlightAtKills,
      measured: whole(report.duplicates),
      wanted: `≤ ${whole(report.inFlightAtKills)}, the mails under way`,
    },
    {
      name: "mails with wrong Message-ID or bytes",
      isMet: report.differing === 0,
      measured: whole(report.differing),
      wanted: "0",
    },
    {
      name: "records beyond one per mail",
      isMet: report.surplusRecords === 0,
      measured: whole(report.surplusRecords),
      wanted: "0",
    },
    {
      name: "projects with wrong counters",
      isMet: report.wrongCounters === 0,
      measured: whole(report.wrongCounters),
      wanted: "0",
    },
    {
      name: "SIGTERM at the end",
      isMet: report.isOrderlyEnd,
      measured: report.isOrderlyEnd ? "exit code 0" : "another exit code",
      wanted: "exit code 0",
    },
  ]);
}

await runCheck(run, LIMIT_MS);
