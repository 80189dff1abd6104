/** The work that the threads of content-work.ts do, and what they answer. */

import type { Detail } from "../../checks/detail.ts";
import { findLinks } from "../../checks/find-links.ts";
import type { HtmlSupport } from "../../checks/html-support/check.ts";
import { summarizeSupport, type SupportSummary } from "../../checks/html-support/summary.ts";
import { lint, type LintFinding } from "../../checks/lint.ts";
import type { FieldError } from "../../lib/errors.ts";
import { parseUtm } from "../../render/link-parameters.ts";
import { type InlineImage, previewDocument } from "../../render/preview-document.ts";
import { type DraftError, type DraftSource, renderDraft } from "../../render/draft.ts";
import {
  compileSource,
  parseVariables,
  renderMails,
  type RequestMails,
} from "../../render/request-mails.ts";
import { templateCache } from "../../render/template/cache.ts";
import { type Placeholder, placeholdersOf } from "../../render/template/placeholder-names.ts";
import { templateVariables } from "../../render/variables.ts";
import { messageIdOf } from "../../protocols/mime/message-id.ts";
import type { Mailbox } from "../../protocols/mime/mailbox.ts";
import { textOfHtml } from "../../render/text-on-demand.ts";
import {
  renderWebhookRequest,
  type WebhookResult,
  type WebhookTemplates,
} from "../../render/webhook-request.ts";

/** A mail that can be sent, a fault of it, or a fault after which no time was left for the others. */
export type CheckedMail =
  { kind: "rendered"; subject: string } | { kind: "fault" | "spent"; fault: FieldError };

/** A message to check: its parts, its octets, and which part its links are read from. */
export type CheckedMessage = {
  detail: Detail;
  raw: Uint8Array;
  hasBareLf: boolean;
  links: "none" | "html" | "all";
};

export type ContentTask =
  | { kind: "mails"; mails: RequestMails }
  /** One mail as its recipient would see it. `emailId` is the id in its links. */
  | {
      kind: "preview";
      mails: RequestMails;
      emailId: string;
      isMarketing: boolean;
      utm: string | null;
    }
  /** A template that is being written. `envelope` is given if its message is checked. */
  | {
      kind: "draft";
      draft: DraftMail;
      envelope: DraftEnvelope | null;
      localUrl: string | null;
    }
  | { kind: "document"; html: string; images: readonly InlineImage[]; isDark: boolean }
  | { kind: "text"; html: string }
  /** `localUrl` is the address of a server in development (checks/lint.ts). */
  | { kind: "check"; message: CheckedMessage; localUrl: string | null }
  | { kind: "support"; html: string }
  | { kind: "placeholders"; sources: readonly string[] }
  | { kind: "webhook"; templates: WebhookTemplates };

export type ContentResult =
  | { kind: "mails"; errors: FieldError[]; mails: CheckedMail[] }
  /** The mail is null if there are errors. */
  | { kind: "preview"; errors: FieldError[]; mail: ShownMail | null }
  | ({ kind: "draft" } & ShownDraft)
  | { kind: "document"; html: string }
  | { kind: "text"; text: string }
  | { kind: "check"; checks: MessageFindings }
  | { kind: "support"; support: HtmlSupport }
  | { kind: "placeholders"; placeholders: Placeholder[] }
  | { kind: "webhook"; result: WebhookResult };

/** A template that is being written, and the recipient that it is rendered for. */
export type DraftMail = {
  source: DraftSource;
  emailId: string;
  /** Whether it may have the syntax of another template language. */
  isLenient: boolean;
  isMarketing: boolean;
  project: { name: string; language: string };
  recipient: RequestMails["recipients"][number];
};

/** The fields of a message other than its subject and its body. */
export type DraftEnvelope = { from: Mailbox; at: number };

/** The rendered draft; null for what has errors. `checks` is null if it has any, or was not asked for. */
export type ShownDraft = {
  errors: DraftError[];
  subject: string | null;
  preheader: string | null;
  html: string | null;
  text: string | null;
  placeholders: Placeholder[];
  checks: MessageFindings | null;
};

export type ShownMail = { subject: string; html: string; text: string };
export type MessageFindings = { findings: LintFinding[]; urls: string[] } & SupportSummary;

type ResultOf<Kind extends ContentResult["kind"]> = Extract<ContentResult, { kind: Kind }>;

const templates = templateCache({ maxEntries: 200, maxBytes: 16 * 1024 * 1024 });

export async function runContentTask(task: ContentTask): Promise<ContentResult> {
  switch (task.kind) {
    case "mails":
      return checkAll(task.mails);
    case "preview":
      return previewOne(task);
    case "draft":
      return showDraft(task);
    case "document": {
      const { html, images, isDark } = task;
      return { kind: "document", html: previewDocument(html, images, { isDark }) };
    }
    case "text":
      return { kind: "text", text: await textOfHtml(task.html) };
    case "check":
      return { kind: "check", checks: await checkOne(task.message, task.localUrl) };
    case "support": {
      const { checkHtmlSupport } = await import("../../checks/html-support/check.ts");
      return { kind: "support", support: checkHtmlSupport(task.html) };
    }
    case "placeholders":
      return { kind: "placeholders", placeholders: placeholdersOf(task.sources) };
    case "webhook":
      return { kind: "webhook", result: renderWebhookRequest(task.templates, templates) };
  }
}

