/**
 * Kills the server over and over while it accepts and sends mail, and counts what arrives.
 *
 * `bun scripts/crash.ts [--transport relay|direct] [--kills 100] [--seed N] [--binary[=PATH]]`
 *
 * Mails that were under way at a kill wait for half a minute and longer before they are sent again,
 * so the end takes its time. Exit code 1 where the promise was broken.
 */

import { removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { runProof } from "./bench/proof.ts";
import { judge, say, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { type CrashReport, runCrashLoop } from "./crash/loop.ts";
import { crashOptions } from "./crash/options.ts";

const CONNECTIONS = 4;
const DRAIN_LIMIT_MS = 10 * 60_000;
const LIMIT_MS = 30 * 60_000;

function transportNamed(text: string): "relay" | "direct" {
  if (text === "relay" || text === "direct") return text;
  throw new Error("--transport: relay or direct");
}

async function run(): Promise<boolean> {
  const options = crashOptions("crash.ts", { transport: "relay", kills: 100, seed: 1 });
  const { kills, seed, binary } = options;
  const transport = transportNamed(options.transport);
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
    onLife: (life, accepted) => {
      if ((life + 1) % 10 === 0) say(`after ${life + 1} kills`, `${whole(accepted)} accepted`);
    },
  });
  removeFolder(data);
  return print(report);
}

function print(report: CrashReport): boolean {
  say("accepted", whole(report.accepted));
  say("delivered", whole(report.delivered));
  say("under way at the kills", whole(report.inFlightAtKills));
  say("unanswered, and sent again", whole(report.unanswered));
  say("of those stored before the kill", whole(report.replayed));
  return judge([
    { name: "lost", isMet: report.lost === 0, measured: whole(report.lost), wanted: "0" },
    {
      name: "duplicates",
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
      name: "records beyond one per mail",
      isMet: report.surplusRecords === 0,
      measured: whole(report.surplusRecords),
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

await runProof(run, LIMIT_MS);
