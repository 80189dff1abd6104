/** Email records with their attempts, and the filters of their list. */

import { type Static, Type } from "@sinclair/typebox";
import { EMAIL_STATUSES, REPORT_KINDS } from "../../db/schema/emails.ts";
import { TEMPLATE_TYPES } from "../../db/schema/templates.ts";
import { described, describedUse, named } from "../../http/documented.ts";
import { EmailSourceSchema, EmailStatusSchema } from "../../http/email-enums.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, OneOf, QueryBoolean } from "../../http/validation.ts";
import { LONGEST_ADDRESS_TEXT } from "../../protocols/mime/address.ts";
import { TagFilter } from "./tags.ts";

/** The reason why a mail waits, the cause first that holds up the most mails. */
const WAIT_CAUSES = [
  "PROJECT_DISABLED",
  "CAMPAIGN_PAUSED",
  "RELAY_DOWN",
  "RELAY_REFUSES",
  "SITE_PAUSED",
  "RETRY",
  "SCHEDULED",
  "QUEUE",
] as const;

const DateTime = Type.String({ format: "date-time" });
const Moment = Nullable(DateTime);

const Step = named(
  "SmtpStep",
  described(
    Type.Object({
      step: Type.String(),
      command: Nullable(Type.String()),
      code: Nullable(Type.Integer()),
      enhanced: Nullable(Type.String()),
      text: Type.String(),
      ms: Type.Number(),
    }),
    {
      step: "The part of the conversation, such as connect or rcpt",
      command: "The command that was sent; null if none was",
      code: "Status code of the reply; null without a reply",
      enhanced: "Enhanced status code of the reply, such as 5.1.1; null if it has none",
      text: "Text of the reply, or the fault",
      ms: "Duration in milliseconds",
    },
  ),
  { description: "One step of an SMTP conversation" },
);

const TlsSession = named(
  "TlsSession",
  described(
    Type.Object({ version: Type.String(), cipher: Type.String(), verified: Type.Boolean() }),
    {
      version: "Version of TLS",
      cipher: "Name of the cipher suite",
      verified: "Whether the certificate is valid for the host",
    },
  ),
  { description: "The encryption of a connection" },
);

export const SmtpConversation = named(
  "SmtpConversation",
  described(
    Type.Object({
      host: Type.String(),
      address: Nullable(Type.String()),
      port: Type.Integer(),
      tls: Nullable(TlsSession),
      reused: Type.Boolean(),
      steps: Type.Array(Step),
    }),
    {
      host: "Name of the mail server",
      address: "Its IP address; null if it could not be connected to",
      port: "Its port",
      tls: "The encryption; null if the connection was not encrypted",
      reused: "Whether an earlier mail opened the connection",
      steps: "The steps in their order",
    },
  ),
  { description: "The commands and replies of one connection" },
);

const Attempt = named(
  "DeliveryAttempt",
  described(
    Type.Object({
      number: Type.Integer(),
      startedAt: DateTime,
      durationMs: Type.Integer(),
      outcome: OneOf(["accepted", "deferred", "bounced", "failed"]),
      class: Type.String(),
      reason: Nullable(Type.String()),
      conversations: Type.Array(SmtpConversation),
    }),
    {
      number: "Number of the attempt, from 1",
      startedAt: "When the attempt started",
      durationMs: "Its duration in milliseconds",
      outcome: "The end of the attempt; a deferred mail is tried again",
      class: "Class of the reply or fault",
      reason: "The reply or fault in words; null if the mail was accepted",
      conversations: "The conversations with mail servers, in their order",
    },
  ),
  { description: "One try to deliver a mail" },
);
export type Attempt = Static<typeof Attempt>;

const ATTEMPT = {
  number: 1,
  startedAt: EXAMPLE.createdAt,
  durationMs: 120,
  outcome: "accepted",
  class: "accepted",
  reason: null,
  conversations: [
    {
      host: "mx.example.com",
      address: "192.0.2.25",
      port: 25,
      tls: { version: "TLSv1.3", cipher: "TLS_AES_256_GCM_SHA384", verified: true },
      reused: false,
      steps: [
        { step: "data", command: null, code: 250, enhanced: "2.0.0", text: "2.0.0 Ok", ms: 41.5 },
      ],
    },
  ],
};

