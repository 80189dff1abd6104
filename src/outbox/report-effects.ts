/**
 * Changes a mail as a report about it says, and records the events. The effect of a report depends on
 * whether a server is known to have accepted the mail:
 *
 * 1. It was accepted: the mail becomes BOUNCED, COMPLAINED or DELIVERED.
 * 2. It is under way: nothing changes until its outcome is recorded.
 * 3. It waits for its next attempt, and it is unknown whether an earlier one was accepted
 *    (docs/delivery.md#S5): the report proves that it was, so the mail is not sent again.
 * 4. It ended FAILED or BOUNCED after such an attempt: it keeps its state, but its address may be
 *    suppressed.
 */

import type { Db } from "../db/open.ts";
import type { UsageCounter } from "../db/usage-counter.ts";
import type { EventInput } from "../events/log.ts";
import type { ReplyClass } from "../protocols/smtp/reply-classes.ts";
import type { SuppressBounced } from "./bounce-suppression.ts";
import { isFrom, stateAfter, stateIfFrom, TRANSITIONS } from "./states.ts";

type Reported = {
  seq: number;
  projectSeq: number;
  /** Null if the contact was deleted. */
  contactSeq: number | null;
  to: string | null;
};

type Stage = "accepted" | "underWay" | "unknown" | "ended" | "never";

/** The way of a report: by mail as a bounce (`dsn`) or a complaint (`arf`), or from a relay. */
export type Reporter = "dsn" | "arf" | "webhook";

type ReportedBounce = { class: ReplyClass; reason: string; at: number; by: Reporter };

type ReportedComplaint = { feedbackType: string; at: number; by: Reporter };

/** `stored`: the mail keeps its state, until its outcome is recorded or for good. */
export type BounceEffect = {
  effect: "bounced" | "stored";
  /** The reason why the address is suppressed now; null if it is not. */
  suppressed: ReturnType<SuppressBounced>;
};

/** The final dot was sent, and the attempt ended without a reply that decides (RFC 5321 §4.2.1). */
const HAS_UNKNOWN_END = `
  EXISTS (SELECT 1 FROM attempts, json_each(conversations) AS conversation,
                        json_each(conversation.value, '$.steps') AS step
          WHERE email_seq = emails.seq AND outcome <> 'accepted'
            AND step.value ->> 'step' = 'dot' AND step.value ->> 'command' = '.'
            AND coalesce(step.value ->> 'code' < 400, true))`;

/** The process that held the lease ended before it recorded the outcome. */
const HAS_LOST_OUTCOME = `
  attempts > (SELECT count(*) FROM attempts AS recorded WHERE recorded.email_seq = emails.seq)`;

const MAY_BE_ACCEPTED = `(${HAS_UNKNOWN_END} OR ${HAS_LOST_OUTCOME})`;

