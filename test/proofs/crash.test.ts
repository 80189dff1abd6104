/**
 * A server that is killed loses nothing that it confirmed, and repeats only the work that was under
 * way.
 */

import type { Outcome } from "../../scripts/bench/report.ts";
import { crashAbCampaign } from "../../scripts/crash/ab-campaign.ts";
import { crashCampaign } from "../../scripts/crash/campaign.ts";
import { CAPTURE_LOAD } from "../../scripts/crash/capture.ts";
import { crashEntries } from "../../scripts/crash/entries.ts";
import { crashErasures } from "../../scripts/crash/erasures.ts";
import { crashForms } from "../../scripts/crash/forms.ts";
import { crashFallback } from "../../scripts/crash/fallback.ts";
import { INBOUND_LOAD } from "../../scripts/crash/inbound.ts";
import type { CrashOptions } from "../../scripts/crash/kills.ts";
import { crashMails } from "../../scripts/crash/mails.ts";
import { crashSmtp } from "../../scripts/crash/smtp-load.ts";
import { SUBMISSION_LOAD } from "../../scripts/crash/submission.ts";
import { crashWorkflows } from "../../scripts/crash/workflows.ts";
import { BINARY, prove } from "./prove.ts";

const OPTIONS = { kills: 2, seed: 8, binary: BINARY, isHourly: true, drainLimitMs: 60_000 };

/** The long forms are scripts/crash.ts, crash-campaign.ts, crash-workflows.ts, crash-forms.ts and crash-erasures.ts. */
const CLAIMS: readonly [name: string, run: (options: CrashOptions) => Promise<Outcome>][] = [
  [
    "every captured message that was answered with 250 survives kill -9",
    (options) => crashSmtp(CAPTURE_LOAD, options),
  ],
  [
    "every submitted message that was answered with 250 survives kill -9, once",
    (options) => crashSmtp(SUBMISSION_LOAD, options),
  ],
  [
    "every received message that was answered with 250 survives kill -9, with its event",
    (options) => crashSmtp(INBOUND_LOAD, options),
  ],
  [
    "an accepted mail survives kill -9, and reaches the relay twice only if it was being sent",
    (options) => crashMails("relay", options),
  ],
  [
    "an accepted mail survives kill -9 while both relays come and go, and is not sent by both",
    crashFallback,
  ],
  [
    "an accepted mail survives kill -9, and is delivered twice only if it was being sent",
    (options) => crashMails("direct", options),
  ],
  [
    "a signed campaign survives kill -9: each recipient gets it, twice only if it was being sent",
    (options) => crashCampaign({ ...options, recipients: 100, isSigned: true, signal: "KILL" }),
  ],
  [
    "an A/B test survives kill -9: each contact gets one variant or nothing, and the winner is chosen once",
    (options) => crashAbCampaign({ ...options, recipients: 100, isSigned: false, signal: "KILL" }),
  ],
  [
    "a campaign survives SIGTERM: each recipient gets it once",
    (options) => crashCampaign({ ...options, recipients: 100, isSigned: false, signal: "TERM" }),
  ],
  [
    "each step of an execution happens once, even if the process is killed at any time",
    (options) => crashWorkflows({ ...options, executions: 40, seed: 1 }),
  ],
  [
    "each contact enters a workflow once by a schedule and by hand, even if the process is killed",
    (options) => crashEntries({ ...options, contacts: 400 }),
  ],
  [
    "a person who signs up and confirms is subscribed once, even if the process is killed",
    (options) => crashForms({ ...options, people: 20 }),
  ],
  [
    "a person is erased, with one receipt and no trace, even if the process is killed",
    (options) => crashErasures({ ...options, people: 8 }),
  ],
];

prove(CLAIMS.map(([name, run]) => ({ name, run: async () => (await run(OPTIONS)).aims })));
