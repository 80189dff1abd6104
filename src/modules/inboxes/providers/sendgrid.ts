/** POST /v3/mail/send of SendGrid: a message for each personalization. */

import { type Static, Type } from "@sinclair/typebox";
import { randomBase62 } from "../../../lib/crypto.ts";
import type { Attachment } from "../../../protocols/mime/parts.ts";
import type { SentMailbox } from "../mailpit/compose.ts";
import { type CaughtMail, type ProviderComposer, createProviderComposer } from "./compose-mail.ts";
import {
  attachmentOf,
  checkValue,
  NO_OTHER_FIELDS,
  invalidField,
  MAX_SUBSTITUTED_CHARACTERS,
  nullable,
  type Provider,
  ProviderFault,
  readBase64,
  readJson,
  readMailbox,
  shownHeaders,
  templatePlaceholder,
} from "./provider.ts";
import { readBearer } from "./keys.ts";

const Mailbox = Type.Object(
  { email: Type.String(), name: nullable(Type.String()) },
  NO_OTHER_FIELDS,
);
const Mailboxes = nullable(Type.Array(Mailbox, { maxItems: 1000 }));
const Texts = nullable(Type.Record(Type.String(), Type.String()));
const Any = nullable(Type.Record(Type.String(), Type.Unknown()));
const Time = nullable(Type.Integer());

const Personalization = Type.Object(
  {
    to: Type.Array(Mailbox, { minItems: 1, maxItems: 1000 }),
    cc: Mailboxes,
    bcc: Mailboxes,
    from: nullable(Mailbox),
    subject: nullable(Type.String()),
    headers: Texts,
    /** Words of the message with the texts that replace them. */
    substitutions: nullable(Type.Record(Type.String({ minLength: 1 }), Type.String())),
    dynamic_template_data: Any,
    custom_args: Any,
    send_at: Time,
  },
  NO_OTHER_FIELDS,
);

const SentFile = Type.Object(
  {
    content: Type.String(),
    filename: Type.String(),
    type: nullable(Type.String()),
    disposition: nullable(Type.Union([Type.Literal("attachment"), Type.Literal("inline")])),
    content_id: nullable(Type.String()),
  },
  NO_OTHER_FIELDS,
);

const Content = Type.Object(
  { type: Type.String(), value: Type.String({ minLength: 1 }) },
  NO_OTHER_FIELDS,
);

const SendBody = Type.Object(
  {
    personalizations: Type.Array(Personalization, { minItems: 1, maxItems: 1000 }),
    from: Mailbox,
    reply_to: nullable(Mailbox),
    reply_to_list: Mailboxes,
    subject: nullable(Type.String()),
    content: nullable(Type.Array(Content, { maxItems: 100 })),
    attachments: nullable(Type.Array(SentFile, { maxItems: 1000 })),
    headers: Texts,
    template_id: nullable(Type.String()),
    sections: Texts,
    categories: nullable(Type.Array(Type.String(), { maxItems: 10 })),
    custom_args: Any,
    send_at: Time,
    batch_id: nullable(Type.String()),
    asm: Any,
    ip_pool_name: nullable(Type.String()),
    mail_settings: Any,
    tracking_settings: Any,
  },
  NO_OTHER_FIELDS,
);
type SendBody = Static<typeof SendBody>;
type Personalization = Static<typeof Personalization>;

/** Replacing takes time for each word, in each text of each personalization. */
const MAX_SUBSTITUTIONS = 100;

export const sendgrid: Provider = {
  readKey: readBearer,
  missingKey: "The provided authorization grant is invalid, expired, or revoked",

  async receive({ body, now, hostname }) {
    const sent = checkValue(SendBody, readJson(body));
    const id = randomBase62(22);
    const composer = createProviderComposer(now);
    const files = (sent.attachments ?? []).map(fileOf);
    composer.requireRoom(files, sent.personalizations.length);
    const mails = sent.personalizations.map((personalization, index) =>
      composePersonalization(composer, sent, {
        personalization,
        path: `personalizations.${index}`,
        files,
        id,
        messageId: `<${id}.${index}@${hostname}>`,
      }),
    );
    // SendGrid answers 200 in its sandbox mode, in which it sends nothing.
    const status = isSandbox(sent) ? 200 : 202;
    return { mails, response: new Response(null, { status, headers: { "X-Message-Id": id } }) };
  },

  refuse({ status, field, message, headers }) {
    const errors = [{ message, field: field === "" ? null : field, help: null }];
    return Response.json({ errors }, { status: status === 422 ? 400 : status, headers });
  },
};

type Part = {
  personalization: Personalization;
  path: string;
  /** The attachments of the whole call. */
  files: readonly Attachment[];
  id: string;
  messageId: string;
};

