/**
 * Kills the server repeatedly while people sign up by a form and confirm, and checks that each is subscribed
 * once.
 *
 * `bun scripts/crash-forms.ts [--kills 50] [--people 1000] [--seed N] [--binary[=PATH]]`
 *
 * Each person presses the button behind the link of the mail twice at once, and again if a kill took the
 * answer. The exit code is 1 if a person has not exactly one contact, mail, consent and confirmation.
 */

import { reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashForms } from "./crash/forms.ts";
import { crashOptions } from "./crash/options.ts";

async function run(): Promise<boolean> {
  const options = crashOptions("crash-forms.ts", { kills: 50, people: 1_000, seed: 1 });
  console.log(`crash-forms: ${whole(options.people)} people, ${options.kills} × kill -9`);
  const rest = { isHourly: false, drainLimitMs: 10 * 60_000 };
  return reportOutcome(await crashForms({ ...options, ...rest }));
}

await runCheck(run, 60 * 60_000);
