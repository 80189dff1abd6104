/**
 * The send calls of Mailgun:
 *
 * POST /v3/{domain}/messages         a message that is described by the fields of a form
 * POST /v3/{domain}/messages.mime    a message in MIME
 */

import { canonicalDomain } from "../../../protocols/mime/address.ts";
import type { Attachment } from "../../../protocols/mime/parts.ts";
import { randomBase62 } from "../../../lib/crypto.ts";
import { isRecord } from "../../../http/validation.ts";
import { credentialsOf } from "../mailpit/access.ts";
import type { SentMailbox } from "../mailpit/compose.ts";
import { type CaughtMail, type ProviderComposer, createProviderComposer } from "./compose-mail.ts";
import { type FormFields, readProviderForm } from "./form.ts";
import { checkedHeaders, readMessageHead } from "./raw-mail.ts";
import {
  attachmentOf,
  invalidField,
  MAX_SUBSTITUTED_CHARACTERS,
  parseJsonText,
  type Provider,
  ProviderFault,
  type ProviderRequest,
  readMailbox,
  readMailboxes,
  shownHeaders,
  templatePlaceholder,
} from "./provider.ts";

const MAX_RECIPIENTS = 1000;
/** Fields besides those with a prefix. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set([
  "from",
  "to",
  "cc",
  "bcc",
  "subject",
  "text",
  "html",
  "amp-html",
  "attachment",
  "inline",
  "template",
  "recipient-variables",
]);
const MIME_FIELDS: ReadonlySet<string> = new Set([
  "to",
  "message",
  "template",
  "recipient-variables",
]);
const PREFIXES = /^(?:[otv]:[^\r\n]{1,100}|h:[!-9;-~]{1,76})$/;

const shared: Omit<Provider, "receive"> = {
  readKey(request) {
    const credentials = credentialsOf(request);
    return credentials?.user === "api" && credentials.password !== "" ? credentials.password : null;
  },
  missingKey: "Invalid private key",
  refuse: ({ status, message, headers }) =>
    Response.json({ message }, { status: status === 422 ? 400 : status, headers }),
};

export const mailgun: { messages: Provider; mime: Provider } = {
  messages: {
    ...shared,
    async receive(call) {
      const form = await readKnownForm(call, MESSAGE_FIELDS);
      const message = readMessage(form, call);
      const composer = createProviderComposer(call.now);
      const batch = batchOf(form, message);
      composer.requireRoom(message.attachments, batch.length);
      const mails = batch.map((each) => composer.compose(each));
      return { mails, response: queued(message.messageId) };
    },
  },
  mime: {
    ...shared,
    async receive(call) {
      const form = await readKnownForm(call, MIME_FIELDS);
      const messageId = newMessageId(call);
      const { mail, id } = composeMime(createProviderComposer(call.now), form, messageId);
      return { mails: [mail], response: queued(id) };
    },
  },
};

function queued(id: string): Response {
  return Response.json({ id, message: "Queued. Thank you." });
}

async function readKnownForm(
  call: ProviderRequest,
  known: ReadonlySet<string>,
): Promise<FormFields> {
  const form = await readProviderForm(call);
  for (const name of form.names()) {
    if (known.has(name) || PREFIXES.test(name)) continue;
    throw invalidField(name.slice(0, 200), "is not a known parameter");
  }
  return form;
}

function newMessageId({ params, now }: ProviderRequest): string {
  const domain = canonicalDomain(params["domain"] ?? "");
  if (domain === null) throw new ProviderFault(404, "", `Domain not found: ${params["domain"]}`);
  const time = new Date(now).toISOString().replace(/\D/g, "").slice(0, 14);
  return `<${time}.${randomBase62(16)}@${domain}>`;
}

type Message = ReturnType<typeof readMessage>;

function readMessage(form: FormFields, call: ProviderRequest) {
  const headers = namedWith(form, "h:");
  const isReplyTo = ([name]: readonly [string, string]) => /^reply-to$/i.test(name);
  const message = {
    from: readMailbox("from", form.text("from") ?? missing("from")),
    to: mailboxesOf(form, "to"),
    cc: mailboxesOf(form, "cc"),
    bcc: mailboxesOf(form, "bcc"),
    replyTo: headers.filter(isReplyTo).flatMap(([, text]) => readMailboxes("h:Reply-To", text)),
    ...contentOf(form),
    headers: [...headers.filter((header) => !isReplyTo(header)), ...shownOf(form)],
    attachments: attachmentsOf(form),
  };
  if (message.to.length === 0) throw missing("to");
  const own = headers.find(([name]) => /^message-id$/i.test(name))?.[1];
  return { ...message, messageId: own ?? newMessageId(call) };
}

function missing(field: string): never {
  throw invalidField(field, "parameter is missing");
}

function contentOf(form: FormFields) {
  const template = form.text("template");
  const subject = form.text("subject") ?? "";
  const [text, html] = [form.text("text") ?? "", form.text("html") ?? ""];
  if (template !== null) {
    const data = form.text("t:variables");
    const variables = data === null ? {} : parseJsonText(data, "t:variables");
    const placeholder = templatePlaceholder("Mailgun", template, variables);
    return {
      subject: subject === "" ? placeholder.subject : subject,
      text: text === "" ? placeholder.text : text,
      html,
    };
  }
  const hasContent = text !== "" || html !== "" || form.files("attachment").length > 0;
  if (!hasContent) throw invalidField("text", "is required without html, attachment or template");
  return { subject, text, html };
}

function attachmentsOf(form: FormFields): Attachment[] {
  const amp = form.text("amp-html");
  const files = (field: "attachment" | "inline") =>
    form.files(field).map(({ name, type, content }) =>
      attachmentOf({
        filename: name,
        content,
        type,
        // Mailgun's content id of an inline file is its name.
        contentId: field === "inline" ? name.replaceAll(/[^!-;=?-~]/g, "_") : null,
        isInline: field === "inline",
      }),
    );
  const list = [...files("attachment"), ...files("inline")];
  if (amp === null) return list;
  const ampFile = attachmentOf({
    filename: "amp.html",
    content: Buffer.from(amp),
    type: "text/x-amp-html",
    contentId: null,
    isInline: false,
  });
  return [...list, ampFile];
}

/** A message for each recipient if there are variables for recipients, otherwise one for all. */
function batchOf(form: FormFields, message: Message): Message[] {
  const text = form.text("recipient-variables");
  if (text === null) return [message];
  const variables = parseJsonText(text, "recipient-variables");
  if (!isRecord(variables)) throw invalidField("recipient-variables", "must be an object");
  return message.to.map((recipient, i) => {
    const values = variables[recipient.address];
    const replaced = (part: string) => substitute(part, isRecord(values) ? values : {});
    return {
      ...message,
      to: [recipient],
      // A header that the caller wrote stays the same in all messages.
      messageId: i === 0 ? message.messageId : message.messageId.replace("@", `.${i}@`),
      subject: replaced(message.subject),
      text: replaced(message.text),
      html: replaced(message.html),
      headers: message.headers.map(([name, value]) => [name, replaced(value)] as const),
    };
  });
}

