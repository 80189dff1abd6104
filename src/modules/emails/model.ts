/** Request and response of POST /v1/send. */

import { type Static, Type } from "@sinclair/typebox";
import type { Project } from "../../http/admission.ts";
import { described, named } from "../../http/documented.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { DisplayName, EmailAddress } from "../../http/formats.ts";
import { type CheckContext, Input, isRecord, OneOf, withChecks } from "../../http/validation.ts";
import { type FieldError, validationError } from "../../lib/errors.ts";
import { isMediaType } from "../../protocols/mime/content-type.ts";
import { checkHeaders, MOST_HEADERS } from "../../protocols/mime/headers.ts";
import { quickTemplateErrors } from "../../render/request-mails.ts";
import { hasPlaceholder, NOT_RENDERED } from "../../render/template/foreign-literals.ts";
import { MAX_ATTACHMENTS_BYTES } from "./attachments.ts";
import { Priority, priorityErrors } from "./priority.ts";
import { copiesErrors, MOST_COPIES } from "./recipients.ts";
import { ScheduledTime } from "./schedule.ts";
import { tagErrors, Tags } from "./tags.ts";
import { BodySource, SubjectSource } from "../templates/model.ts";

const MAX_RECIPIENTS = 1000;
const MAX_REPLY_TO = 10;
const MAX_ATTACHMENTS = 10;

const NamedAddress = named(
  "NamedAddress",
  described(Input({ name: Type.Optional(DisplayName), email: EmailAddress }), {
    name: "Display name",
    email: "Email address",
  }),
  {
    description: "An address with a display name",
    example: { name: "Ada", email: "ada@example.com" },
  },
);
const Recipient = Type.Union([EmailAddress, NamedAddress]);
/** One address or several, or none. */
const Copies = Type.Union([
  EmailAddress,
  NamedAddress,
  Type.Array(Recipient, { maxItems: MOST_COPIES }),
]);
/** Source of a text part: Liquid. */
const TextSource = Type.String({ minLength: 1 });

const Attachment = named(
  "Attachment",
  described(
    Input({
      filename: Type.String({ format: "file-name", minLength: 1, maxLength: 255 }),
      content: Type.Optional(Type.String()),
      url: Type.Optional(Type.String({ minLength: 1, maxLength: 2_000 })),
      contentType: Type.Optional(Type.String({ maxLength: 255 })),
      type: Type.Optional(Type.String({ maxLength: 255 })),
      contentId: Type.Optional(Type.String({ format: "content-id", maxLength: 255 })),
      disposition: Type.Optional(OneOf(["attachment", "inline"])),
    }),
    {
      filename: "Name of the file",
      content: "Content of the file in base64, which may have line breaks; required without `url`",
      url: "Where the file is read, before the mail is accepted; only from public addresses",
      contentType: "Media type; derived from the name of the file if omitted",
      type: "Alias of contentType",
      contentId:
        "Id by which the HTML body refers to the file as cid:…; required if inline, and different for " +
        "each file of a mail",
      disposition: "Whether the file is part of the HTML body; default attachment",
    },
  ),
  {
    description: "A file to send with the mail",
    example: { filename: "hello.txt", content: "SGVsbG8=", contentType: "text/plain" },
  },
);

