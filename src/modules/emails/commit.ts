/** Writes an accepted mail: its contact, its record, and the event if its address is suppressed. */

import type { App } from "../../core/app.ts";
import type { EventLog } from "../../events/log.ts";
import { isoTime } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";
import { suppressionReason } from "../suppressions.ts";
import { type MarketingRefusal, mayGetMarketing, topicBySeq } from "../topics/choices.ts";
import type { RenderedMail } from "./drafts.ts";

export type AcceptedMail = { contact: { id: string; email: string }; email: string };

export const TRANSACTIONAL_PRIORITY = 0;

/** Returns the function that is part of a change. It throws 400 if the contact may not get the mail. */
export function createCommit(deps: {
  app: App;
  contacts: Contacts;
  events: EventLog;
  store: EmailStore;
}) {
  const { app, contacts, events, store } = deps;

  return function commitMail(work: {
    projectSeq: number;
    messageSeq: number;
    /** The id of the first copy of a message to several recipients; null for other mails. */
    groupId: string | null;
    isMarketing: boolean;
    /** The topic of a marketing mail; null or absent for none. */
    topicSeq?: number | null;
    templateId: string | null;
    /** JSON: the tags of the mail. */
    tags?: string | null;
    /** The time at which it is to be sent; null or absent: at once. */
    scheduledAt?: number | null;
    /** The subscription that the request sets; undefined leaves a known contact as it is. */
    subscribed: boolean | undefined;
    draft: Omit<RenderedMail, "field" | "path">;
    now: number;
  }): AcceptedMail {
    const { projectSeq, draft, now } = work;
    const { contact } = contacts.upsert({
      id: draft.contactId,
      projectSeq,
      email: draft.address,
      subscribed: work.subscribed,
      defaultSubscribed: false,
      data: draft.contactData,
    });
    if (work.isMarketing) requireMarketable(app, contact, work);
    const suppression = suppressionReason(app, projectSeq, draft.address);
    const emailSeq = store.insertEmail({
      id: draft.emailId,
      projectSeq,
      contactSeq: contact.seq,
      messageSeq: work.messageSeq,
      groupId: work.groupId,
      source: "TRANSACTIONAL",
      templateId: work.templateId,
      tags: work.tags ?? null,
      to: draft.address,
      toName: draft.name,
      subject: draft.subject,
      variables: draft.variables,
      status: suppression === null ? "QUEUED" : "SUPPRESSED",
      priority: TRANSACTIONAL_PRIORITY,
      createdAt: now,
      scheduledAt: work.scheduledAt ?? null,
    });
    if (suppression !== null) {
      events.record({
        projectSeq,
        name: "email.suppressed",
        contactSeq: contact.seq,
        emailSeq,
        data: { reason: suppression },
        at: now,
      });
    }
    return { contact: { id: contact.id, email: contact.email }, email: draft.emailId };
  };
}

/** Throws 400 if the contact may not get a marketing mail at its time. */
function requireMarketable(
  app: App,
  contact: ContactRow,
  mail: { topicSeq?: number | null; scheduledAt?: number | null; now: number },
): void {
  const { topicSeq = null, scheduledAt, now } = mail;
  const refusal = mayGetMarketing(app, contact, topicSeq, scheduledAt ?? now);
  if (refusal !== null) throw marketingRefused(app, { contact, topicSeq, refusal });
}

/** The refusal of a marketing mail to a contact that may not get it. */
export function marketingRefused(
  app: App,
  {
    contact: { email, pausedUntil },
    topicSeq,
    refusal,
  }: {
    contact: Pick<ContactRow, "email" | "pausedUntil">;
    topicSeq: number | null;
    refusal: MarketingRefusal;
  },
): AppError {
  if (refusal === "PAUSED") {
    const until = pausedUntil === null ? "" : ` until ${isoTime(pausedUntil)}`;
    const message = `${email} has paused marketing mail${until}, and the mail is MARKETING.`;
    return new AppError(400, "RECIPIENT_PAUSED", message, { suggestion: LEAVE_OUT });
  }
  const topic = topicBySeq(app, topicSeq);
  const isLeft = refusal === "TOPIC" && topic !== null;
  const state = isLeft ? `in the topic “${topic.name}”` : "subscribed";
  const message = `${email} is not ${state}, and the mail is MARKETING.`;
  return new AppError(400, "RECIPIENT_UNSUBSCRIBED", message, { suggestion: LEAVE_OUT });
}

const LEAVE_OUT = "Leave this recipient out, or use a TRANSACTIONAL template. Nothing was sent.";
