/**
 * The mails of the service to a person in the name of a project, such as the confirmation of a
 * subscription. In order: the sender is the default sender of the project, whose domain must be
 * verified; a suppressed address gets no mail; the mail takes a place in the part of the queue that
 * strangers may fill; then it is one mail of the ordinary queue, with the same retries and records as
 * the mail of `/v1/send`. It is transactional, and its opens and clicks are tracked in no project,
 * because its link often contains a secret.
 */

import type { App } from "../core/app.ts";
import type { Project, Sender } from "../http/admission.ts";
import { AppError } from "../lib/errors.ts";
import { newId } from "../lib/id.ts";
import { oneLine } from "../lib/one-line.ts";
import { emailStore, wakeSending } from "../outbox/enqueue.ts";
import { transportOf } from "../outbox/transports/create-transport.ts";
import { domainOf } from "../protocols/mime/address.ts";
import type { JsonObject } from "./contacts/data.ts";
import { contactService } from "./contacts/service.ts";
import { hasLostVerification, isSenderVerified, senderNotVerified } from "./domains/domains.ts";
import { ensureQueue, ensureStorage } from "./quotas.ts";
import { suppressionReason } from "./suppressions.ts";

export type ProjectMail = {
  /** A normalized address. */
  to: string;
  /** The subject as text; line breaks in it become blanks. */
  subject: string;
  /**
   * Liquid templates, as the body of a template. A value that a person chose, and a link, belongs into
   * `variables`: then it is escaped, and all mails of a kind share one stored message. Without a text,
   * it is made from the HTML.
   */
  html: string;
  text?: string;
  variables: JsonObject;
  /** Id of the mail, if its content was rendered for it. */
  id?: string;
  /** The sender of its template; the default sender of the project if absent. */
  sender?: Sender;
  /** Mailboxes as text. */
  replyTo?: string | null;
};

const TRANSACTIONAL_PRIORITY = 0;
const LONGEST_SUBJECT = 998;

/**
 * The sender of a mail: the given one, such as that of its template, or else the default sender of the
 * project. Throws 409 NO_SENDER without one, and 403 if its domain is not verified; a domain that was
 * verified once may get its DNS records back, so that the mail waits.
 */
export function projectSender(app: App, project: Project, given: Sender | null = null): Sender {
  const sender = given ?? project.sender;
  if (sender === null) throw noSender(project.name);
  ensureVerified(app, project, sender);
  return sender;
}

function ensureVerified(app: App, { seq }: Project, { address }: Sender): void {
  const domain = domainOf(address);
  // Captured mail does not leave, so its sender need not be verified.
  if (transportOf(app).name === "capture" || isSenderVerified(app, seq, domain)) return;
  if (!hasLostVerification(app, seq, domain)) throw senderNotVerified(domain);
}

/**
 * Part of a change: throws if the project can queue no mail now, as `projectSender`, `ensureStorage` and
 * `ensureQueue` do. It is called before an address is looked up, so that a refusal does not tell which
 * addresses would get no mail.
 */
export function ensureProjectMail(app: App, project: Project, given?: Sender): Sender {
  const sender = projectSender(app, project, given);
  ensureStorage(app, project.seq, true);
  ensureQueue(app, project.seq, 1, true);
  return sender;
}

/**
 * Part of a change: queues one mail. Returns its id, or null for a suppressed address, for which
 * nothing is stored. Throws as `ensureProjectMail`.
 */
export function sendProjectMail(app: App, project: Project, mail: ProjectMail): string | null {
  const sender = ensureProjectMail(app, project, mail.sender);
  if (suppressionReason(app, project.seq, mail.to) !== null) return null;
  const now = app.clock.now();
  const id = mail.id ?? newId(now);
  const messageSeq = emailStore(app).saveMessage(messageOf(project, sender, mail), now);
  emailStore(app).insertEmail({
    id,
    projectSeq: project.seq,
    contactSeq: contactService(app).findByEmail(project.seq, mail.to)?.seq ?? null,
    messageSeq,
    source: "TRANSACTIONAL",
    templateId: null,
    to: mail.to,
    toName: null,
    subject: oneLine(mail.subject).slice(0, LONGEST_SUBJECT).toWellFormed(),
    variables: JSON.stringify(mail.variables),
    status: "QUEUED",
    priority: TRANSACTIONAL_PRIORITY,
    createdAt: now,
  });
  wakeSending(app);
  return id;
}

function messageOf(project: Project, sender: Sender, { html, text, replyTo = null }: ProjectMail) {
  return {
    projectSeq: project.seq,
    fromAddress: sender.address,
    fromName: sender.name,
    replyTo,
    html,
    ...(text === undefined ? {} : { text }),
    // RFC 3834 §5: programs that answer by themselves, such as absence notes, do not answer it.
    headers: [["Auto-Submitted", "auto-generated"]] satisfies [string, string][],
    isMarketing: false,
    isUntracked: true as const,
    attachments: [],
  };
}

function noSender(name: string): AppError {
  return new AppError(409, "NO_SENDER", `The project ${name} has no default sender.`, {
    suggestion: "Set the default sender in the settings of the project.",
  });
}
