/** POST /v2/email/outbound-emails of Amazon SES: SendEmail of its interface version 2. */

import { type Static, Type } from "@sinclair/typebox";
import { newId } from "../../../lib/id.ts";
import { addressLine } from "../../../protocols/mime/header-lines.ts";
import { messageDate } from "../../../protocols/mime/message.ts";
import type { SentMailbox } from "../mailpit/compose.ts";
import { type CaughtMail, createProviderComposer } from "./compose-mail.ts";
import { readAccessKeyId } from "./keys.ts";
import {
  attachmentOf,
  checkValue,
  NO_OTHER_FIELDS,
  invalidField,
  nullable,
  parseJsonText,
  type Provider,
  ProviderFault,
  readBase64,
  readJson,
  readMailbox,
  shownHeaders,
  templatePlaceholder,
} from "./provider.ts";
import { checkedHeaders, readMessageHead } from "./raw-mail.ts";

const Text = nullable(Type.String());
const Addresses = nullable(Type.Array(Type.String(), { maxItems: 50 }));
const Body = Type.Object({ Data: Type.String(), Charset: Text }, NO_OTHER_FIELDS);
/** A header of the message, or a tag. */
const Pair = Type.Object({ Name: Type.String(), Value: Type.String() }, NO_OTHER_FIELDS);
const Headers = nullable(Type.Array(Pair, { maxItems: 100 }));
const SesFile = Type.Object(
  {
    RawContent: Type.String(),
    FileName: Type.String(),
    ContentType: Text,
    ContentDisposition: nullable(Type.Union([Type.Literal("ATTACHMENT"), Type.Literal("INLINE")])),
    ContentDescription: Text,
    ContentId: Text,
    ContentTransferEncoding: Text,
  },
  NO_OTHER_FIELDS,
);
const Attachments = nullable(Type.Array(SesFile, { maxItems: 1000 }));
const Simple = Type.Object(
  {
    Subject: Body,
    Body: Type.Object({ Text: nullable(Body), Html: nullable(Body) }, NO_OTHER_FIELDS),
    Headers,
    Attachments,
  },
  NO_OTHER_FIELDS,
);
const Template = Type.Object(
  {
    TemplateName: Text,
    TemplateArn: Text,
    TemplateContent: nullable(Type.Object({ Subject: Text, Text, Html: Text }, NO_OTHER_FIELDS)),
    TemplateData: Text,
    Headers,
    Attachments,
  },
  NO_OTHER_FIELDS,
);

export const SesSend = Type.Object(
  {
    FromEmailAddress: Text,
    FromEmailAddressIdentityArn: Text,
    Destination: nullable(
      Type.Object(
        { ToAddresses: Addresses, CcAddresses: Addresses, BccAddresses: Addresses },
        NO_OTHER_FIELDS,
      ),
    ),
    ReplyToAddresses: Addresses,
    FeedbackForwardingEmailAddress: Text,
    FeedbackForwardingEmailAddressIdentityArn: Text,
    Content: Type.Object(
      {
        Simple: nullable(Simple),
        Raw: nullable(Type.Object({ Data: Type.String({ minLength: 1 }) }, NO_OTHER_FIELDS)),
        Template: nullable(Template),
      },
      NO_OTHER_FIELDS,
    ),
    EmailTags: nullable(Type.Array(Pair, { maxItems: 50 })),
    ConfigurationSetName: Text,
    EndpointId: Text,
    TenantName: Text,
    ConfigurationOverrides: nullable(Type.Record(Type.String(), Type.Unknown())),
    ListManagementOptions: nullable(
      Type.Object({ ContactListName: Type.String(), TopicName: Text }, NO_OTHER_FIELDS),
    ),
  },
  NO_OTHER_FIELDS,
);
type SesSend = Static<typeof SesSend>;
type Destination = NonNullable<SesSend["Destination"]>;

export const MISSING_KEY = "Missing Authentication Token";