/** Replaces `%recipient.name%`; a name without a value stays as it is. */
function substitute(text: string, values: Readonly<Record<string, unknown>>): string {
  let added = 0;
  return text.replaceAll(/%recipient\.([^%\s]{1,100})%/g, (word, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined || value === null) return word;
    const written = typeof value === "string" ? value : JSON.stringify(value);
    added += written.length;
    if (added > MAX_SUBSTITUTED_CHARACTERS) {
      const field = "recipient-variables";
      throw new ProviderFault(413, field, `${field}: make a text of more than 36 MiB`);
    }
    return written;
  });
}

function composeMime(
  composer: ProviderComposer,
  form: FormFields,
  messageId: string,
): { mail: CaughtMail; id: string } {
  const message = form.fileOrText("message")?.content ?? missing("message");
  const head = readMessageHead(message, "message");
  const from = head.from ?? missing("message with a From header");
  const recipients = mailboxesOf(form, "to");
  if (recipients.length === 0) throw missing("to");
  const template = form.text("template");
  const variables = form.text("recipient-variables");
  const shown = [
    ...namedWith(form, "h:"),
    ...shownOf(form),
    ...shownHeaders("X-Mailgun-", { template, "recipient-variables": variables }),
  ];
  const mail = composer.composeRaw({
    from: from.address,
    recipients,
    headers: [
      ...(head.messageId === null ? [`Message-ID: ${messageId}`] : []),
      ...checkedHeaders(shown),
    ],
    message,
  });
  return { mail, id: head.messageId ?? messageId };
}

/** The parameters whose names have a prefix, which is left out: an entry for each value. */
function namedWith(form: FormFields, prefix: string): [name: string, value: string][] {
  return form
    .names()
    .filter((name) => name.startsWith(prefix))
    .flatMap((name) =>
      form.texts(name).map((value): [string, string] => [name.slice(prefix.length), value]),
    );
}

/** The options, the own variables and the template of a message. */
function shownOf(form: FormFields): [name: string, value: string][] {
  const options = namedWith(form, "o:");
  const variables = namedWith(form, "v:");
  const template = [
    ...namedWith(form, "t:").map(([name, value]): [string, string] => [`template-${name}`, value]),
    ...form.texts("template").map((value): [string, string] => ["template", value]),
  ];
  const own = variables.length === 0 ? undefined : Object.fromEntries(variables);
  return [
    ...[...options, ...template].flatMap(([name, value]) =>
      shownHeaders("X-Mailgun-", { [name]: value }),
    ),
    ...shownHeaders("X-Mailgun-", { variables: own }),
  ];
}

function mailboxesOf(form: FormFields, field: "to" | "cc" | "bcc"): SentMailbox[] {
  const list = form.texts(field).flatMap((text) => readMailboxes(field, text));
  if (list.length > MAX_RECIPIENTS) {
    throw invalidField(field, `has more than ${MAX_RECIPIENTS} recipients`);
  }
  return list;
}
