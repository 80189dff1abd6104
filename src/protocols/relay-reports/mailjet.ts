/**
 * Mailjet: one event for each request, or an array of them. `CustomID` comes back with every event.
 * https://dev.mailjet.com/email/guides/webhooks/
 */

import type { ReplyClass } from "../smtp/reply-classes.ts";
import { entryOf, joinKnown, type RelayReport, secondsAt, textAt, valueAt } from "./report.ts";

/** The errors of bounces and of blocked mail. After those of `UNTRIED`, no attempt was made. */
const ERRORS: Readonly<Record<string, ReplyClass>> = {
  "user unknown": "no_such_recipient",
  "mailbox inactive": "no_such_recipient",
  "quota exceeded": "mailbox_full",
  "invalid domain": "no_such_recipient",
  "no mail host": "no_such_recipient",
  typofix: "no_such_recipient",
  "relay/access denied": "policy",
  "sender blocked": "reputation",
  "content blocked": "content",
  "policy issue": "policy",
  "system issue": "infrastructure",
  "protocol issue": "infrastructure",
  "connection issue": "infrastructure",
  preblocked: "policy",
  blacklisted: "policy",
  "spam reporter": "policy",
  "duplicate in campaign": "policy",
};

const UNTRIED: ReadonlySet<string> = new Set([
  "preblocked",
  "blacklisted",
  "spam reporter",
  "duplicate in campaign",
  "typofix",
]);

export function readMailjetEvent(event: unknown): RelayReport[] {
  const clues = {
    emailId: textAt(event, "CustomID"),
    messageId: null,
    recipient: textAt(event, "email"),
  };
  switch (textAt(event, "event")) {
    case "sent":
      return [{ ...clues, kind: "delivery" }];
    case "bounce":
    case "blocked": {
      const error = textAt(event, "error") ?? "";
      const isHard = valueAt(event, "hard_bounce") === true;
      // Mailjet tries these again.
      if (error === "greylisted" && !isHard) return [{ ...clues, kind: "delay" }];
      return [
        {
          ...clues,
          kind: "bounce",
          class: entryOf(ERRORS, error) ?? (isHard ? "no_such_recipient" : "temporary"),
          isCertain: UNTRIED.has(error),
          status: null,
          words: textAt(event, "comment") ?? joinKnown(textAt(event, "error_related_to"), error),
        },
      ];
    }
    case "open":
    case "click":
      return [
        {
          ...clues,
          kind: textAt(event, "event") === "open" ? "open" : "click",
          url: textAt(event, "url"),
          at: secondsAt(event, "time"),
          userAgent: textAt(event, "agent"),
          isMachine: false,
        },
      ];
    case "spam":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "unsub":
      return [{ ...clues, kind: "unsubscribe" }];
    default:
      return [{ ...clues, kind: "other" }];
  }
}
