/**
 * Sends a mail again that has ended, such as one that bounced before its cause was mended: a new mail
 * to the same recipient, with the content and the variables of the first one.
 */

import type { App } from "../../core/app.ts";
import type { Change } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import type { EmailStore } from "../../outbox/enqueue.ts";
import type { LeasedMail } from "../../outbox/lane/rows.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { isDomainVerified, senderNotVerified } from "../domains/domains.ts";
import { ensureQueue } from "../quotas.ts";
import { suppressionReason } from "../suppressions.ts";
import { writeTags } from "./tags.ts";
import { mayGetMarketing } from "../topics/choices.ts";
import { marketingRefused, TRANSACTIONAL_PRIORITY } from "./commit.ts";
import type { EmailContents } from "./content/contents.ts";
import type { Email } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";

export type Resend = ReturnType<typeof createResend>;

export function createResend(deps: {
  app: App;
  clock: Clock;
  contents: Pick<EmailContents, "find" | "subjectOf">;
  records: Pick<EmailRecords, "get">;
  requireVerifiedDomain: boolean;
  store: EmailStore;
}) {
  const { app, clock, contents, records, store } = deps;

  /**
   * Renders the subject, which a mail of a campaign has not stored, and returns the change. Both throw
   * 404 if the content was removed, and 409 while the mail is under way.
   */
  return async (projectSeq: number, id: string): Promise<Change<Email>> => {
    const { stored } = find(projectSeq, id);
    const subject = await contents.subjectOf(stored);
    if (subject === null) throw notRendered();
    return () => insert(projectSeq, id, subject);
  };

  function find(projectSeq: number, id: string) {
    const { status, templateId, tags } = records.get(projectSeq, id);
    if (status === "QUEUED" || status === "SENDING") throw underWay();
    return { stored: contents.find(projectSeq, id), templateId, tags };
  }

  function insert(projectSeq: number, id: string, subject: string): Email {
    const {
      stored: { mail },
      templateId,
      tags,
    } = find(projectSeq, id);
    const to = recipientOf(projectSeq, mail);
    ensureQueue(app, projectSeq, 1);
    const now = clock.now();
    const newMail = newId(now);
    store.insertEmail({
      id: newMail,
      projectSeq,
      contactSeq: mail.contactSeq,
      messageSeq: mail.messageSeq,
      // A mail of a campaign is counted once by the campaign, so the new mail does not belong to it.
      source: mail.isTest ? "TEST" : "TRANSACTIONAL",
      templateId,
      to,
      toName: mail.toName,
      subject,
      variables: mail.variables,
      tags: writeTags(tags),
      status: "QUEUED",
      priority: TRANSACTIONAL_PRIORITY,
      createdAt: now,
    });
    return records.get(projectSeq, newMail);
  }

  function refusalOf({ contactSeq, isSubscribed, topicSeq, pausedUntil }: LeasedMail) {
    // A mail to an address that is no contact is not subscribed.
    const contact = { seq: contactSeq ?? 0, isSubscribed, pausedUntil };
    return mayGetMarketing(app, contact, topicSeq, clock.now());
  }

  /** The address of a recipient who may get the mail now. */
  function recipientOf(projectSeq: number, mail: LeasedMail): string {
    const { to, fromAddress, envelopeFrom, isMarketing, isTest, topicSeq, pausedUntil } = mail;
    // `find` refuses a mail whose recipient was deleted.
    if (to === null) throw new Error("a mail with its content has a recipient");
    const domain = domainOf(fromAddress);
    const isOurs = envelopeFrom === null && deps.requireVerifiedDomain;
    if (isOurs && !isDomainVerified(app, projectSeq, domain)) throw senderNotVerified(domain);
    const refusal = isMarketing && !isTest ? refusalOf(mail) : null;
    if (refusal !== null) {
      throw marketingRefused(app, { contact: { email: to, pausedUntil }, topicSeq, refusal });
    }
    if (suppressionReason(app, projectSeq, to) !== null) throw suppressed(to);
    return to;
  }
}

function underWay(): AppError {
  return new AppError(409, "CONFLICT", "The mail is still under way.", {
    suggestion: "It is tried again by itself; `nextAttemptAt` says when.",
  });
}

function notRendered(): AppError {
  return new AppError(409, "CONFLICT", "The subject of the mail cannot be rendered.", {
    suggestion: "Correct the data of the contact, or send another mail.",
  });
}

function suppressed(address: string): AppError {
  return new AppError(409, "CONFLICT", `${address} is suppressed, so no mail is sent to it.`, {
    suggestion: "Remove the suppression first, if the address takes mail now.",
  });
}
