import { type Static, Type } from "@sinclair/typebox";
import { EMAIL_SOURCES, EMAIL_STATUSES } from "../../db/schema/emails.ts";
import type { Project } from "../../http/admission.ts";
import { Nullable } from "../../http/envelope.ts";
import { EmailAddress } from "../../http/formats.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, isRecord, OneOf, withChecks } from "../../http/validation.ts";
import { type FieldError, validationError } from "../../lib/errors.ts";
import { LONGEST_ADDRESS_TEXT } from "../../protocols/mime/address.ts";
import { isMediaType } from "../../protocols/mime/content-type.ts";
import { checkHeaders } from "../../protocols/mime/headers.ts";
import { BodySource, HeaderText, SubjectSource, templateErrors } from "../templates/model.ts";

const MAX_RECIPIENTS = 1000;
const MAX_ATTACHMENTS = 10;
/** Limit on the decoded size of all attachments of a mail together (docs/specification.md#s8). */
const MAX_ATTACHMENTS_BYTES = 10 * 1024 * 1024;

const NamedAddress = Input({ name: Type.Optional(HeaderText), email: EmailAddress });
const Recipient = Type.Union([EmailAddress, NamedAddress]);

const Attachment = Input({
  filename: Type.String({ format: "header-text", minLength: 1, maxLength: 255 }),
  content: Type.String({ description: "Content of the file in base64" }),
  contentType: Type.Optional(Type.String({ maxLength: 255 })),
  type: Type.Optional(Type.String({ maxLength: 255, description: "Alias of contentType" })),
  contentId: Type.Optional(Type.String({ format: "content-id", maxLength: 255 })),
  disposition: Type.Optional(OneOf(["attachment", "inline"])),
});

/** Body of POST /v1/send (docs/specification.md#s2.4, docs/interface.md#send). */
export const SendInput = withChecks(
  Input({
    to: Type.Union([
      EmailAddress,
      NamedAddress,
      Type.Array(Recipient, { minItems: 1, maxItems: MAX_RECIPIENTS }),
    ]),
    subject: Type.Optional(SubjectSource),
    body: Type.Optional(BodySource),
    template: Type.Optional(Type.String({ description: "Template id" })),
    from: Type.Optional(
      Type.Union([EmailAddress, NamedAddress], {
        description: "Required unless the template or the project names a sender",
      }),
    ),
    name: Type.Optional(HeaderText),
    reply: Type.Optional(EmailAddress),
    subscribed: Type.Optional(Type.Boolean()),
    data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    attachments: Type.Optional(Type.Array(Attachment, { maxItems: MAX_ATTACHMENTS })),
  }),
  sendErrors,
);
export type SendInput = Static<typeof SendInput>;

/** Checks rules between fields. `value` is not validated yet and may have any content. */
function sendErrors(
  value: Readonly<Record<string, unknown>>,
  project: Project | null,
): FieldError[] {
  return [...templateErrors(value), ...otherErrors(value, project)];
}

/**
 * Throws 422 with all errors of a body that matches its schema. The syntax of its templates is only
 * checked if there is another error: otherwise acceptance compiles them and caches the result.
 */
export function ensureSendable(input: SendInput, project: Project): void {
  if (otherErrors(input, project).length > 0) throw validationError(sendErrors(input, project));
}

function otherErrors(
  value: Readonly<Record<string, unknown>>,
  project: Project | null,
): FieldError[] {
  const { headers, attachments } = value;
  return [
    ...(value["template"] === undefined ? inlineErrors(value, project) : []),
    ...(isTextRecord(headers) ? checkHeaders(headers) : []),
    ...(Array.isArray(attachments) ? attachmentErrors(attachments) : []),
  ];
}

/**
 * Without a template, subject, body and sender are required (docs/specification.md#s2.4); the
 * sender may be the default sender of the project.
 */
function inlineErrors(
  value: Readonly<Record<string, unknown>>,
  project: Project | null,
): FieldError[] {
  const required = ["subject", "body", ...((project?.sender ?? null) === null ? ["from"] : [])];
  return required
    .filter((field) => value[field] === undefined)
    .map((field) => ({
      field,
      message: "is required when no template is used",
      code: "required" as const,
    }));
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((inner) => typeof inner === "string");
}