export const sesJson: Provider = {
  readKey: readAccessKeyId,
  missingKey: MISSING_KEY,

  async receive({ request, body, now }) {
    const send = checkValue(SesSend, readJson(body));
    const { mail, id } = composeSes(send, { now, region: regionOf(request) });
    return { mails: [mail], response: Response.json({ MessageId: id }) };
  },

  refuse({ status, message, headers }) {
    const type = errorTypeOf(status);
    return Response.json(
      { message },
      { status: type.status, headers: { ...headers, "x-amzn-ErrorType": type.name } },
    );
  },
};

/** The exceptions that SDKs know. */
function errorTypeOf(status: number): { status: number; name: string } {
  if (status === 401) return { status: 403, name: "MissingAuthenticationTokenException" };
  if (status === 403) return { status: 403, name: "AccessDeniedException" };
  if (status === 413) return { status: 400, name: "LimitExceededException" };
  if (status >= 500) return { status, name: "ServiceUnavailableException" };
  return { status: 400, name: "BadRequestException" };
}

/** The region in the scope of the signature: it is a part of the Message-ID. */
export function regionOf({ headers }: Request): string {
  const scope = /Credential=[^/,\s]{1,1000}\/\d{8}\/([a-z0-9-]{1,50})\//;
  return scope.exec((headers.get("authorization") ?? "").slice(0, 2_000))?.[1] ?? "us-east-1";
}

export function composeSes(
  send: SesSend,
  { now, region }: { now: number; region: string },
): { mail: CaughtMail; id: string } {
  const { Simple: simple, Raw: raw, Template: template } = send.Content;
  const given = [simple, raw, template].filter((each) => (each ?? null) !== null);
  if (given.length !== 1) {
    throw invalidField("Content", "must have exactly one of Simple, Raw and Template");
  }
  const id = `${newId(now)}-000000`;
  const host = region === "us-east-1" ? "email" : region;
  const messageId = `<${id}@${host}.amazonses.com>`;
  const mail =
    raw !== undefined && raw !== null
      ? composeRaw(send, raw.Data, { now, messageId })
      : composeContent(send, simple ?? templateContent(template ?? {}), { now, messageId });
  return { mail, id };
}

type Identity = { now: number; messageId: string };
type Content = Static<typeof Simple> & { shown?: Record<string, unknown> };

function composeContent(send: SesSend, content: Content, { now, messageId }: Identity): CaughtMail {
  const { ToAddresses, CcAddresses, BccAddresses } = send.Destination ?? {};
  const from = send.FromEmailAddress ?? "";
  if (from === "") throw invalidField("FromEmailAddress", "is required");
  const text = content.Body.Text?.Data ?? "";
  const html = content.Body.Html?.Data ?? "";
  const kind = content.shown === undefined ? "Simple" : "Template";
  if (text === "" && html === "")
    throw invalidField("Content.Simple.Body", "has no text and no HTML");
  return createProviderComposer(now).compose({
    from: readMailbox("FromEmailAddress", from),
    to: mailboxesOf("Destination.ToAddresses", ToAddresses),
    cc: mailboxesOf("Destination.CcAddresses", CcAddresses),
    bcc: mailboxesOf("Destination.BccAddresses", BccAddresses),
    replyTo: mailboxesOf("ReplyToAddresses", send.ReplyToAddresses),
    subject: content.Subject.Data,
    text,
    html,
    headers: [
      ...(content.Headers ?? []).map(({ Name, Value }): [string, string] => [Name, Value]),
      ...shownHeaders("X-SES-", { ...shownOf(send), ...content.shown }),
    ],
    attachments: (content.Attachments ?? []).map((file, i) =>
      fileOf(file, `Content.${kind}.Attachments.${i}`),
    ),
    messageId,
  });
}

function fileOf(file: Static<typeof SesFile>, path: string) {
  if ((file.ContentDescription ?? "") !== "") {
    throw invalidField(`${path}.ContentDescription`, "is not supported");
  }
  const contentId = file.ContentId?.replace(/^<(.*)>$/, "$1");
  return attachmentOf({
    filename: file.FileName,
    content: readBase64(`${path}.RawContent`, file.RawContent),
    type: file.ContentType,
    contentId,
    isInline: file.ContentDisposition === "INLINE",
  });
}

