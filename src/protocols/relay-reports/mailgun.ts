/**
 * Mailgun: one event for each request, in `event-data` beside its signature.
 * https://documentation.mailgun.com/docs/mailgun/user-manual/events/event-structure
 */

import {
  type BounceClass,
  bracketed,
  entryOf,
  joinKnown,
  type RelayReport,
  secondsAt,
  statusIn,
  textAt,
  valueAt,
} from "./report.ts";

/** Reasons of failures. After those that are certain, Mailgun did not try to deliver. */
const REASONS: Readonly<Record<string, BounceClass>> = {
  bounce: { class: "no_such_recipient", isCertain: false },
  hardfail: { class: "no_such_recipient", isCertain: false },
  "suppress-bounce": { class: "no_such_recipient", isCertain: true },
  "suppress-complaint": { class: "policy", isCertain: true },
  "suppress-unsubscribe": { class: "policy", isCertain: true },
  espblock: { class: "reputation", isCertain: false },
  old: { class: "temporary", isCertain: false },
};

export function readMailgunEvent(body: unknown): RelayReport[] {
  const event = valueAt(body, "event-data");
  const clues = {
    emailId: textAt(event, "user-variables", "mailstead_id"),
    messageId: bracketed(textAt(event, "message", "headers", "message-id")),
    recipient: textAt(event, "recipient"),
  };
  switch (textAt(event, "event")) {
    case "delivered":
      return [{ ...clues, kind: "delivery" }];
    case "failed":
      if (textAt(event, "severity") === "temporary") return [{ ...clues, kind: "delay" }];
      return [{ ...clues, kind: "bounce", ...readFailure(event) }];
    case "rejected": {
      const words = joinKnown("Mailgun did not send it:", textAt(event, "reject", "reason"));
      return [{ ...clues, kind: "bounce", class: "policy", isCertain: true, status: null, words }];
    }
    case "opened":
    case "clicked": {
      // Gmail fetches images when a person reads; the other bots fetch them before.
      const bot = textAt(event, "client-info", "bot");
      return [
        {
          ...clues,
          kind: textAt(event, "event") === "opened" ? "open" : "click",
          url: textAt(event, "url"),
          at: secondsAt(event, "timestamp"),
          userAgent: textAt(event, "client-info", "user-agent"),
          isMachine: bot !== null && bot !== "gmail",
        },
      ];
    }
    case "complained":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "unsubscribed":
      return [{ ...clues, kind: "unsubscribe" }];
    default:
      return [{ ...clues, kind: "other" }];
  }
}

function readFailure(event: unknown) {
  const found = entryOf(REASONS, textAt(event, "reason") ?? "") ?? {
    class: "policy",
    isCertain: false,
  };
  const status = statusIn(textAt(event, "delivery-status", "enhanced-code"));
  const code = valueAt(event, "delivery-status", "code");
  // Codes from 600 on are Mailgun's own.
  const reply = typeof code === "number" && code >= 400 && code < 600 ? code : null;
  const said =
    textAt(event, "delivery-status", "message") ?? textAt(event, "delivery-status", "description");
  const text = said ?? textAt(event, "reason");
  const isQuoted = reply === null || text?.startsWith(String(reply)) === true;
  return { ...found, status, words: isQuoted ? (text ?? "") : joinKnown(reply, status, text) };
}
