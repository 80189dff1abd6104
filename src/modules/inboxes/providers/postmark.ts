/**
 * The send calls of Postmark:
 *
 * POST /email                       one message
 * POST /email/batch                 up to 500 messages, each with an outcome of its own
 * POST /email/withTemplate          one message, whose content is a template
 * POST /email/batchWithTemplates    up to 500 of them
 */

import { type Static, Type } from "@sinclair/typebox";
import { AppError } from "../../../lib/errors.ts";
import { newId } from "../../../lib/id.ts";
import { MailpitRefusal } from "../mailpit/answers.ts";
import { type CaughtMail, type ProviderComposer, createProviderComposer } from "./compose-mail.ts";
import {
  attachmentOf,
  checkValue,
  NO_OTHER_FIELDS,
  invalidField,
  nullable,
  type Provider,
  ProviderFault,
  readBase64,
  readJson,
  readMailbox,
  readMailboxes,
  shownHeaders,
  templatePlaceholder,
} from "./provider.ts";

const Text = nullable(Type.String());
const common = {
  From: Type.String({ minLength: 1 }),
  To: Text,
  Cc: Text,
  Bcc: Text,
  ReplyTo: Text,
  Tag: Text,
  Headers: nullable(
    Type.Array(Type.Object({ Name: Type.String(), Value: Type.String() }, NO_OTHER_FIELDS), {
      maxItems: 100,
    }),
  ),
  Attachments: nullable(
    Type.Array(
      Type.Object(
        {
          Name: Type.String(),
          Content: Type.String(),
          ContentType: Text,
          ContentID: Text,
          // SDKs send it; Postmark finds the length itself.
          ContentLength: nullable(Type.Integer()),
        },
        NO_OTHER_FIELDS,
      ),
      { maxItems: 1000 },
    ),
  ),
  Metadata: nullable(Type.Record(Type.String(), Type.Unknown())),
  TrackOpens: nullable(Type.Boolean()),
  TrackLinks: Text,
  MessageStream: Text,
};
const Email = Type.Object(
  { ...common, Subject: Text, HtmlBody: Text, TextBody: Text, InlineCss: nullable(Type.Boolean()) },
  NO_OTHER_FIELDS,
);
const TemplateEmail = Type.Object(
  {
    ...common,
    TemplateId: nullable(Type.Union([Type.Integer(), Type.String()])),
    TemplateAlias: Text,
    TemplateModel: nullable(Type.Record(Type.String(), Type.Unknown())),
    InlineCss: nullable(Type.Boolean()),
  },
  NO_OTHER_FIELDS,
);
const TemplateBatch = Type.Object({ Messages: Type.Array(Type.Unknown()) }, NO_OTHER_FIELDS);

type Common = Omit<Static<typeof Email>, "Subject" | "HtmlBody" | "TextBody" | "InlineCss">;
type Content = { subject: string; text: string; html: string; shown: Record<string, unknown> };
type Read = (value: unknown) => { email: Common; content: Content };

const MAX_BATCH = 500;
const MAX_RECIPIENTS = 50;

/** The error codes of Postmark. */
const CODES = { NO_TOKEN: 10, INVALID: 300, INVALID_JSON: 402, TOO_MANY: 410 } as const;

const readEmail: Read = (value) => {
  const { Subject, HtmlBody, TextBody, InlineCss, ...email } = checkValue(Email, value);
  if ((HtmlBody ?? "") === "" && (TextBody ?? "") === "") {
    throw invalidField("TextBody", "is required without an HtmlBody");
  }
  const content = { subject: Subject ?? "", text: TextBody ?? "", html: HtmlBody ?? "" };
  return { email, content: { ...content, shown: { InlineCss } } };
};

const readTemplateEmail: Read = (value) => {
  const { TemplateId, TemplateAlias, TemplateModel, InlineCss, ...email } = checkValue(
    TemplateEmail,
    value,
  );
  const template = String(TemplateId ?? TemplateAlias ?? "");
  if (template === "") throw invalidField("TemplateId", "is required without a TemplateAlias");
  const placeholder = templatePlaceholder("Postmark", template, TemplateModel);
  const shown = { TemplateId, TemplateAlias, TemplateModel, InlineCss };
  return { email, content: { ...placeholder, html: "", shown } };
};