function checkAll(input: RequestMails): ResultOf<"mails"> {
  const source = compileSource(templates, input);
  if (!source.ok) return { kind: "mails", errors: source.errors, mails: [] };
  const mails = [...renderMails(source.compiled, input)].map(withoutBody);
  return { kind: "mails", errors: [], mails };
}

/** The body of a mail that is only checked is not needed: it is rendered again when it is sent. */
export function withoutBody(mail: CheckedMail & { html?: string }): CheckedMail {
  return mail.kind === "rendered" ? { kind: "rendered", subject: mail.subject } : mail;
}

async function previewOne({
  mails,
  emailId,
  isMarketing,
  utm,
}: Extract<ContentTask, { kind: "preview" }>): Promise<ResultOf<"preview">> {
  const refused = (errors: FieldError[]) => ({ kind: "preview" as const, errors, mail: null });
  const source = compileSource(templates, mails);
  if (!source.ok) return refused(source.errors);
  const [rendered] = renderMails(source.compiled, mails);
  const [recipient] = mails.recipients;
  if (rendered === undefined || recipient === undefined) throw new Error("no recipient");
  if (rendered.kind !== "rendered") return refused([rendered.fault]);
  const { project } = mails;
  const mail = { emailId, isMarketing, project, recipient };
  const { html, text } = await outgoingOf(rendered.html, mail, utm);
  return { kind: "preview", errors: [], mail: { subject: rendered.subject, html, text } };
}

/** The parts and the headers of a rendered mail without tracking. */
async function outgoingOf(
  html: string,
  mail: Omit<DraftMail, "source" | "isLenient">,
  utm: string | null = null,
) {
  // Loaded with the first preview, because its converter to text takes 5 ms and 4 MiB.
  const { prepareOutgoing } = await import("../../render/outgoing.ts");
  const { emailId, isMarketing, recipient } = mail;
  const { name: projectName, language } = mail.project;
  return prepareOutgoing({
    emailId,
    html,
    headers: [],
    links: recipient.links,
    marketing: isMarketing ? { projectName, language, feedbackId: "" } : null,
    tracking: null,
    parameters: parseUtm(utm),
  });
}

async function showDraft({
  draft,
  envelope,
  localUrl,
}: Extract<ContentTask, { kind: "draft" }>): Promise<ResultOf<"draft">> {
  const { source, project, recipient } = draft;
  const { id, email, data, links } = recipient;
  const variables = templateVariables({
    id,
    email,
    data: parseVariables(data),
    links,
    projectName: project.name,
    language: project.language,
  });
  const rendered = renderDraft(templates, source, { variables, isLenient: draft.isLenient });
  const { errors, subject, preheader } = rendered;
  const isBroken = (fields: readonly string[]) =>
    errors.some(({ field, code }) => code === "invalid_format" && fields.includes(field));
  const body = rendered.source ?? source.body;
  const shown = {
    kind: "draft" as const,
    errors,
    subject,
    preheader,
    placeholders: placeholdersOf([
      ...(isBroken(["subject"]) ? [] : [source.subject]),
      ...(isBroken(["preheader", "body", "layoutId"]) ? [] : [body]),
    ]),
  };
  if (rendered.html === null) return { ...shown, html: null, text: null, checks: null };
  const { html, text, headers } = await outgoingOf(rendered.html, draft);
  const isChecked = envelope !== null && subject !== null && errors.length === 0;
  const checks = isChecked
    ? await checkDraft({ html, text, headers, subject, draft, envelope, localUrl })
    : null;
  return { ...shown, html, text, checks };
}

async function checkDraft(mail: {
  html: string;
  text: string;
  headers: readonly (readonly [string, string])[];
  subject: string;
  draft: DraftMail;
  envelope: DraftEnvelope;
  localUrl: string | null;
}): Promise<MessageFindings> {
  const { html, text, subject, headers, draft, envelope, localUrl } = mail;
  const { composeMessage } = await import("../../protocols/mime/message.ts");
  const composed = composeMessage({
    from: envelope.from,
    to: { name: null, address: draft.recipient.email },
    replyTo: null,
    subject,
    html,
    text,
    headers,
    attachments: [],
    messageId: messageIdOf(draft.emailId, envelope.from.address),
    date: new Date(envelope.at),
  });
  if (!composed.ok) throw new Error(`a draft cannot be composed: ${composed.reason}`);
  const raw = composed.message;
  const detail = { html, text, headers: headersOf(raw) };
  return checkOne({ detail, raw, hasBareLf: false, links: "html" }, localUrl);
}

/** The header fields of a message that was composed here, unfolded. */
function headersOf(raw: Uint8Array): Detail["headers"] {
  const [block = ""] = Buffer.from(raw).toString("latin1").split("\r\n\r\n", 1);
  return block
    .replaceAll(/\r\n(?=[ \t])/g, "")
    .split("\r\n")
    .map((line) => {
      const colon = line.indexOf(":");
      return { name: line.slice(0, colon), value: line.slice(colon + 1).trim() };
    });
}

async function checkOne(message: CheckedMessage, localUrl: string | null) {
  const { detail, raw, hasBareLf, links } = message;
  const { html, text } = detail;
  const found = links === "none" ? [] : findLinks({ html, text: links === "html" ? "" : text });
  return {
    findings: lint({ detail, raw, hasBareLf, localUrl }),
    urls: found.map(({ url }) => url),
    ...(await summarizeSupport(html)),
  };
}
