/**
 * Measures the program and compares the results with the project's aims. Each measurement prints a
 * baseline from the same run.
 *
 * `bun scripts/bench.ts [NAME…|all] [--quick] [--binary[=PATH]] [--seeded=FOLDER] [--mails=N]
 * [--mailpit=PATH]`
 *
 * These measurements start with an empty project: accept, accept-bodies, bounces, campaign, campaign-speed,
 * capture, deliver, deliver-direct, emails, inbox, pace, send-relay, slow, start, submission,
 * tracking, webhooks, workflows. `compose` needs no project. These need a million contacts and ten million events:
 * contacts, import, readers, segments, track. `dashboard` needs the demonstration with 100,000 captured messages
 * (`scripts/seed.ts --demo --scale large`); with `--scale million` it measures every page with a million contacts
 * and ten million events. `--seeded` copies that data from a folder that scripts/seed.ts
 * filled, instead of creating it. `--mails` sets the number of mails of deliver-direct, where the
 * default of 200,000 takes several minutes, and of emails. `--mailpit` names Mailpit's binary, which then takes the same
 * load in capture. `--quick` measures with less data.
 *
 * The server (from the sources, or the executable with `--binary`), the load generator and the SMTP
 * server run in separate processes. `start` always measures the executable. The exit code is 1 if an
 * aim was missed. Other work on the same machine changes the numbers.
 */

import { join } from "node:path";
import { benchAcceptBodies } from "./bench/accept-bodies.ts";
import { benchAccept } from "./bench/accept.ts";
import { benchBounces } from "./bench/bounces.ts";
import { benchCampaignSpeed } from "./bench/campaign-speed.ts";
import { benchCampaign } from "./bench/campaign.ts";
import { ROOT } from "./bench/children.ts";
import { benchCapture } from "./bench/capture.ts";
import { benchCompose } from "./bench/compose.ts";
import { benchContacts } from "./bench/contacts.ts";
import { benchDashboard } from "./bench/dashboard.ts";
import { benchDeliver } from "./bench/deliver.ts";
import { benchDirect } from "./bench/direct.ts";
import { benchInbox } from "./bench/inbox.ts";
import { benchEmails } from "./bench/emails.ts";
import { benchImport } from "./bench/import.ts";
import { benchPace } from "./bench/pace.ts";
import { benchReaders } from "./bench/readers.ts";
import { benchSegments } from "./bench/segments.ts";
import { benchSendRelay } from "./bench/send-relay.ts";
import { benchSlow } from "./bench/slow.ts";
import { benchSubmission } from "./bench/submission.ts";
import { benchStart } from "./bench/start.ts";
import { benchTrack } from "./bench/track.ts";
import { benchTracking } from "./bench/tracking.ts";
import { benchWebhooks } from "./bench/webhooks.ts";
import { benchWorkflows } from "./bench/workflows.ts";

const LIMIT_MS = 30 * 60_000;
const DEFAULT_BINARY = join(ROOT, "dist", "mailstead");

type Options = {
  binary: string | null;
  isQuick: boolean;
  seeded: string | null;
  /** Number of mails of deliver-direct and emails; 0 stands for their defaults. */
  mails: number;
  /** Path of Mailpit's binary; null if it is not measured. */
  mailpit: string | null;
};

const BENCHES: Readonly<Record<string, (options: Options) => Promise<boolean>>> = {
  accept: benchAccept,
  "accept-bodies": benchAcceptBodies,
  bounces: benchBounces,
  campaign: benchCampaign,
  "campaign-speed": benchCampaignSpeed,
  capture: benchCapture,
  compose: benchCompose,
  contacts: benchContacts,
  dashboard: benchDashboard,
  deliver: benchDeliver,
  "deliver-direct": benchDirect,
  emails: benchEmails,
  import: benchImport,
  inbox: benchInbox,
  pace: benchPace,
  readers: benchReaders,
  segments: benchSegments,
  "send-relay": benchSendRelay,
  submission: benchSubmission,
  start: ({ binary, isQuick }) => benchStart({ binary: binary ?? DEFAULT_BINARY, isQuick }),
  slow: benchSlow,
  track: benchTrack,
  tracking: benchTracking,
  webhooks: benchWebhooks,
  workflows: benchWorkflows,
};

const USAGE = `usage: bun scripts/bench.ts [${Object.keys(BENCHES).join("|")}|all] [--quick] [--binary[=PATH]] [--seeded=FOLDER] [--mails=N] [--mailpit=PATH]`;

function readArguments(words: readonly string[]): { names: string[]; options: Options } {
  const options: Options = { binary: null, isQuick: false, seeded: null, mails: 0, mailpit: null };
  const names: string[] = [];
  for (const word of words) {
    if (word === "--quick") options.isQuick = true;
    else if (word === "--binary") options.binary = DEFAULT_BINARY;
    else if (word.startsWith("--binary=")) options.binary = word.slice("--binary=".length);
    else if (word.startsWith("--mailpit=")) options.mailpit = word.slice("--mailpit=".length);
    else if (word.startsWith("--seeded=")) options.seeded = word.slice("--seeded=".length);
    else if (/^--mails=[1-9]\d{0,6}$/.test(word)) options.mails = Number(word.slice(8));
    else if (word === "all") names.push(...Object.keys(BENCHES));
    else if (Object.hasOwn(BENCHES, word)) names.push(word);
    else throw new Error(`unknown argument: ${word}\n${USAGE}`);
  }
  return { names: names.length === 0 ? Object.keys(BENCHES) : names, options };
}

async function run(): Promise<number> {
  const { names, options } = readArguments(Bun.argv.slice(2));
  let areAllMet = true;
  for (const name of names) {
    const isMet = await BENCHES[name]?.(options);
    if (isMet !== true) areAllMet = false;
    console.log("");
  }
  return areAllMet ? 0 : 1;
}

setTimeout(() => {
  console.error(`the measurements did not finish within ${LIMIT_MS / 60_000} minutes`);
  process.exit(1);
}, LIMIT_MS);

try {
  process.exit(await run());
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exit(1);
}
