/**
 * The states of a mail and all transitions between them. Only this folder changes `emails.status`,
 * and each statement that does names its transition here. Every transition records its event in the
 * same change; only leasing a mail and returning the lease to the queue are no events.
 */

import type { EmailStatus } from "../db/schema/emails.ts";

type Transition = {
  from: readonly EmailStatus[];
  to: EmailStatus;
  /** Name of the event that the transition records. */
  event: `email.${string}` | null;
};

export const TRANSITIONS = {
  lease: { from: ["QUEUED"], to: "SENDING", event: null },
  /** The attempt is retried later, or the process that held the lease has ended. */
  requeue: { from: ["SENDING"], to: "QUEUED", event: null },
  send: { from: ["SENDING"], to: "SENT", event: "email.sent" },
  /** The recipient's own server accepted the mail: it is sent and delivered. */
  deliver: { from: ["SENDING"], to: "DELIVERED", event: "email.delivered" },
  bounce: { from: ["SENDING"], to: "BOUNCED", event: "email.bounced" },
  fail: { from: ["SENDING"], to: "FAILED", event: "email.failed" },
  suppress: { from: ["SENDING"], to: "SUPPRESSED", event: "email.suppressed" },
  cancel: { from: ["QUEUED", "SENDING"], to: "CANCELLED", event: "email.cancelled" },
  /**
   * A report proves that a server accepted the mail, although the attempt ended without its reply
   * (docs/delivery.md#S5). SENDING is the state of such a mail after this process was interrupted.
   */
  acceptLater: { from: ["QUEUED", "SENDING"], to: "SENT", event: "email.sent" },
  /**
   * The relay reports that the recipient's server accepted the mail. A mail in a later state keeps it and
   * gets only the time and the event.
   */
  deliverLater: { from: ["SENT"], to: "DELIVERED", event: "email.delivered" },
  /** A report announces the bounce of a mail that a server had accepted. */
  bounceLater: {
    from: ["SENT", "DELIVERED", "OPENED", "CLICKED"],
    to: "BOUNCED",
    event: "email.bounced",
  },
  /** The recipient reported the mail as spam. */
  complain: {
    from: ["SENT", "DELIVERED", "OPENED", "CLICKED"],
    to: "COMPLAINED",
    event: "email.complained",
  },
  open: { from: ["SENT", "DELIVERED"], to: "OPENED", event: "email.opened" },
  click: { from: ["SENT", "DELIVERED", "OPENED"], to: "CLICKED", event: "email.clicked" },
} as const satisfies Record<string, Transition>;

export type TransitionName = keyof typeof TRANSITIONS;

/** SQL that is true for a mail from which the transition may start. */
export function isFrom(name: TransitionName): string {
  return `status IN (${TRANSITIONS[name].from.map(quote).join(", ")})`;
}

/** SQL of the state after the transition. */
export function stateAfter(name: TransitionName): string {
  return quote(TRANSITIONS[name].to);
}

/** SQL of the state of a mail after an occurrence that changes only some states: opens and clicks. */
export function stateIfFrom(name: TransitionName): string {
  return `iif(${isFrom(name)}, ${stateAfter(name)}, status)`;
}

function quote(status: EmailStatus): string {
  return `'${status}'`;
}
