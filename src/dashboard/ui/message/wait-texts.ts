/** The reason why mail waits, in words. */

import type { EmailWait } from "../../../modules/emails/record-model.ts";
import { sentence } from "../sentence.ts";

type WaitWords = {
  /** Completes "It waits …" and "3 mails wait …"; without a full stop. */
  waits: string;
  /** The reason and the remedy; empty if there is nothing to add. */
  text: string;
};

const ALONE = "Nothing needs to be done:";

export function waitWords({ cause, name, reason }: EmailWait): WaitWords {
  switch (cause) {
    case "PROJECT_DISABLED":
      return {
        waits: "because the project is disabled",
        text: "No mail of a disabled project is sent. An owner enables it again in its settings.",
      };
    case "CAMPAIGN_PAUSED":
      return {
        waits: `because the campaign “${name}” is paused`,
        text: "Resume the campaign to send the mail, or cancel it.",
      };
    case "RELAY_DOWN":
      return {
        waits: `because the relay ${name} cannot be reached`,
        text: `${sentence(reason ?? "")} Mail is sent as soon as the relay answers. Check that it runs and that its address and password are right.`,
      };
    case "RELAY_REFUSES":
      return {
        waits: `because the relay ${name} refuses the mail of this account`,
        text: `${sentence(reason ?? "")} Nothing is lost: one mail is tried from time to time, and all leave once the relay takes them. Look at the quota and the state of the account at the relay.`,
      };
    case "SITE_PAUSED":
      return {
        waits: `for ${name}, which takes no mail at present`,
        text: `${sentence(reason ?? "")} ${ALONE} the mail is sent when the pause is over.`,
      };
    case "RETRY":
      return {
        waits: "for another attempt, because the last one failed",
        text: `${ALONE} there is another attempt.`,
      };
    case "SCHEDULED":
      return { waits: "for the time for which it was scheduled", text: "" };
    case "QUEUE":
      return { waits: "in the queue", text: "" };
  }
}