const Report = named(
  "EmailReport",
  described(
    Type.Object({
      kind: OneOf(REPORT_KINDS),
      receivedAt: DateTime,
      form: Type.String(),
      class: Nullable(Type.String()),
      statusCode: Nullable(Type.String()),
      reason: Type.String(),
      reportingMta: Nullable(Type.String()),
      excerpt: Type.String(),
    }),
    {
      kind:
        "BOUNCE: it could not be delivered; COMPLAINT: its recipient reported it as spam; DELIVERY: " +
        "it was delivered, which was known before the answer of the next server",
      receivedAt: "When the report arrived",
      form:
        "standard, ARF, JMRP, the kind of server whose words were recognised, or webhook and the " +
        "provider that reported it",
      class: "Class of the failure; null if it is no bounce",
      statusCode: "Enhanced status code, such as 5.1.1; null if the report names none",
      reason: "The reason in words; empty once the contact was deleted",
      reportingMta: "The server or program that wrote the report; null if it is not named",
      excerpt: "The part of the report about the failure; empty once the contact was deleted",
    },
  ),
  {
    description:
      "A bounce, a complaint or a delivery that was reported after a mail server had accepted the mail",
  },
);
export type EmailReport = Static<typeof Report>;

const Wait = named(
  "EmailWait",
  described(
    Type.Object({
      cause: OneOf(WAIT_CAUSES),
      name: Nullable(Type.String()),
      reason: Nullable(Type.String()),
      until: Moment,
    }),
    {
      cause:
        "PROJECT_DISABLED, CAMPAIGN_PAUSED; SITE_PAUSED: the mail servers of the recipient take no " +
        "mail; RELAY_DOWN: the relay cannot be reached; RELAY_REFUSES: the relay refuses " +
        "all mail of this account, because of a quota for example; RETRY: the last attempt failed; " +
        "SCHEDULED: its time has not come; QUEUE: it waits for its turn",
      name: "Name of the campaign, the site or the relay; null for the other causes",
      reason: "What the site or the relay said, or why the last attempt failed, in words",
      until: "When the mail is tried next, if nothing else holds it up; null if only people end it",
    },
  ),
  { description: "Why a mail that was accepted was not sent yet" },
);
export type EmailWait = Static<typeof Wait>;

const Addressees = named(
  "EmailAddressees",
  described(Type.Object({ to: Type.Array(Type.String()), cc: Type.Array(Type.String()) }), {
    to: "The addresses in To, with their display names",
    cc: "The addresses in Cc, with their display names",
  }),
  { description: "The recipients that all copies of a message show" },
);