/**
 * The content of a call with a template. SES renders Handlebars; a template in the call is shown as its
 * source.
 */
function templateContent(template: Static<typeof Template>): Content {
  const { TemplateName, TemplateArn, TemplateContent, TemplateData, Headers, Attachments } =
    template;
  const name = TemplateName ?? TemplateArn ?? "";
  const data = TemplateData ?? "{}";
  const parsed = parseJsonText(data, "Content.Template.TemplateData");
  const shown = { TemplateName, TemplateArn, TemplateData: data };
  const common = { Headers: Headers ?? null, Attachments: Attachments ?? null, shown };
  if (TemplateContent !== undefined && TemplateContent !== null) {
    const { Subject, Text, Html } = TemplateContent;
    const Body = { Text: { Data: Text ?? "" }, Html: { Data: Html ?? "" } };
    return { ...common, Subject: { Data: Subject ?? "" }, Body };
  }
  if (name === "") throw invalidField("Content.Template.TemplateName", "is required");
  const { subject, text } = templatePlaceholder("Amazon SES", name, parsed);
  return { ...common, Subject: { Data: subject }, Body: { Text: { Data: text } } };
}

/** The message of the caller, for the recipients of the call, or for those of the header. */
function composeRaw(send: SesSend, data: string, { now, messageId }: Identity): CaughtMail {
  const message = readBase64("Content.Raw.Data", data);
  const head = readMessageHead(message, "Content.Raw.Data");
  const given = send.FromEmailAddress ?? "";
  const sender = given === "" ? null : readMailbox("FromEmailAddress", given);
  const from = head.from ?? sender;
  if (from === null) throw invalidField("Content.Raw.Data", "has no From");
  const named = destinationsOf(send.Destination ?? {});
  const recipients = named.length > 0 ? named : head.recipients();
  if (recipients.length === 0) throw new ProviderFault(400, "", "Missing required header 'To'.");
  const replyTo = send.ReplyToAddresses?.join(", ");
  return createProviderComposer(now).composeRaw({
    from: (sender ?? from).address,
    recipients,
    headers: [
      ...(head.from === null && sender !== null ? [addressLine("From", sender)] : []),
      ...(head.messageId === null
        ? [`Message-ID: ${messageId}`]
        : [`X-SES-Message-ID: ${messageId}`]),
      ...(head.hasDate ? [] : [`Date: ${messageDate(new Date(now))}`]),
      ...checkedHeaders(shownHeaders("X-SES-", { ...shownOf(send), replyTo })),
    ],
    message,
  });
}

function destinationsOf({ ToAddresses, CcAddresses, BccAddresses }: Destination): SentMailbox[] {
  return [
    ...mailboxesOf("Destination.ToAddresses", ToAddresses),
    ...mailboxesOf("Destination.CcAddresses", CcAddresses),
    ...mailboxesOf("Destination.BccAddresses", BccAddresses),
  ];
}

function mailboxesOf(field: string, list: readonly string[] | null | undefined): SentMailbox[] {
  return (list ?? []).map((text, i) => readMailbox(`${field}.${i}`, text));
}

/** The fields that do not change the message. */
function shownOf(send: SesSend): Record<string, unknown> {
  const { EmailTags, ListManagementOptions, ConfigurationSetName, EndpointId, TenantName } = send;
  const tags = (EmailTags ?? []).map(({ Name, Value }) => `${Name}=${Value}`).join(", ");
  return {
    ConfigurationSetName,
    EndpointId,
    TenantName,
    MessageTags: tags === "" ? undefined : tags,
    ConfigurationOverrides: send.ConfigurationOverrides,
    ListManagementOptions,
    FromEmailAddressIdentityArn: send.FromEmailAddressIdentityArn,
    FeedbackForwardingEmailAddress: send.FeedbackForwardingEmailAddress,
    FeedbackForwardingEmailAddressIdentityArn: send.FeedbackForwardingEmailAddressIdentityArn,
  };
}
