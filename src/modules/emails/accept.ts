/**
 * Accepts `POST /v1/send` (docs/interface.md#send) for all recipients or for none. In order: find
 * the template; resolve the sender (sender.ts) and require its domain to be verified; compile
 * subject and body and render them for each recipient (drafts.ts); then write contacts, message,
 * emails and events in one change. Nothing is stored before everything was checked. The outbox then sends
 * the mails, and list.ts and records.ts read them.
 */

import type { App } from "../../core/app.ts";
import type { Change } from "../../db/writer.ts";
import type { EventLog } from "../../events/log.ts";
import type { Project } from "../../http/admission.ts";
import { isoTime } from "../../lib/clock.ts";
import { type AppError, fieldError } from "../../lib/errors.ts";
import type { EmailStore, SharedMessage } from "../../outbox/enqueue.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { perApp } from "../../lib/per-app.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { writeVisible } from "../../protocols/mime/visible-recipients.ts";
import type { Contacts } from "../contacts/service.ts";
import { isDomainVerified, senderNotVerified } from "../domains/domains.ts";
import { ensureQueue } from "../quotas.ts";
import { getTemplate, type TemplateRow } from "../templates.ts";
import { bodyToSend } from "../templates/assembled.ts";
import { noteSent } from "../templates/versions.ts";
import { topicIn } from "../topics/choices.ts";
import { readAttachments } from "./attachments.ts";
import { type AcceptedMail, createCommit } from "./commit.ts";
import { createDrafts, type DraftDeps, type RenderedMail, type Source } from "./drafts.ts";
import type { SendInput } from "./model.ts";
import { priorityHeaders } from "./priority.ts";
import { refuseFullContact } from "./recipient-faults.ts";
import { isOneMessage, recipientsOf, visibleRecipients } from "./recipients.ts";
import { writeTags } from "./tags.ts";
import { scheduledTime } from "./schedule.ts";
import { resolveSender, type MailSender, senderRefusal } from "./sender.ts";

export type Accept = ReturnType<typeof createAccept>;

export type Accepted = {
  emails: AcceptedMail[];
  timestamp: string;
};

type AcceptDeps = DraftDeps & {
  app: App;
  contacts: Contacts;
  events: EventLog;
  store: EmailStore;
  requireVerifiedDomain: boolean;
  /** True if mail is captured, so that it does not leave this server. */
  isCapturing: () => boolean;
};

export function createAccept(deps: AcceptDeps) {
  const { clock, store } = deps;
  const commitMail = createCommit(deps);
  const renderAll = createDrafts(deps);

  /**
   * `userEmail` is the address of the signed-in user; null for a request with a key. `reserveCopies`
   * is awaited before many copies of the data are made; it may throw 503.
   */
  return async function accept(
    project: Project,
    input: SendInput,
    by: {
      userEmail: string | null;
      /** The domains to which the key is bound; empty for all of the project. */
      senderDomains: readonly string[];
      /** True if templates may contain the syntax of other languages. */
      isLenient: boolean;
      reserveCopies: () => Promise<void>;
      /** Counts the copies of data of all mails of a request; absent for a request of one. */
      copied?: { bytes: number };
    },
  ): Promise<Change<Accepted>> {
    const template =
      input.template === undefined
        ? null
        : templatesOnce(deps.app)(`${project.seq} ${input.template}`);
    // Its attachments may take long to read, and the template may be changed meanwhile.
    if (template !== null) noteSent(deps.app, template);
    const isMarketing = template?.type === "MARKETING";
    if (isMarketing && isOneMessage(input)) throw marketingCopies(input);
    const topicSeq = topicOf(deps.app, project, input, template);
    const scheduledAt = scheduledTime(input.scheduledAt, clock.now());
    const sender = resolveSender(input, template, project.sender);
    const refusal = senderRefusal(domainOf(sender.address), by.senderDomains);
    if (refusal !== null) throw refusal;
    if (!isCapturedForSelf(input, by.userEmail)) requireVerified(project, sender);
    const source = sourceOf(deps.app, input, template, by.isLenient);
    const { copied = { bytes: 0 } } = by;
    const copying = { copied, reserveCopies: onlyOnce(by.reserveCopies) };
    const attachments = await readAttachments(deps.app, input, copying);
    const { body: html } = source.source;
    const message = sharedMessage(project, input, {
      sender,
      template,
      topicSeq,
      html,
      attachments,
    });
    const drafts = await renderAll(project, input, { source, ...copying });
    return () =>
      commit({ project, input, template, message, drafts, scheduledAt, now: clock.now() });
  };

  /**
   * A user who sets up the server sends the first mail to the own address before the domain has its
   * DNS records. That is allowed where the mail is captured.
   */
  function isCapturedForSelf(input: SendInput, userEmail: string | null): boolean {
    if (userEmail === null || !deps.isCapturing()) return false;
    return recipientsOf(input).every(({ address }) => address === userEmail);
  }

  /** Throws 403 unless exactly the sender's domain is verified (docs/interface.md#send). */
  function requireVerified(project: Project, sender: MailSender): void {
    const domain = domainOf(sender.address);
    if (!deps.requireVerifiedDomain || isDomainVerified(deps.app, project.seq, domain)) return;
    throw senderNotVerified(domain);
  }

  /** Part of a change: stores the mails. Repeats the checks whose result may have changed since. */
  function commit(work: {
    project: Project;
    input: SendInput;
    template: TemplateRow | null;
    message: SharedMessage;
    drafts: readonly RenderedMail[];
    scheduledAt: number | undefined;
    now: number;
  }): Accepted {
    ensureQueue(deps.app, work.project.seq, work.drafts.length);
    const messageSeq = store.saveMessage(work.message, work.now);
    const groupId = isOneMessage(work.input) ? (work.drafts[0]?.emailId ?? null) : null;
    const emails = work.drafts.map((draft) => {
      try {
        return commitOne(work, { messageSeq, groupId }, draft);
      } catch (error) {
        refuseFullContact(error, draft);
        throw error;
      }
    });
    return { emails, timestamp: isoTime(work.now) };
  }

  function commitOne(
    work: {
      project: Project;
      input: SendInput;
      template: TemplateRow | null;
      message: SharedMessage;
      scheduledAt: number | undefined;
      now: number;
    },
    stored: { messageSeq: number; groupId: string | null },
    draft: RenderedMail,
  ): AcceptedMail {
    const { project, input, template, message, now } = work;
    return commitMail({
      projectSeq: project.seq,
      ...stored,
      isMarketing: message.isMarketing,
      topicSeq: message.topicSeq ?? null,
      templateId: template?.id ?? null,
      tags: writeTags(input.tags),
      scheduledAt: work.scheduledAt ?? null,
      subscribed: draft.field === "to" ? input.subscribed : undefined,
      draft,
      now,
    });
  }
}

