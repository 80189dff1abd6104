/**
 * Resend: one event for each request. It sends over Amazon SES and passes its types of bounces on. The
 * header fields that the sender added come back with every event.
 * https://resend.com/docs/dashboard/webhooks/event-types
 */

import {
  addressIn,
  bracketed,
  headerAt,
  joinKnown,
  listAt,
  type RelayReport,
  textAt,
  timeAt,
} from "./report.ts";
import { readSesBounce } from "./ses.ts";

export function readResendEvent(event: unknown): RelayReport[] {
  const clues = {
    emailId: headerAt(listAt(event, "data", "headers"), "x-mailstead-id"),
    messageId: bracketed(textAt(event, "data", "message_id")),
    recipient: addressIn(textAt(event, "data", "to", 0)),
  };
  const untried = (reason: string | null): RelayReport[] => [
    {
      ...clues,
      kind: "bounce",
      class: "policy",
      isCertain: true,
      status: null,
      words: joinKnown("Resend did not send it:", reason ?? "no reason"),
    },
  ];
  switch (textAt(event, "type")) {
    case "email.delivered":
      return [{ ...clues, kind: "delivery" }];
    case "email.bounced": {
      const said = textAt(event, "data", "bounce", "message");
      const reply = textAt(event, "data", "bounce", "diagnosticCode", 0);
      const type = textAt(event, "data", "bounce", "type");
      const subType = textAt(event, "data", "bounce", "subType");
      const words = (reply ?? said ?? "").replace(/^smtp; ?/i, "");
      return [{ ...clues, kind: "bounce", ...readSesBounce(type, subType), status: null, words }];
    }
    case "email.failed":
      return untried(textAt(event, "data", "failed", "reason"));
    case "email.suppressed":
      return untried(textAt(event, "data", "suppressed", "message"));
    case "email.complained":
      return [{ ...clues, kind: "complaint", feedbackType: "abuse" }];
    case "email.opened":
    case "email.clicked": {
      const name = textAt(event, "type") === "email.opened" ? "open" : "click";
      return [
        {
          ...clues,
          kind: name,
          url: textAt(event, "data", "click", "link"),
          at: timeAt(event, "created_at"),
          userAgent: textAt(event, "data", name, "userAgent"),
          isMachine: false,
        },
      ];
    }
    case "email.delivery_delayed":
      return [{ ...clues, kind: "delay" }];
    default:
      return [{ ...clues, kind: "other" }];
  }
}