function composePersonalization(
  { compose }: ProviderComposer,
  sent: SendBody,
  { personalization, path, id, messageId, ...part }: Part,
): CaughtMail {
  const { to, cc, bcc, from, subject, headers, substitutions, ...shown } = personalization;
  requireDistinct(path, [...to, ...(cc ?? []), ...(bcc ?? [])]);
  const replaced = (text: string) => substitute(`${path}.substitutions`, text, substitutions ?? {});
  const { texts, files } = contentOf(sent, personalization);
  const given = subject ?? sent.subject ?? texts.subject;
  if (given === null) throw invalidField("subject", "is required");
  return compose({
    from: mailboxOf(from ?? sent.from, (from ?? null) === null ? "from" : `${path}.from`),
    to: mailboxesOf(to, `${path}.to`),
    cc: mailboxesOf(cc, `${path}.cc`),
    bcc: mailboxesOf(bcc, `${path}.bcc`),
    replyTo: mailboxesOf(replyToOf(sent), "reply_to"),
    subject: replaced(given),
    text: replaced(texts.text),
    html: replaced(texts.html),
    headers: [
      ...Object.entries({ ...sent.headers, ...headers }),
      ["X-Message-Id", id],
      ...shownHeaders("X-SendGrid-", { ...shownOf(sent), ...definedOf(shown) }),
    ],
    attachments: [...files, ...part.files],
    messageId,
  });
}

/** The fields of the whole call that do not change the message. */
function shownOf(sent: SendBody): Record<string, unknown> {
  return {
    template_id: sent.template_id,
    sections: sent.sections,
    categories: sent.categories?.join(", "),
    custom_args: sent.custom_args,
    send_at: sent.send_at,
    batch_id: sent.batch_id,
    asm: sent.asm,
    ip_pool_name: sent.ip_pool_name,
    mail_settings: sent.mail_settings,
    tracking_settings: sent.tracking_settings,
  };
}

/** The fields that have a value; the others would hide those of the whole call. */
function definedOf(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const entries = Object.entries(fields).filter(([, value]) => (value ?? null) !== null);
  return Object.fromEntries(entries);
}

function contentOf(sent: SendBody, { dynamic_template_data, substitutions }: Personalization) {
  const content = sent.content ?? [];
  const valueOf = (type: string) => content.find((each) => typeOf(each.type) === type)?.value ?? "";
  const files = content.flatMap(({ type, value }, i) =>
    TEXT_TYPES.has(typeOf(type)) ? [] : [otherContent(type, value, i)],
  );
  const types = content.map(({ type }) => typeOf(type));
  if (new Set(types).size < types.length) throw invalidField("content", "has a type twice");
  const texts = { subject: null, text: valueOf("text/plain"), html: valueOf("text/html") };
  if (content.length > 0) return { texts, files };
  const template = sent.template_id ?? "";
  if (template === "") throw invalidField("content", "is required without a template_id");
  const data = dynamic_template_data ?? substitutions ?? {};
  return { texts: { ...templatePlaceholder("SendGrid", template, data), html: "" }, files };
}

const TEXT_TYPES: ReadonlySet<string> = new Set(["text/plain", "text/html"]);

/** The media type without its parameters. */
const typeOf = (type: string): string => (type.split(";", 1)[0] ?? "").trim().toLowerCase();

/** Content of another type, such as AMP or a calendar, is shown as a file. */
function otherContent(type: string, value: string, index: number) {
  const filename = `content-${index + 1}`;
  const content = Buffer.from(value);
  return attachmentOf({ filename, content, type, contentId: null, isInline: false });
}

function fileOf(file: Static<typeof SentFile>, index: number) {
  const { filename, type, content_id, disposition } = file;
  return attachmentOf({
    filename,
    content: readBase64(`attachments.${index}.content`, file.content),
    type,
    contentId: content_id,
    isInline: disposition === "inline",
  });
}

function replyToOf({ reply_to, reply_to_list }: SendBody) {
  if (reply_to && reply_to_list) {
    throw invalidField("reply_to_list", "cannot be given beside reply_to");
  }
  return reply_to_list ?? (reply_to ? [reply_to] : []);
}

function mailboxOf({ email, name }: Static<typeof Mailbox>, path: string): SentMailbox {
  return { name: name ?? "", address: readMailbox(`${path}.email`, email).address };
}

function mailboxesOf(list: Static<typeof Mailboxes> | undefined, path: string): SentMailbox[] {
  return (list ?? []).map((mailbox, i) => mailboxOf(mailbox, `${path}.${i}`));
}

/** SendGrid refuses an address that a personalization has twice, also in different lists. */
function requireDistinct(path: string, mailboxes: readonly Static<typeof Mailbox>[]): void {
  const seen = new Set<string>();
  for (const { email } of mailboxes) {
    const address = email.trim().toLowerCase();
    if (seen.has(address)) {
      throw invalidField(path, `names ${address} twice in to, cc and bcc`);
    }
    seen.add(address);
  }
}

function substitute(
  field: string,
  text: string,
  substitutions: Readonly<Record<string, string>>,
): string {
  const words = Object.entries(substitutions);
  if (words.length > MAX_SUBSTITUTIONS) {
    throw invalidField(field, `has more than ${MAX_SUBSTITUTIONS} words`);
  }
  let result = text;
  for (const [word, value] of words) {
    const growth = occurrences(result, word) * (value.length - word.length);
    if (result.length + growth > MAX_SUBSTITUTED_CHARACTERS) {
      throw new ProviderFault(413, field, `${field}: makes a text of more than 36 MiB`);
    }
    result = result.replaceAll(word, () => value);
  }
  return result;
}

function occurrences(text: string, word: string): number {
  let count = 0;
  for (let at = text.indexOf(word); at !== -1; at = text.indexOf(word, at + word.length)) count++;
  return count;
}

function isSandbox({ mail_settings }: SendBody): boolean {
  const sandbox = mail_settings?.["sandbox_mode"];
  return typeof sandbox === "object" && sandbox !== null && Reflect.get(sandbox, "enable") === true;
}