/** Requests that arrive together share the row of their template, whose body may be long. */
const templatesOnce = perApp((app: App) =>
  cachePerIteration((key) => {
    const end = key.indexOf(" ");
    return getTemplate(app, Number(key.slice(0, end)), key.slice(end + 1));
  }),
);

/** The sources of the request, and of its template for those that it does not give. */
function sourceOf(
  app: App,
  input: SendInput,
  template: TemplateRow | null,
  isLenient: boolean,
): Source {
  return {
    source: {
      subject: input.subject ?? template?.subject ?? "",
      body: input.body ?? (template === null ? "" : bodyToSend(app, template)),
      ...(input.text === undefined ? {} : { text: input.text }),
    },
    given: { subject: input.subject !== undefined, body: input.body !== undefined },
    isLenient,
  };
}

function sharedMessage(
  project: Project,
  input: SendInput,
  rest: {
    sender: MailSender;
    template: TemplateRow | null;
    topicSeq: number | null;
    html: string;
    attachments: SharedMessage["attachments"];
  },
): SharedMessage {
  const visible = visibleRecipients(input);
  return {
    projectSeq: project.seq,
    fromAddress: rest.sender.address,
    fromName: rest.sender.name,
    replyTo: rest.sender.replyTo,
    html: rest.html,
    headers: [...Object.entries(input.headers ?? {}), ...priorityHeaders(input.priority)],
    isMarketing: rest.template?.type === "MARKETING",
    attachments: rest.attachments,
    ...(input.text === undefined ? {} : { text: input.text }),
    ...(visible === null ? {} : { recipients: writeVisible(visible) }),
    ...(rest.topicSeq === null ? {} : { topicSeq: rest.topicSeq }),
  };
}

/** The topic of the request, otherwise that of the template. */
function topicOf(
  app: App,
  project: Project,
  { topicId }: SendInput,
  template: TemplateRow | null,
): number | null {
  if (topicId === undefined) return template?.topicSeq ?? null;
  if (template?.type === "MARKETING") return topicIn(app, project.seq, topicId).seq;
  const message = "is only for MARKETING mail, which has a template of that type";
  throw fieldError("topicId", "invalid_value", message);
}

/** The consent of one person does not allow to show the mail to others. */
function marketingCopies({ cc = [] }: SendInput): AppError {
  const field = Array.isArray(cc) && cc.length === 0 ? "bcc" : "cc";
  const message = "is only for TRANSACTIONAL mail; list the addresses of MARKETING mail in to";
  return fieldError(field, "invalid_value", message);
}

/** A function that reserves memory once, however often it is called. */
function onlyOnce(reserve: () => Promise<void>): () => Promise<void> {
  let reserved: Promise<void> | null = null;
  return () => (reserved ??= reserve());
}
