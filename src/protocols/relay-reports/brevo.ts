/**
 * Brevo: one event for each request, or an array of them.
 * https://developers.brevo.com/docs/transactional-webhooks
 */

import {
  type BounceClass,
  bracketed,
  entryOf,
  type RelayReport,
  textAt,
  valueAt,
} from "./report.ts";

/** Events after which the mail was not delivered. */
const BOUNCES: Readonly<Record<string, BounceClass>> = {
  hard_bounce: { class: "no_such_recipient", isCertain: false },
  soft_bounce: { class: "temporary", isCertain: false },
  invalid_email: { class: "no_such_recipient", isCertain: true },
  // The address is on a list of Brevo, for instance because its owner has unsubscribed.
  blocked: { class: "policy", isCertain: true },
  error: { class: "policy", isCertain: false },
};

/** Opens and clicks. Proxies load images before a person reads. */
const HITS: Readonly<Record<string, { kind: "open" | "click"; isMachine: boolean }>> = {
  opened: { kind: "open", isMachine: false },
  unique_opened: { kind: "open", isMachine: false },
  proxy_open: { kind: "open", isMachine: true },
  unique_proxy_open: { kind: "open", isMachine: true },
  click: { kind: "click", isMachine: false },
};

export function readBrevoEvent(event: unknown): RelayReport[] {
  const clues = {
    emailId: textAt(event, "X-Mailin-custom"),
    messageId: bracketed(textAt(event, "message-id")),
    recipient: textAt(event, "email"),
  };
  const type = textAt(event, "event") ?? "";
  const bounce = entryOf(BOUNCES, type);
  if (bounce !== undefined) {
    const words = textAt(event, "reason") ?? type;
    return [{ ...clues, kind: "bounce", ...bounce, status: null, words }];
  }
  const hit = entryOf(HITS, type);
  if (hit !== undefined) {
    const ms = valueAt(event, "ts_epoch");
    const at = typeof ms === "number" && Number.isFinite(ms) ? ms : null;
    const url = textAt(event, "link");
    return [{ ...clues, ...hit, url, at, userAgent: textAt(event, "user_agent") }];
  }
  switch (type) {
    case "delivered":
      return [{ ...clues, kind: "delivery" }];
    case "spam":
    case "complaint":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "unsubscribe":
    case "unsubscribed":
      return [{ ...clues, kind: "unsubscribe" }];
    default:
      return [{ ...clues, kind: type === "deferred" ? "delay" : "other" }];
  }
}