function attachmentErrors(attachments: readonly unknown[]): FieldError[] {
  const errors: FieldError[] = [];
  let sizeBytes = 0;
  attachments.slice(0, MAX_ATTACHMENTS).forEach((attachment, i) => {
    if (!isRecord(attachment)) return;
    const { content, contentId, disposition } = attachment;
    const at = (name: string) => `attachments.${i}.${name}`;
    if (typeof content === "string") {
      sizeBytes += decodedSize(content);
      if (!isBase64(content)) {
        errors.push({ field: at("content"), message: "must be base64", code: "invalid_format" });
      }
    }
    errors.push(...mediaTypeErrors(attachment, at));
    if (disposition === "inline" && contentId === undefined) {
      const message = "is required for an inline attachment";
      errors.push({ field: at("contentId"), message, code: "required" });
    }
  });
  if (sizeBytes > MAX_ATTACHMENTS_BYTES) {
    const message = "must take at most 10 MiB together, decoded";
    errors.push({ field: "attachments", message, code: "too_big" });
  }
  return errors;
}

/** `type` is an alias of `contentType`. Both may be given if they are equal, in any letter case. */
function mediaTypeErrors(
  attachment: Readonly<Record<string, unknown>>,
  at: (name: string) => string,
): FieldError[] {
  const errors: FieldError[] = [];
  for (const name of ["contentType", "type"]) {
    const value = attachment[name];
    if (typeof value !== "string" || isMediaType(value)) continue;
    const message = "must be a media type such as application/pdf";
    errors.push({ field: at(name), message, code: "invalid_format" });
  }
  const { contentType, type } = attachment;
  if (errors.length > 0 || typeof contentType !== "string" || typeof type !== "string") {
    return errors;
  }
  if (contentType.toLowerCase() === type.toLowerCase()) return [];
  const message = "is an alias of contentType and must equal it or be omitted";
  return [{ field: at("type"), message, code: "invalid_value" }];
}

/** True if `text` is base64 with padding (RFC 4648 §4). */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function decodedSize(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

/** Result of POST /v1/send (docs/specification.md#s2.5). */
export const SentMembers = {
  emails: Type.Array(
    Type.Object({
      contact: Type.Object({ id: Type.String(), email: Type.String() }),
      email: Type.String({ description: "Id of the email record" }),
    }),
  ),
  timestamp: Type.String({ format: "date-time" }),
};

const Moment = Nullable(Type.String({ format: "date-time" }));

const Step = Type.Object({
  step: Type.String(),
  command: Nullable(Type.String()),
  code: Nullable(Type.Integer()),
  enhanced: Nullable(Type.String()),
  text: Type.String(),
  ms: Type.Number(),
});

const Attempt = Type.Object({
  number: Type.Integer(),
  startedAt: Type.String({ format: "date-time" }),
  durationMs: Type.Integer(),
  outcome: OneOf(["accepted", "deferred", "bounced", "failed"]),
  class: Type.String(),
  reason: Nullable(Type.String()),
  conversations: Type.Array(
    Type.Object({
      host: Type.String(),
      address: Nullable(Type.String()),
      port: Type.Integer(),
      tls: Nullable(
        Type.Object({ version: Type.String(), cipher: Type.String(), verified: Type.Boolean() }),
      ),
      reused: Type.Boolean(),
      steps: Type.Array(Step),
    }),
  ),
});
export type Attempt = Static<typeof Attempt>;

/** An email record (docs/interface.md#send). */
export const Email = Type.Object({
  id: Type.String(),
  contactId: Nullable(Type.String()),
  to: Nullable(Type.String({ description: "null once the contact was deleted" })),
  from: Type.String(),
  subject: Type.String(),
  status: OneOf(EMAIL_STATUSES),
  source: OneOf(EMAIL_SOURCES),
  templateId: Nullable(Type.String()),
  campaignId: Nullable(Type.String()),
  workflowExecutionId: Nullable(Type.String()),
  messageId: Type.String(),
  createdAt: Type.String({ format: "date-time" }),
  sentAt: Moment,
  deliveredAt: Moment,
  openedAt: Moment,
  clickedAt: Moment,
  bouncedAt: Moment,
  complainedAt: Moment,
  lastError: Nullable(Type.String()),
  nextAttemptAt: Moment,
  attempts: Type.Array(Attempt),
});
export type Email = Static<typeof Email>;

const AddressFilter = Type.String({
  format: "address-filter",
  maxLength: LONGEST_ADDRESS_TEXT,
  description: "An address, or @ and a domain, such as @example.com",
});

export const EmailQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(OneOf(EMAIL_STATUSES)),
  source: Type.Optional(OneOf(EMAIL_SOURCES)),
  contactId: Type.Optional(Type.String()),
  campaignId: Type.Optional(Type.String()),
  templateId: Type.Optional(Type.String()),
  to: Type.Optional(AddressFilter),
  from: Type.Optional(AddressFilter),
  since: Type.Optional(
    Type.String({ format: "date-time", description: "Accepted at this time or later" }),
  ),
  until: Type.Optional(
    Type.String({ format: "date-time", description: "Accepted at this time or earlier" }),
  ),
});
export type EmailQuery = Static<typeof EmailQuery>;
