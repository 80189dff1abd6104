/**
 * Runs a SEND_EMAIL step, within the change that completes it. In order: find the template and the
 * recipient; skip marketing mail to a contact that is unsubscribed, not in its topic or paused; find the sender and check its domain;
 * check the quotas of the project; render the subject (subjects.ts); store one email. The body is
 * rendered when the mail is sent. The step is postponed at a quota, and while the domain has lost its verification, so
 * that the mail is late and not lost.
 */

import type { App } from "../../../core/app.ts";
import type { Sender } from "../../../http/admission.ts";
import { isoTime } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { domainOf } from "../../../protocols/mime/address.ts";
import { type RecipientLinks, recipientLinks } from "../../../render/links.ts";
import type { RequestMails } from "../../../render/request-mails.ts";
import { mergeVariables } from "../../../render/variables.ts";
import { type JsonObject, parseData } from "../../contacts/data.ts";
import type { ContactRow, Contacts } from "../../contacts/service.ts";
import {
  hasLostVerification,
  senderNotVerified,
  senderVerificationLost,
} from "../../domains/domains.ts";
import { deadlineOf } from "../../../outbox/retry.ts";
import { type EmailStore, wakeSending } from "../../../outbox/enqueue.ts";
import type { EventLog } from "../../../events/log.ts";
import { refuseWorkflowMail } from "../../quotas.ts";
import { suppressionReason } from "../../suppressions.ts";
import { getTemplate, type TemplateRow } from "../../templates.ts";
import { mayGetMarketing, topicBySeq } from "../../topics/choices.ts";
import { noteSent } from "../../templates/versions.ts";
import type { Postponed, StepResult } from "../run/engine.ts";
import type { Step } from "../graph/graph.ts";
import type { StepInput } from "./run-step.ts";
import type { StepSubjects } from "./subjects.ts";
import { templateMessage } from "../../templates/assembled.ts";

type SendEmailDeps = {
  app: App;
  contacts: Contacts;
  events: EventLog;
  store: EmailStore;
  subjects: StepSubjects;
  isSenderVerified: (projectSeq: number, domain: string) => boolean;
  projectOf: (projectSeq: number) => SendingProject;
  /** Base URL of the links in mails. */
  url: string;
  /** The key that signs the links. */
  linkKey: Uint8Array;
};

/** The project of a mail. `sender` is the default for templates that name no sender. */
export type SendingProject = { name: string; language: string; sender: Sender | null };

type SendEmailStep = Extract<Step, { type: "SEND_EMAIL" }>;

const TRANSACTIONAL_PRIORITY = 0;

