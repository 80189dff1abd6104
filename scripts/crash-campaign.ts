/**
 * Kills the server repeatedly during a campaign, and counts the mails that arrive.
 *
 * `bun scripts/crash-campaign.ts [--kills 50] [--recipients 50000] [--mail unsigned|signed]
 * [--signal KILL|TERM] [--seed N] [--ab no|yes] [--binary[=PATH]]`
 *
 * The exit code is 1 if a recipient was skipped, or received the mail twice although it was not under
 * way at a kill, or if more mails were leased at a kill than the server may lease ahead. Mails that
 * were under way at a kill are retried after half a minute or more, so the script still waits for
 * them after the last kill. With `--signal TERM` the server ends the mails under way, so no mail may
 * arrive twice. The signatures of a mail that arrives twice differ in their time; all other bytes
 * must be the same. It also fails if fewer than a third of the kills happened while mails were sent;
 * then take more recipients.
 *
 * With `--ab yes` the campaign has an A/B test with a hold-out group, and the clock is an hour later at
 * each start: no contact may get two variants, none of the hold-out group anything, and the winner is chosen
 * once (20,000 recipients are enough for 50 kills).
 */

import { printValue, reportOutcome, whole } from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { crashAbCampaign } from "./crash/ab-campaign.ts";
import { crashCampaign } from "./crash/campaign.ts";
import { choiceOf, crashOptions } from "./crash/options.ts";

async function run(): Promise<boolean> {
  const options = crashOptions("crash-campaign.ts", {
    kills: 50,
    recipients: 50_000,
    mail: "unsigned",
    signal: "KILL",
    seed: 1,
    ab: "no",
  });
  const { kills, recipients, seed } = options;
  const signal = choiceOf("signal", options.signal, ["KILL", "TERM"]);
  const mail = choiceOf("mail", options.mail, ["unsigned", "signed"]);
  console.log(
    `crash-campaign: ${whole(recipients)} recipients, ${mail}, ${kills} × SIG${signal}, seed ${seed}`,
  );
  const isAb = choiceOf("ab", options.ab, ["no", "yes"]) === "yes";
  const outcome = await (isAb ? crashAbCampaign : crashCampaign)({
    ...options,
    signal,
    isSigned: mail === "signed",
    isHourly: isAb,
    drainLimitMs: 15 * 60_000,
    onKill: (kill, arrived) => {
      if ((kill + 1) % 10 !== 0) return;
      printValue(`after ${kill + 1} kills`, `${whole(arrived)} recipients have it`);
    },
  });
  return reportOutcome(outcome);
}

await runCheck(run, 60 * 60_000);
