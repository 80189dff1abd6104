/**
 * Kills the server repeatedly while it accepts and sends mail, and counts the mails that arrive.
 *
 * `bun scripts/crash.ts [--transport relay|fallback|direct|capture-smtp|submission|inbound] [--kills 100] [--seed N] [--binary[=PATH]]`
 *
 * The exit code is 1 if an accepted mail was lost, or arrived twice although it was not under way at
 * a kill. Mails that were under way at a kill are retried after half a minute or more, so the script
 * still waits for them after the last kill.
 *
 * With `--transport fallback` the relay and its fallback come and go meanwhile: no mail may arrive at both,
 * except those that were under way at a kill.
 *
 * With `--transport capture-smtp` the server catches mail over SMTP instead: every message that was
 * answered with 250 must be in the inbox after the last restart, once. With `--transport submission`
 * clients submit mail over SMTP: every message that was answered with 250 must have one record and
 * leave as it was sent, also if it was sent again because its client got no answer. With
 * `--transport inbound` mail arrives for an inbound route: every message that was answered with 250
 * is received as it was sent, with one event and one forwarded mail.
 */

import { printValue, reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { CAPTURE_LOAD } from "./crash/capture.ts";
import { crashFallback } from "./crash/fallback.ts";
import { INBOUND_LOAD } from "./crash/inbound.ts";
import type { CrashOptions } from "./crash/kills.ts";
import { crashMails } from "./crash/mails.ts";
import { choiceOf, crashOptions } from "./crash/options.ts";
import { crashSmtp } from "./crash/smtp-load.ts";
import { SUBMISSION_LOAD } from "./crash/submission.ts";

const TRANSPORTS = {
  relay: (options: CrashOptions) => crashMails("relay", options),
  fallback: crashFallback,
  direct: (options: CrashOptions) => crashMails("direct", options),
  "capture-smtp": (options: CrashOptions) => crashSmtp(CAPTURE_LOAD, options),
  submission: (options: CrashOptions) => crashSmtp(SUBMISSION_LOAD, options),
  inbound: (options: CrashOptions) => crashSmtp(INBOUND_LOAD, options),
};
const NAMES = ["relay", "fallback", "direct", "capture-smtp", "submission", "inbound"] as const;

async function run(): Promise<boolean> {
  const options = crashOptions("crash.ts", { transport: "relay", kills: 100, seed: 1 });
  const transport = choiceOf("transport", options.transport, NAMES);
  const { kills, seed, binary } = options;
  console.log(`crash: ${kills} × kill -9, ${transport}, seed ${seed}`);
  const outcome = await TRANSPORTS[transport]({
    kills,
    seed,
    binary,
    isHourly: false,
    drainLimitMs: 10 * 60_000,
    onKill: (kill, accepted) => {
      if ((kill + 1) % 10 !== 0) return;
      printValue(`after ${kill + 1} kills`, `${whole(accepted)} accepted`);
    },
  });
  return reportOutcome(outcome);
}

await runCheck(run, 30 * 60_000);
