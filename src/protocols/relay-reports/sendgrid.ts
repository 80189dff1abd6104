/**
 * SendGrid: an array of events. The unique arguments of the mail are members of every event.
 * https://www.twilio.com/docs/sendgrid/for-developers/tracking-events/event
 */

import type { ReplyClass } from "../smtp/reply-classes.ts";
import {
  bracketed,
  entryOf,
  joinKnown,
  type RelayReport,
  secondsAt,
  statusIn,
  textAt,
  valueAt,
} from "./report.ts";

/** The classes that SendGrid gives to bounces. */
const CLASSIFICATIONS: Readonly<Record<string, ReplyClass>> = {
  "Invalid Address": "no_such_recipient",
  "Mailbox Unavailable": "temporary",
  Content: "content",
  Reputation: "reputation",
  "Frequency or Volume Too High": "rate_limited",
  Technical: "infrastructure",
};

/** The reasons for which SendGrid does not try to deliver a mail, by their beginning. */
const DROPS: readonly (readonly [reason: RegExp, found: ReplyClass])[] = [
  [/^(?:bounced address|invalid$|invalid address)/i, "no_such_recipient"],
  [/^(?:spam content|invalid smtpapi header)/i, "content"],
];

export function readSendGridEvent(event: unknown): RelayReport[] {
  const clues = {
    emailId: textAt(event, "mailstead_id"),
    messageId: bracketed(textAt(event, "smtp-id")),
    recipient: textAt(event, "email"),
  };
  const reason = textAt(event, "reason") ?? textAt(event, "response") ?? "";
  switch (textAt(event, "event")) {
    case "delivered":
      return [{ ...clues, kind: "delivery" }];
    case "bounce": {
      const isBlocked = textAt(event, "type") === "blocked";
      const named = entryOf(CLASSIFICATIONS, textAt(event, "bounce_classification") ?? "");
      return [
        {
          ...clues,
          kind: "bounce",
          class: named ?? (isBlocked ? "policy" : "no_such_recipient"),
          isCertain: false,
          status: statusIn(textAt(event, "status")),
          words: reason,
        },
      ];
    }
    case "dropped": {
      const found = DROPS.find(([pattern]) => pattern.test(reason))?.[1] ?? "policy";
      const words = joinKnown("SendGrid did not send it:", reason === "" ? "no reason" : reason);
      return [{ ...clues, kind: "bounce", class: found, isCertain: true, status: null, words }];
    }
    case "open":
    case "click":
      return [
        {
          ...clues,
          kind: textAt(event, "event") === "open" ? "open" : "click",
          url: textAt(event, "url"),
          at: secondsAt(event, "timestamp"),
          userAgent: textAt(event, "useragent"),
          isMachine: valueAt(event, "sg_machine_open") === true,
        },
      ];
    case "spamreport":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "unsubscribe":
    case "group_unsubscribe":
      return [{ ...clues, kind: "unsubscribe" }];
    case "deferred":
      return [{ ...clues, kind: "delay" }];
    default:
      return [{ ...clues, kind: "other" }];
  }
}