/** Body of POST /v1/send (docs/specification.md#s2.4, docs/interface.md#send). */
export const SendInput = named(
  "SendInput",
  withChecks(
    described(
      Input({
        to: Type.Union([
          EmailAddress,
          NamedAddress,
          Type.Array(Recipient, { minItems: 1, maxItems: MAX_RECIPIENTS }),
        ]),
        cc: Type.Optional(Copies),
        bcc: Type.Optional(Copies),
        subject: Type.Optional(SubjectSource),
        body: Type.Optional(BodySource),
        text: Type.Optional(TextSource),
        template: Type.Optional(Type.String()),
        from: Type.Optional(Type.Union([EmailAddress, NamedAddress])),
        name: Type.Optional(DisplayName),
        replyTo: Type.Optional(
          Type.Union([
            EmailAddress,
            NamedAddress,
            Type.Array(Recipient, { minItems: 1, maxItems: MAX_REPLY_TO }),
          ]),
        ),
        reply: Type.Optional(EmailAddress),
        subscribed: Type.Optional(Type.Boolean()),
        topicId: Type.Optional(Type.String({ maxLength: 100 })),
        data: Type.Optional(Type.Record(Type.String(), Type.Unknown())),
        scheduledAt: Type.Optional(ScheduledTime),
        tags: Type.Optional(Tags),
        priority: Type.Optional(Priority),
        headers: Type.Optional(Type.Record(Type.String(), Type.String())),
        attachments: Type.Optional(Type.Array(Attachment, { maxItems: MAX_ATTACHMENTS })),
      }),
      {
        to:
          "One recipient or up to 1,000; each gets a mail of its own, which names nobody else unless " +
          "there is `cc` or `bcc`",
        cc:
          "Who gets a copy and is named in its Cc. With `cc` or `bcc` all mails show the same To and " +
          "Cc and have the content for the first recipient; at most 50 addresses in all three fields",
        bcc: "Who gets a copy and is not named in any",
        subject: "Liquid template of the subject; required without `template`",
        body: "Liquid template of the HTML body; required without `template` and without `text`",
        text:
          "Liquid template of the text part; if omitted, it is made from the HTML body. A mail " +
          "with `text` and without `body` has only a text part",
        template: "Id of a template",
        from: "The sender; required unless the template or the project names one",
        name: "Display name of the sender, if `from` has none",
        replyTo: "Address to which replies go, or up to 10",
        reply: "One such address: an older name of `replyTo`",
        subscribed: "If omitted: false for a new contact, unchanged for an existing one",
        topicId:
          "Id of a topic: the mail goes only to contacts in it. Only for a template of the type " +
          "MARKETING, whose own topic it replaces",
        data:
          "Variables of the templates, also merged into the contact's data; " +
          '{"value": x, "persistent": false} is not stored',
        scheduledAt: "When the mail is to be sent, at most 30 days ahead; at once if omitted",
        tags: "Up to 10 names with values, for the record and the events of the mail; they are not sent",
        priority:
          "What mail programs show; default normal. It does not change when the mail leaves",
        headers: "Up to 50 additional header fields; those that the service writes are refused",
        attachments: "Up to 10 files, 10 MiB together",
      },
    ),
    sendErrors,
  ),
  {
    description: "A mail to send",
    example: {
      to: "ada@example.com",
      from: { name: "Acme", email: "hello@acme.example" },
      subject: "Your order {{ order }}",
      body: "<p>Thank you, {{ name ?? friend }}.</p>",
      data: { order: 1001 },
    },
  },
);
export type SendInput = Static<typeof SendInput>;

/** Checks rules between fields. `value` is not validated yet and may have any content. */
function sendErrors(value: Readonly<Record<string, unknown>>, request: CheckContext): FieldError[] {
  const { isLenient } = request;
  return [
    ...quickTemplateErrors(value, { isLenient, isStored: false }),
    ...otherErrors(value, request.project),
  ];
}

/**
 * Throws 422 with all errors of a body that matches its schema. The syntax of its templates is only
 * checked if there is another error: otherwise acceptance compiles them and caches the result.
 */
export function ensureSendable(input: SendInput, request: CheckContext): void {
  const isFaulty = otherErrors(input, request.project).length > 0;
  if (isFaulty) throw validationError(sendErrors(input, request));
}

function otherErrors(
  value: Readonly<Record<string, unknown>>,
  project: Project | null,
): FieldError[] {
  const { headers, attachments, reply, replyTo } = value;
  return [
    ...copiesErrors(value),
    ...tagErrors(value["tags"]),
    ...priorityErrors(value["priority"], headers),
    ...(reply !== undefined && replyTo !== undefined ? [TWO_NAMES] : []),
    ...(value["template"] === undefined ? inlineErrors(value, project) : []),
    ...(isTextRecord(headers) ? headerErrors(headers) : []),
    ...(Array.isArray(attachments) ? attachmentErrors(attachments) : []),
  ];
}

const TWO_NAMES: FieldError = {
  field: "reply",
  message: "is an older name of replyTo; give one of them",
  code: "invalid_value",
};

/**
 * Without a template, subject, body or text, and sender are required (docs/specification.md#s2.4);
 * the sender may be the default sender of the project.
 */