export function createSendEmail(deps: SendEmailDeps) {
  const { contacts, store } = deps;

  return function sendEmail({ config }: SendEmailStep, input: StepInput): StepResult | Postponed {
    const { projectSeq } = input;
    const template = findTemplate(projectSeq, config.templateId);
    if (template === null) {
      return failed(`The template ${config.templateId} does not exist any more.`);
    }
    const isCustom = config.recipient?.type === "CUSTOM";
    const recipient =
      config.recipient?.type === "CUSTOM"
        ? addressed(projectSeq, config.recipient.email)
        : input.contact;
    const reason = template.type === "MARKETING" ? unwanted(template, recipient, input.now) : null;
    if (reason !== null) return { outcome: "SKIPPED", detail: { reason } };
    const sender = senderOf(template, deps.projectOf(projectSeq));
    if (sender === null) {
      const missing = "names no sender, and its project has no default sender";
      return failed(`The template "${template.name}" ${missing}.`);
    }
    const domain = domainOf(sender.address);
    if (!deps.isSenderVerified(projectSeq, domain)) return withoutDomain(domain, input);
    const refusal = refuseWorkflowMail(deps.app, projectSeq);
    if (refusal !== null) return { outcome: "POSTPONED", reason: refusal.message, until: null };
    const emailId = deps.subjects.emailIdOf(input.executionSeq) ?? newId(input.now);
    const variables = variablesOf(input, isCustom);
    const mails = subjectMails(template, { recipient, emailId, variables, projectSeq });
    const subject = deps.subjects.render(input, emailId, mails);
    if ("outcome" in subject) return subject;
    if (!subject.ok) return failed(subject.reason);
    const { text } = subject;
    return write({ input, template, sender, recipient, emailId, subject: text, variables });
  };

  /** The reason why a recipient gets no marketing mail, in words; null if it may get it. */
  function unwanted({ topicSeq }: TemplateRow, recipient: ContactRow, now: number): string | null {
    const { email, pausedUntil } = recipient;
    switch (mayGetMarketing(deps.app, recipient, topicSeq, now)) {
      case null:
        return null;
      case "UNSUBSCRIBED":
        return `${email} is not subscribed.`;
      case "TOPIC":
        return `${email} is not in the topic “${topicBySeq(deps.app, topicSeq)?.name ?? ""}”.`;
      case "PAUSED":
        return `${email} has paused marketing mail until ${isoTime(pausedUntil ?? now)}.`;
    }
  }

  /** The subject without the body, for one recipient. `variables`: null for the recipient's data. */
  function subjectMails(
    { subject }: TemplateRow,
    mail: {
      projectSeq: number;
      emailId: string;
      recipient: ContactRow;
      variables: JsonObject | null;
    },
  ): RequestMails {
    const { recipient, emailId, variables, projectSeq } = mail;
    const { id, email } = recipient;
    const data = variables === null ? recipient.data : JSON.stringify(variables);
    const { name, language } = deps.projectOf(projectSeq);
    return {
      source: { subject, body: "" },
      given: { subject: false, body: false },
      isLenient: true,
      project: { name, language },
      recipients: [{ id, email, data, links: linksIn(subject, emailId, deps) }],
    };
  }

  function findTemplate(projectSeq: number, id: string): TemplateRow | null {
    try {
      return getTemplate(deps.app, projectSeq, id);
    } catch (error) {
      if (error instanceof AppError && error.status === 404) return null;
      throw error;
    }
  }

  /**
   * A domain that lost its verification postpones the step for as long as the mail would be retried
   * (outbox/retry.ts), because its DNS records may come back.
   */
  function withoutDomain(domain: string, input: StepInput): StepResult | Postponed {
    const { projectSeq, stepStartedAt: since } = input;
    if (!hasLostVerification(deps.app, projectSeq, domain)) {
      return failed(senderNotVerified(domain).message);
    }
    const until = deadlineOf({ since, priority: TRANSACTIONAL_PRIORITY });
    return { outcome: "POSTPONED", reason: senderVerificationLost(domain), until };
  }

  /** The contact of a custom address. It is created if needed, as in `/v1/send`. */
  function addressed(projectSeq: number, email: string): ContactRow {
    const { contact } = contacts.upsert({
      projectSeq,
      email,
      subscribed: undefined,
      defaultSubscribed: false,
      data: undefined,
    });
    return contact;
  }

  function write(work: {
    input: StepInput;
    template: TemplateRow;
    sender: Sender;
    recipient: ContactRow;
    emailId: string;
    subject: string;
    variables: JsonObject | null;
  }): StepResult {
    const { input, template, sender, recipient, emailId, variables } = work;
    const { projectSeq, now } = input;
    const suppression = suppressionReason(deps.app, projectSeq, recipient.email);
    noteSent(deps.app, template);
    const emailSeq = store.insertEmail({
      id: emailId,
      projectSeq,
      contactSeq: recipient.seq,
      messageSeq: store.saveMessage(templateMessage(deps.app, template, sender), now),
      source: "WORKFLOW",
      templateId: template.id,
      executionSeq: input.executionSeq,
      to: recipient.email,
      toName: null,
      subject: work.subject,
      variables: variables === null ? null : JSON.stringify(variables),
      status: suppression === null ? "QUEUED" : "SUPPRESSED",
      priority: TRANSACTIONAL_PRIORITY,
      createdAt: now,
    });
    if (suppression === null) {
      wakeSending(deps.app);
      return { outcome: "COMPLETED", detail: { emailId } };
    }
    deps.events.record({
      projectSeq,
      name: "email.suppressed",
      contactSeq: recipient.seq,
      emailSeq,
      data: { reason: suppression },
      at: now,
    });
    return { outcome: "COMPLETED", detail: { emailId, suppressed: suppression } };
  }
}

/** Signs links only for the rare subjects that contain one, because a signature is expensive. */
function linksIn(
  subject: string,
  emailId: string,
  { url, linkKey }: Pick<SendEmailDeps, "url" | "linkKey">,
): RecipientLinks {
  if (subject.includes("Url")) return recipientLinks(url, linkKey, emailId);
  return { unsubscribeUrl: "", subscribeUrl: "", manageUrl: "" };
}

/**
 * The contact's data of now, overlaid by the context. null if the context is empty: then the mail
 * uses the contact's data of the time when it is sent.
 */
function variablesOf({ contact, context }: StepInput, isCustom: boolean): JsonObject | null {
  if (isCustom) {
    const { id, email } = contact;
    return mergeVariables(parseData(contact.data), { ...context, contact: { id, email } });
  }
  return Object.keys(context).length === 0
    ? null
    : mergeVariables(parseData(contact.data), context);
}

/** The sender of the template, otherwise of the project. The name is chosen as in `/v1/send`. */
function senderOf({ from, fromName }: TemplateRow, { sender }: SendingProject): Sender | null {
  if (from !== null) return { address: from, name: fromName };
  return sender === null ? null : { address: sender.address, name: fromName ?? sender.name };
}

function failed(error: string): StepResult {
  return { outcome: "FAILED", error };
}