export function createReportEffects(deps: {
  db: Db;
  usage: Pick<UsageCounter, "addQueued">;
  recordEvent: (event: EventInput) => void;
  suppressBounced: SuppressBounced;
}) {
  const { sqlite } = deps.db;
  const findStage = sqlite.prepare<{ stage: Stage }, [number]>(`
    SELECT CASE
      WHEN ${isFrom("bounceLater")} THEN 'accepted'
      WHEN status = 'SENDING' THEN 'underWay'
      WHEN status = 'QUEUED' AND ${MAY_BE_ACCEPTED} THEN 'unknown'
      WHEN status IN ('FAILED', 'BOUNCED') AND sent_at IS NULL AND ${MAY_BE_ACCEPTED} THEN 'ended'
      ELSE 'never' END AS stage
    FROM emails WHERE seq = +?`);
  const acceptLater = sqlite.prepare<{ campaignSeq: number | null }, [number, number]>(`
    UPDATE emails
    SET status = ${stateAfter("acceptLater")}, sent_at = ?, next_at = NULL, last_error = NULL
    WHERE seq = +? AND ${isFrom("acceptLater")} RETURNING campaign_seq AS campaignSeq`);
  const bounceLater = sqlite.prepare<{ seq: number }, [number, string, number]>(`
    UPDATE emails
    SET status = ${stateAfter("bounceLater")}, bounced_at = ?,
        last_error = iif(to_address IS NULL, NULL, ?)
    WHERE seq = +? AND ${isFrom("bounceLater")} RETURNING seq`);
  const deliverLater = sqlite.prepare<{ seq: number }, [number, number]>(`
    UPDATE emails SET status = ${stateIfFrom("deliverLater")}, delivered_at = ?
    WHERE seq = +? AND sent_at IS NOT NULL AND delivered_at IS NULL RETURNING seq`);
  const complainLater = sqlite.prepare<{ seq: number }, [number, number]>(`
    UPDATE emails SET status = ${stateAfter("complain")}, complained_at = ?
    WHERE seq = +? AND ${isFrom("complain")} RETURNING seq`);

  function record(mail: Reported, event: Pick<EventInput, "name" | "data" | "at">): void {
    const { projectSeq, contactSeq, seq: emailSeq } = mail;
    deps.recordEvent({ projectSeq, contactSeq, emailSeq, ...event });
  }

  function stageOf(mail: Reported): Stage {
    return findStage.get(mail.seq)?.stage ?? "never";
  }

  /** The mail leaves the queue, because a report proves that a server accepted it. */
  function accept(mail: Reported, at: number): void {
    const accepted = acceptLater.get(at, mail.seq);
    if (accepted === null) return;
    if (accepted.campaignSeq === null) deps.usage.addQueued(mail.projectSeq, -1);
    record(mail, { name: TRANSITIONS.acceptLater.event, at });
  }

  function suppress(mail: Reported, { class: replyClass, at }: ReportedBounce) {
    return deps.suppressBounced({ ...mail, class: replyClass, at });
  }

  return {
    canBounce: (mail: Reported): boolean => stageOf(mail) !== "never",

    /** False if a report of a delivery would prove that a server accepted the mail. */
    isAcceptanceKnown(mail: Reported): boolean {
      const stage = stageOf(mail);
      return stage !== "underWay" && stage !== "unknown";
    },

    /** Part of a change, for a mail with a report whose attempt was interrupted. */
    accept,

    /** Part of a change. */
    bounce(mail: Reported, bounce: ReportedBounce): BounceEffect {
      const stage = stageOf(mail);
      if (stage === "ended") return { effect: "stored", suppressed: suppress(mail, bounce) };
      if (stage === "unknown") accept(mail, bounce.at);
      const { class: replyClass, reason, at, by } = bounce;
      if (bounceLater.get(at, reason, mail.seq) === null) {
        return { effect: "stored", suppressed: null };
      }
      const words = mail.to === null ? "The contact was deleted." : reason;
      const data = { class: replyClass, reason: words, reportedBy: by };
      record(mail, { name: TRANSITIONS.bounceLater.event, data, at });
      return { effect: "bounced", suppressed: suppress(mail, bounce) };
    },

    /** Part of a change. */
    complain(mail: Reported, { feedbackType, at, by }: ReportedComplaint): void {
      if (stageOf(mail) === "unknown") accept(mail, at);
      if (complainLater.get(at, mail.seq) === null) return;
      const data = { feedbackType, reportedBy: by };
      record(mail, { name: TRANSITIONS.complain.event, data, at });
    },

    /**
     * Part of a change. Reports arrive in any order, so a mail that bounced or was complained about is
     * delivered as well. Returns false if that is known, or if the mail is not known to be sent.
     */
    deliver(mail: Reported, at: number): boolean {
      if (stageOf(mail) === "unknown") accept(mail, at);
      if (deliverLater.get(at, mail.seq) === null) return false;
      record(mail, { name: TRANSITIONS.deliverLater.event, at });
      return true;
    },
  };
}
