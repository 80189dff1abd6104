/**
 * Accepts `POST /v1/send` (docs/interface.md#send) for all recipients or for none. In order: find
 * the template; resolve the sender and require its domain to be verified; compile subject and body;
 * render them for each recipient; then write contacts, message, emails and events in one change.
 * Nothing is stored before everything was checked. The outbox then sends the mails, and list.ts and
 * records.ts read them.
 */

import type { Change } from "../../db/writer.ts";
import { COPIES_BYTES } from "../../http/body-budget.ts";
import type { Project } from "../../http/admission.ts";
import { normalizedAddress } from "../../http/formats.ts";
import { type Clock, isoTime, systemClock } from "../../lib/clock.ts";
import { AppError, fieldError, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { contentTypeOf } from "../../protocols/mime/content-type.ts";
import { recipientLinks } from "../../render/links.ts";
import { createRenderBudget, type RenderBudget } from "../../render/render-budget.ts";
import { renderErrorMessage, type Template } from "../../render/template/template.ts";
import type { TemplateCache } from "../../render/template/cache.ts";
import { mergeVariables, templateVariables } from "../../render/variables.ts";
import {
  type JsonObject,
  mergeData,
  parseData,
  persistentData,
  resolvedData,
} from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import { senderNotVerified } from "../domains/not-verified.ts";
import type { Domains } from "../domains/service.ts";
import type { EventLog } from "../../events/log.ts";
import type { Quotas } from "../quotas/service.ts";
import type { Suppressions } from "../suppressions/service.ts";
import { templateErrors } from "../templates/model.ts";
import type { TemplateRow, Templates } from "../templates/service.ts";
import type { SendInput } from "./model.ts";
import type { EmailStore, SharedMessage } from "../../outbox/enqueue.ts";
import { checkSubject } from "../../render/subject.ts";

export type Accepted = {
  emails: { contact: { id: string; email: string }; email: string }[];
  timestamp: string;
};

export type AcceptDeps = {
  clock: Clock;
  contacts: Contacts;
  domains: Domains;
  events: EventLog;
  store: EmailStore;
  suppressions: Suppressions;
  templateCache: TemplateCache;
  templates: Templates;
  requireVerifiedDomain: boolean;
  quotas: Pick<Quotas, "ensureQueue">;
  /** Base URL of the links in mails, and the key that signs these links. */
  url: string;
  linkKey: Uint8Array;
};

type Sender = { address: string; name: string | null; replyTo: string | null };
type Recipient = { address: string; name: string | null };
/** One mail to store. `contactId` is the id of its contact, which may not exist yet. */
type Draft = Recipient & {
  emailId: string;
  contactId: string;
  subject: string;
  variables: string;
};
type Source = { subject: Template; body: Template; html: string };

const TRANSACTIONAL_PRIORITY = 0;
/** Longest time to render without yielding to the event loop, in milliseconds. */
const YIELD_AFTER_MS = 20;
/** Each mail has a copy of the variables. A request reserves memory before it copies more. */
const FREE_COPIES_BYTES = 256 * 1024;

export function createAccept(deps: AcceptDeps) {
  const { clock, contacts, store } = deps;

  /** `reserveCopies` is awaited before many copies of the data are made; it may throw 503. */
  return async function accept(
    project: Project,
    input: SendInput,
    reserveCopies: () => Promise<void>,
  ): Promise<Change<Accepted>> {
    const template =
      input.template === undefined ? null : deps.templates.get(project.seq, input.template);
    const sender = resolveSender(input, template, project.sender);
    requireVerified(project, sender);
    const source = compileSource(input, template);
    const message = sharedMessage(project, input, { sender, template, html: source.html });
    const drafts = await renderAll(project, input, { source, reserveCopies });
    return () => commit({ project, input, template, message, drafts, now: clock.now() });
  };

  /** Throws 403 unless exactly the sender's domain is verified (docs/interface.md#send). */
  function requireVerified(project: Project, sender: Sender): void {
    const domain = domainOf(sender.address);
    if (!deps.requireVerifiedDomain || deps.domains.isVerified(project.seq, domain)) return;
    throw senderNotVerified(domain);
  }

  /** Throws 422 with the errors of both templates if one of them does not compile. */
  function compileSource(input: SendInput, template: TemplateRow | null): Source {
    const html = input.body ?? template?.body ?? "";
    const subjectSource = input.subject ?? template?.subject ?? "";
    const subject = deps.templateCache.compile(subjectSource, "text");
    const body = deps.templateCache.compile(html, "html");
    if (!subject.ok || !body.ok) {
      throw validationError(templateErrors({ subject: subjectSource, body: html }));
    }
    return { html, subject: subject.template, body: body.template };
  }

  async function renderAll(
    project: Project,
    input: SendInput,
    { source, reserveCopies }: { source: Source; reserveCopies: () => Promise<void> },
  ): Promise<Draft[]> {
    const data = resolvedData(input.data ?? {});
    const drafts: Draft[] = [];
    const budget = createRenderBudget();
    let copiedBytes = 0;
    let isReserved = false;
    let yieldedAt = systemClock.elapsed();
    for (const recipient of recipientsOf(input)) {
      const made = draft(project, recipient, { data, input, source, budget });
      drafts.push(made);
      copiedBytes += Buffer.byteLength(made.variables);
      if (copiedBytes > COPIES_BYTES) throw tooMuchData();
      if (copiedBytes > FREE_COPIES_BYTES && !isReserved) {
        await reserveCopies();
        isReserved = true;
      }
      if (systemClock.elapsed() - yieldedAt < YIELD_AFTER_MS) continue;
      await Bun.sleep(0);
      yieldedAt = systemClock.elapsed();
    }
    return drafts;
  }

  /**
   * Renders subject and body as they will be sent, so that a rendering error refuses the request.
   */
  function draft(
    project: Project,
    recipient: Recipient,
    work: { data: JsonObject; input: SendInput; source: Source; budget: RenderBudget },
  ): Draft {
    const { data, input, source, budget } = work;
    const contact = contacts.findByEmail(project.seq, recipient.address);
    const known = contact === null ? {} : parseData(contact.data);
    const snapshot = mergeVariables(mergeData(known, contactData(input, recipient)), data);
    const emailId = newId(clock.now());
    const contactId = contact?.id ?? newId(clock.now());
    const variables = templateVariables({
      id: contactId,
      email: recipient.address,
      data: snapshot,
      links: recipientLinks(deps.url, deps.linkKey, emailId),
      projectName: project.name,
    });
    const subject = rendered(budget, source.subject, variables, "subject");
    refuseBadSubject(subject);
    rendered(budget, source.body, variables, "body");
    return { ...recipient, emailId, contactId, subject, variables: JSON.stringify(snapshot) };
  }

  /** Part of a change: stores the mails. Repeats the checks whose result may have changed since. */
  function commit(work: {
    project: Project;
    input: SendInput;
    template: TemplateRow | null;
    message: SharedMessage;
    drafts: readonly Draft[];
    now: number;
  }): Accepted {
    deps.quotas.ensureQueue(work.project.seq, work.drafts.length);
    const messageSeq = store.saveMessage(work.message, work.now);
    const emails = work.drafts.map((draft) => commitOne(work, messageSeq, draft));
    return { emails, timestamp: isoTime(work.now) };
  }

  function commitOne(
    work: {
      project: Project;
      input: SendInput;
      template: TemplateRow | null;
      message: SharedMessage;
      now: number;
    },
    messageSeq: number,
    draft: Draft,
  ): Accepted["emails"][number] {
    const { project, input, message, now } = work;
    const { contact } = contacts.upsert({
      id: draft.contactId,
      projectSeq: project.seq,
      email: draft.address,
      subscribed: input.subscribed,
      defaultSubscribed: false,
      data: contactData(input, draft),
    });
    if (message.isMarketing && !contact.isSubscribed) throw unsubscribed(draft.address);
    const suppression = deps.suppressions.reasonFor(project.seq, draft.address);
    const emailSeq = store.insertEmail({
      id: draft.emailId,
      projectSeq: project.seq,
      contactSeq: contact.seq,
      messageSeq,
      source: "TRANSACTIONAL",
      templateId: work.template?.id ?? null,
      to: draft.address,
      toName: draft.name,
      subject: draft.subject,
      variables: draft.variables,
      status: suppression === null ? "QUEUED" : "SUPPRESSED",
      priority: TRANSACTIONAL_PRIORITY,
      createdAt: now,
    });
    if (suppression !== null) {
      deps.events.record({
        projectSeq: project.seq,
        name: "email.suppressed",
        contactSeq: contact.seq,
        emailSeq,
        data: { reason: suppression },
        at: now,
      });
    }
    return { contact: { id: contact.id, email: contact.email }, email: draft.emailId };
  }
}

/**
 * The address is the first of: `from` of the request, `from` of the template, default sender of the
 * project. The display name is the first of: `from.name`, `name`, `fromName` of the template, name
 * of the default sender. The last one is only used together with the address of the default sender.
 */
function resolveSender(
  input: SendInput,
  template: TemplateRow | null,
  fallback: Project["sender"],
): Sender {
  const given =
    typeof input.from === "string" ? { email: input.from, name: undefined } : input.from;
  const named = given?.email ?? template?.from ?? null;
  const address = named ?? fallback?.address;
  if (address === undefined) {
    const message = "is required, since neither the template nor the project names a sender";
    throw fieldError("from", "required", message);
  }
  const fallbackName = named === null ? fallback?.name : null;
  const reply = input.reply ?? template?.replyTo;
  return {
    address: normalizedAddress(address),
    name: given?.name ?? input.name ?? template?.fromName ?? fallbackName ?? null,
    replyTo: reply === undefined || reply === null ? null : normalizedAddress(reply),
  };
}

function sharedMessage(
  project: Project,
  input: SendInput,
  rest: { sender: Sender; template: TemplateRow | null; html: string },
): SharedMessage {
  return {
    projectSeq: project.seq,
    fromAddress: rest.sender.address,
    fromName: rest.sender.name,
    replyTo: rest.sender.replyTo,
    html: rest.html,
    headers: Object.entries(input.headers ?? {}),
    isMarketing: rest.template?.type === "MARKETING",
    attachments: (input.attachments ?? []).map((attachment) => ({
      filename: attachment.filename,
      contentType: attachment.contentType ?? attachment.type ?? contentTypeOf(attachment.filename),
      contentId: attachment.contentId ?? null,
      disposition: attachment.disposition ?? "attachment",
      bytes: Buffer.from(attachment.content, "base64"),
    })),
  };
}

function recipientsOf(input: SendInput): Recipient[] {
  const entries = Array.isArray(input.to) ? input.to : [input.to];
  return entries.map((entry) =>
    typeof entry === "string"
      ? { address: normalizedAddress(entry), name: null }
      : { address: normalizedAddress(entry.email), name: entry.name ?? null },
  );
}

/** The data that a request stores on the contact: persistent values and the recipient's name. */
function contactData(input: SendInput, recipient: Recipient): JsonObject {
  const stored = persistentData(input.data ?? {});
  return recipient.name === null ? stored : { ...stored, name: recipient.name };
}

function rendered(
  budget: RenderBudget,
  template: Template,
  variables: JsonObject,
  field: string,
): string {
  const result = budget.render(template, variables);
  if (result.ok) return result.text;
  throw fieldError(field, "invalid_value", renderErrorMessage(result.reason));
}

function refuseBadSubject(subject: string): void {
  const fault = checkSubject(subject);
  if (fault !== null) throw fieldError("subject", fault.code, fault.message);
}

function tooMuchData(): AppError {
  const message = "is too large for so many recipients; send to fewer recipients per request";
  return fieldError("data", "too_big", message);
}

function unsubscribed(address: string): AppError {
  return new AppError(
    400,
    "RECIPIENT_UNSUBSCRIBED",
    `${address} is not subscribed, and the template is MARKETING.`,
    { suggestion: "Leave this recipient out, or use a TRANSACTIONAL template. Nothing was sent." },
  );
}