/** An email record (docs/interface.md#send). */
export const Email = named(
  "Email",
  described(
    Type.Object({
      id: Type.String(),
      contactId: Nullable(Type.String()),
      to: Nullable(Type.String()),
      recipientType: Nullable(OneOf(["TO", "CC", "BCC"])),
      addressees: Nullable(Addressees),
      from: Type.String(),
      subject: Type.String(),
      status: EmailStatusSchema,
      source: EmailSourceSchema,
      type: OneOf(TEMPLATE_TYPES),
      templateId: Nullable(Type.String()),
      campaignId: Nullable(Type.String()),
      workflowExecutionId: Nullable(Type.String()),
      messageId: Type.String(),
      tags: Type.Record(Type.String(), Type.String()),
      createdAt: DateTime,
      scheduledAt: Moment,
      sentAt: Moment,
      deliveredAt: Moment,
      openedAt: Moment,
      clickedAt: Moment,
      bouncedAt: Moment,
      complainedAt: Moment,
      lastError: Nullable(Type.String()),
      nextAttemptAt: Moment,
      wait: Nullable(Wait),
      attempts: Type.Array(Attempt),
      reports: Type.Array(Report),
    }),
    {
      id: "Id of the email record",
      contactId: "Id of the contact; null once the contact was deleted",
      to: "Address of the recipient; null once the contact was deleted",
      recipientType:
        "In which field of the request the recipient was named; null for a copy once the contact of " +
        "one of its recipients was deleted and all copies have left",
      addressees:
        "What To and Cc show, if the mail is a copy of a message to several recipients; null for " +
        "other mails, and once the contact of one of them was deleted and all copies have left",
      from: "Address of the sender",
      subject: "The rendered subject",
      status: "Status of the mail",
      source: "Which part of the service sent the mail",
      type: "Whether it is marketing mail; viewers read the content of no other mail",
      templateId: "Id of its template; null if it has none",
      campaignId: "Id of its campaign; null if it belongs to none",
      workflowExecutionId: "Id of the workflow execution that sent it; null if none did",
      messageId: "Value of its header Message-ID",
      tags: "The tags that the request gave it; empty once the contact was deleted",
      createdAt: "When the mail was accepted",
      scheduledAt: "The time for which it was scheduled; null if it was to be sent at once",
      sentAt: "When a mail server accepted it; null before",
      deliveredAt: "When its delivery was confirmed; null before",
      openedAt: "When a person first opened it; null before",
      clickedAt: "When a person first clicked one of its links; null before",
      bouncedAt: "When it was refused for good, or its bounce arrived; null if it did not bounce",
      complainedAt: "When it was reported as spam; null if it was not",
      lastError: "Why the latest attempt failed; null if none failed",
      nextAttemptAt: "When it is due next; null if it will not be tried again",
      wait: "Why it waits; null unless its status is QUEUED",
      attempts: "All tries to deliver it, in their order",
      reports: "Reports that changed it after a mail server had accepted it, in their order",
    },
  ),
  {
    description: "A mail with its status and its attempts",
    example: {
      id: EXAMPLE.emailId,
      contactId: EXAMPLE.contactId,
      to: "ada@example.com",
      recipientType: "TO",
      addressees: null,
      from: "hello@acme.example",
      subject: "Your order 1001",
      status: "SENT",
      source: "TRANSACTIONAL",
      type: "TRANSACTIONAL",
      templateId: null,
      campaignId: null,
      workflowExecutionId: null,
      messageId: `<${EXAMPLE.emailId}@acme.example>`,
      tags: { order: "1001" },
      createdAt: EXAMPLE.createdAt,
      scheduledAt: null,
      sentAt: EXAMPLE.updatedAt,
      deliveredAt: null,
      openedAt: null,
      clickedAt: null,
      bouncedAt: null,
      complainedAt: null,
      lastError: null,
      nextAttemptAt: null,
      wait: null,
      attempts: [ATTEMPT],
      reports: [],
    },
  },
);
export type Email = Static<typeof Email>;

const LONGEST_SUBJECT_TERM = 200;
const AddressFilter = Type.String({ format: "address-filter", maxLength: LONGEST_ADDRESS_TEXT });
const ADDRESS_OR_DOMAIN = "an address, or @ and a domain, such as @example.com";

const EmailStatusFilter = named("EmailStatusFilter", OneOf([...EMAIL_STATUSES, "DEFERRED"]), {
  description: "A status, or DEFERRED: QUEUED, after an attempt that was deferred",
});

export const EmailQuery = Input({
  ...PageQuery.properties,
  status: Type.Optional(describedUse(EmailStatusFilter, "Only mails of this status")),
  ended: Type.Optional(
    describedUse(QueryBoolean(), "Only mails that have ended, or only those that are under way"),
  ),
  source: Type.Optional(describedUse(EmailSourceSchema, "Only mails of this source")),
  contactId: Type.Optional(Type.String({ description: "Only mails to this contact" })),
  campaignId: Type.Optional(Type.String({ description: "Only mails of this campaign" })),
  templateId: Type.Optional(Type.String({ description: "Only mails of this template" })),
  to: Type.Optional(describedUse(AddressFilter, `Recipient: ${ADDRESS_OR_DOMAIN}`)),
  from: Type.Optional(describedUse(AddressFilter, `Sender: ${ADDRESS_OR_DOMAIN}`)),
  subject: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: LONGEST_SUBJECT_TERM,
      description: "Any part of the subject; letter case makes no difference",
    }),
  ),
  tag: Type.Optional(describedUse(TagFilter, "A tag: its name, or name:value, such as order:1001")),
  since: Type.Optional(describedUse(DateTime, "Accepted at this time or later")),
  until: Type.Optional(describedUse(DateTime, "Accepted at this time or earlier")),
});
export type EmailQuery = Static<typeof EmailQuery>;