function inlineErrors(
  value: Readonly<Record<string, unknown>>,
  project: Project | null,
): FieldError[] {
  const required = [
    "subject",
    ...(value["text"] === undefined ? ["body"] : []),
    ...((project?.sender ?? null) === null ? ["from"] : []),
  ];
  return required
    .filter((field) => value[field] === undefined)
    .map((field) => ({
      field,
      message:
        field === "body"
          ? "is required when no template is used, unless there is a text"
          : "is required when no template is used",
      code: "required" as const,
    }));
}

function headerErrors(headers: Record<string, string>): FieldError[] {
  const faulty = Object.keys(headers).filter((name) => hasPlaceholder(headers[name] ?? ""));
  return [
    ...checkHeaders(headers),
    ...faulty.slice(0, MOST_HEADERS).map((name) => ({
      field: `headers.${name}`,
      message: NOT_RENDERED,
      code: "invalid_format" as const,
    })),
  ];
}

function isTextRecord(value: unknown): value is Record<string, string> {
  return isRecord(value) && Object.values(value).every((inner) => typeof inner === "string");
}

function attachmentErrors(attachments: readonly unknown[]): FieldError[] {
  const errors: FieldError[] = [];
  const contentIds = new Set<unknown>();
  let sizeBytes = 0;
  attachments.slice(0, MAX_ATTACHMENTS).forEach((attachment, i) => {
    if (!isRecord(attachment)) return;
    const { content, url, contentId, disposition } = attachment;
    const at = (name: string) => `attachments.${i}.${name}`;
    if (content === undefined && url === undefined) {
      const message = "is required, since there is no url";
      errors.push({ field: at("content"), message, code: "required" });
    } else if (content !== undefined && url !== undefined) {
      const message = "is not possible beside content; give one of them";
      errors.push({ field: at("url"), message, code: "invalid_value" });
    }
    if (typeof content === "string") {
      const base64 = unfolded(content);
      sizeBytes += decodedSize(base64);
      if (!isBase64(base64)) {
        errors.push({ field: at("content"), message: "must be base64", code: "invalid_format" });
      }
    }
    errors.push(...mediaTypeErrors(attachment, at));
    if (disposition === "inline" && contentId === undefined) {
      const message = "is required for an inline attachment";
      errors.push({ field: at("contentId"), message, code: "required" });
    }
    if (contentIds.has(contentId)) {
      const message = "must not be that of another attachment of the mail";
      errors.push({ field: at("contentId"), message, code: "invalid_value" });
    }
    if (contentId !== undefined) contentIds.add(contentId);
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

/** Base64 without the line breaks that MIME libraries write (RFC 2045 §6.8). */
const unfolded = (text: string): string =>
  text.includes("\n") ? text.replace(/\r?\n/g, "") : text;

/** True if `text` is base64 with padding (RFC 4648 §4). */
function isBase64(text: string): boolean {
  return text.length % 4 === 0 && /^[A-Za-z0-9+/]*={0,2}$/.test(text);
}

function decodedSize(base64: string): number {
  const padding = base64.endsWith("==") ? 2 : base64.endsWith("=") ? 1 : 0;
  return Math.floor((base64.length * 3) / 4) - padding;
}

export const SentEmail = named(
  "SentEmail",
  described(
    Type.Object({
      contact: described(Type.Object({ id: Type.String(), email: Type.String() }), {
        id: "Id of the contact",
        email: "Address of the contact",
      }),
      email: Type.String(),
    }),
    { contact: "The recipient, who is now a contact", email: "Id of the email record" },
  ),
  { description: "One accepted mail" },
);

/** Result of POST /v1/send (docs/specification.md#s2.5). */
export const SendResult = named(
  "SendResult",
  described(
    Type.Object({
      emails: Type.Array(SentEmail),
      timestamp: Type.String({ format: "date-time" }),
    }),
    {
      emails: "One entry per recipient, in the order of the request",
      timestamp: "When the mails were accepted",
    },
  ),
  {
    description: "The mails that were accepted",
    example: {
      emails: [
        { contact: { id: EXAMPLE.contactId, email: "ada@example.com" }, email: EXAMPLE.emailId },
      ],
      timestamp: EXAMPLE.createdAt,
    },
  },
);