const shared: Omit<Provider, "receive"> = {
  readKey: ({ headers }) => headers.get("x-postmark-server-token") || null,
  missingKey: "No Server API token was supplied. Add the header X-Postmark-Server-Token.",
  refuse: (fault) =>
    Response.json(errorOf(fault), {
      status: fault.status === 400 ? 422 : fault.status,
      headers: fault.headers,
    }),
};

export const postmark = {
  single: single(readEmail),
  withTemplate: single(readTemplateEmail),
  batch: batch(readEmail, (value) => checkValue(Type.Array(Type.Unknown()), value)),
  batchWithTemplates: batch(
    readTemplateEmail,
    (value) => checkValue(TemplateBatch, value).Messages,
  ),
};

function single(read: Read): Provider {
  return {
    ...shared,
    async receive({ body, now }) {
      const { mail, answer } = composeEmail(createProviderComposer(now), read(readJson(body)), now);
      return { mails: [mail], response: Response.json(answer) };
    },
  };
}

/** A message that is refused does not prevent the others. */
function batch(read: Read, listOf: (value: unknown) => readonly unknown[]): Provider {
  return {
    ...shared,
    async receive({ body, now }) {
      const list = listOf(readJson(body));
      if (list.length > MAX_BATCH) {
        throw new ProviderFault(422, "batch", `A batch has at most ${MAX_BATCH} messages.`);
      }
      const composer = createProviderComposer(now);
      const mails: CaughtMail[] = [];
      const answers = list.map((value) => {
        try {
          const { mail, answer } = composeEmail(composer, read(value), now);
          mails.push(mail);
          return answer;
        } catch (error) {
          return errorOf(refusalOfOne(error));
        }
      });
      return { mails, response: Response.json(answers) };
    },
  };
}

/** The refusal of one message of a batch. Other errors, and a call that is too large, refuse all. */
function refusalOfOne(error: unknown): { status: number; field: string; message: string } {
  if (error instanceof ProviderFault && error.status !== 413) return error;
  if (error instanceof MailpitRefusal || error instanceof AppError) {
    return { status: error.status, field: "", message: error.message };
  }
  throw error;
}

function composeEmail(
  { compose }: ProviderComposer,
  { email, content }: ReturnType<Read>,
  now: number,
): { mail: CaughtMail; answer: object } {
  const { From, To, Cc, Bcc, ReplyTo, Headers, Attachments, ...shown } = email;
  const id = newId(now);
  const { shown: ofContent, ...texts } = content;
  const lists = {
    to: recipientsOf("To", To),
    cc: recipientsOf("Cc", Cc),
    bcc: recipientsOf("Bcc", Bcc),
  };
  const mail = compose({
    ...texts,
    ...lists,
    from: readMailbox("From", From),
    replyTo: readMailboxes("ReplyTo", ReplyTo ?? ""),
    headers: [
      ...(Headers ?? []).map(({ Name, Value }): [string, string] => [Name, Value]),
      ...shownHeaders("X-PM-", { ...shown, ...ofContent }),
    ],
    attachments: (Attachments ?? []).map((file, i) =>
      attachmentOf({
        filename: file.Name,
        content: readBase64(`Attachments.${i}.Content`, file.Content),
        type: file.ContentType,
        contentId: file.ContentID?.replace(/^cid:/i, ""),
        isInline: (file.ContentID ?? "") !== "",
      }),
    ),
    messageId: `<${id}@mtasv.net>`,
  });
  const answer = {
    To: To ?? "",
    ...((Cc ?? "") === "" ? {} : { Cc }),
    ...((Bcc ?? "") === "" ? {} : { Bcc }),
    SubmittedAt: new Date(now).toISOString(),
    MessageID: id,
    ErrorCode: 0,
    Message: "OK",
  };
  return { mail, answer };
}

function recipientsOf(field: string, text: string | null | undefined) {
  const list = readMailboxes(field, text ?? "");
  if (list.length > MAX_RECIPIENTS) {
    throw invalidField(field, `has more than ${MAX_RECIPIENTS} recipients`);
  }
  return list;
}

function errorOf({ status, field, message }: Pick<ProviderFault, "status" | "field" | "message">) {
  return { ErrorCode: codeOf(status, field, message), Message: message };
}

function codeOf(status: number, field: string, message: string): number {
  if (status === 401) return CODES.NO_TOKEN;
  if (field === "batch") return CODES.TOO_MANY;
  return field === "" && message.includes("is not JSON") ? CODES.INVALID_JSON : CODES.INVALID;
}
