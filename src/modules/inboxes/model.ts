/** The shapes of messages in inboxes on the HTTP interface. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";

const Time = Type.String({ format: "date-time" });
export const LONGEST_QUERY = 2_000;
const MAX_IDS = 1_000;
/** Id in the examples of the OpenAPI document. */
const MESSAGE_ID = "3nVqX2cYb8TfKzR5mPw1Ha";

export const MessageParams = Type.Object({ id: Type.String(), messageId: Type.String() });
export const PartParams = Type.Object({
  id: Type.String(),
  messageId: Type.String(),
  partId: Type.String(),
});

const InboxAddress = named(
  "InboxAddress",
  described(Type.Object({ name: Type.String(), address: Type.String() }), {
    name: "Display name; empty if there is none",
    address: "The address",
  }),
  { description: "An address in a header of a message" },
);

const InboxEnvelope = named(
  "InboxEnvelope",
  described(
    Type.Object({
      from: Type.String(),
      to: Type.Array(Type.String()),
      peer: Type.String(),
      helo: Type.String(),
      tls: Nullable(Type.String()),
      sessionId: Nullable(Type.String()),
      bareLf: Type.Boolean(),
    }),
    {
      from: "Address of MAIL FROM; empty for the null sender",
      to: "Addresses of RCPT TO",
      peer: "Address of the client; empty for mail that did not arrive over SMTP",
      helo: "Name in EHLO",
      tls: "Version of TLS; null without TLS",
      sessionId: "The SMTP session; null for mail that did not arrive over SMTP",
      bareLf: "Whether lines ended with LF alone, which became CRLF",
    },
  ),
  { description: "The SMTP envelope of a message" },
);

const messageMembers = {
  id: Type.String(),
  messageId: Type.String(),
  from: Nullable(InboxAddress),
  to: Type.Array(InboxAddress),
  cc: Type.Array(InboxAddress),
  bcc: Type.Array(InboxAddress),
  replyTo: Type.Array(InboxAddress),
  subject: Type.String(),
  snippet: Type.String(),
  date: Nullable(Time),
  receivedAt: Time,
  size: Type.Integer(),
  attachments: Type.Integer(),
  inlines: Type.Integer(),
  read: Type.Boolean(),
  pinned: Type.Boolean(),
  tags: Type.Array(Type.String()),
  username: Type.String(),
  emailId: Nullable(Type.String()),
  envelope: InboxEnvelope,
  parseError: Nullable(Type.String()),
};
const messageTexts = {
  id: "Id of the message",
  messageId: "Message-ID header without angle brackets",
  from: "First address of From; null if there is none",
  to: "Addresses of To",
  cc: "Addresses of Cc",
  bcc: "Addresses of Bcc, and recipients of the envelope that no header names",
  replyTo: "Addresses of Reply-To",
  subject: "The decoded subject",
  snippet: "The beginning of the text",
  date: "Time of the Date header",
  receivedAt: "When the message arrived",
  size: "Bytes of the raw message",
  attachments: "Number of attachments",
  inlines: "Number of inline parts",
  read: "Whether the message is marked as read",
  pinned: "Whether retention leaves the message",
  tags: "Tags of the message, sorted",
  username: "User of SMTP AUTH; empty if there was none",
  emailId: "Email record of mail that was sent over HTTP; null for other mail",
  envelope: "The SMTP envelope",
  parseError: "Why the message could not be parsed; null if it was",
};
const messageExample = {
  id: MESSAGE_ID,
  messageId: "f3a1@shop.example",
  from: { name: "Shop", address: "shop@example.com" },
  to: [{ name: "Ada", address: "ada@example.com" }],
  cc: [],
  bcc: [],
  replyTo: [],
  subject: "Your order 1001",
  snippet: "Thank you, Ada.",
  date: EXAMPLE.createdAt,
  receivedAt: EXAMPLE.updatedAt,
  size: 812,
  attachments: 0,
  inlines: 0,
  read: false,
  pinned: false,
  tags: [],
  username: "",
  emailId: null,
  envelope: {
    from: "shop@example.com",
    to: ["ada@example.com"],
    peer: "127.0.0.1",
    helo: "localhost",
    tls: null,
    sessionId: "rk3j2hdk4jd8",
    bareLf: false,
  },
  parseError: null,
};

export const Message = named("InboxMessage", described(Type.Object(messageMembers), messageTexts), {
  description: "A caught message",
  example: messageExample,
});
export type Message = Static<typeof Message>;

const MessagePart = named(
  "InboxMessagePart",
  described(
    Type.Object({
      partId: Type.String(),
      filename: Type.String(),
      contentType: Type.String(),
      contentId: Type.String(),
      inline: Type.Boolean(),
      size: Type.Integer(),
      sha256: Type.String(),
    }),
    {
      partId: "Id of the part, for …/parts/{partId}",
      filename: "Its name; empty if it has none",
      contentType: "Its media type",
      contentId: "Content-ID, to which the HTML refers; empty if it has none",
      inline: "Whether the part is shown within the message",
      size: "Bytes of the decoded content",
      sha256: "SHA-256 of the decoded content, hexadecimal",
    },
  ),
  { description: "An attachment or inline part" },
);

export const MessageHeader = named(
  "InboxMessageHeader",
  described(Type.Object({ name: Type.String(), value: Type.String() }), {
    name: "Name of the header field",
    value: "Its value, unfolded and not decoded",
  }),
  {
    description: "A header field of a message",
    example: { name: "Subject", value: "Your order 1001" },
  },
);

export const MessageDetail = named(
  "InboxMessageDetail",
  described(
    Type.Object({
      ...messageMembers,
      text: Type.String(),
      html: Type.String(),
      headers: Type.Array(MessageHeader),
      parts: Type.Array(MessagePart),
    }),
    {
      ...messageTexts,
      text: "The text part; empty if there is none",
      html: "The HTML part; empty if there is none",
      headers: "All header fields in their order",
      parts: "Attachments and inline parts",
    },
  ),
  {
    description: "A caught message with its contents",
    example: {
      ...messageExample,
      text: "Thank you, Ada.",
      html: "",
      headers: [{ name: "Subject", value: "Your order 1001" }],
      parts: [],
    },
  },
);
export type MessageDetail = Static<typeof MessageDetail>;

export const MessageQuery = Input({
  ...PageQuery.properties,
  query: Type.Optional(
    Type.String({
      maxLength: LONGEST_QUERY,
      description: 'Search, for instance to:"ada@example.com" subject:welcome is:unread',
    }),
  ),
});

export const MessagePatch = named(
  "InboxMessagePatch",
  described(
    Input({
      read: Type.Optional(Type.Boolean()),
      pinned: Type.Optional(Type.Boolean()),
      tags: Type.Optional(
        Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50 }),
      ),
    }),
    {
      read: "Marks the message as read or unread",
      pinned: "Whether retention is to leave the message",
      tags: "All tags of the message from now on",
    },
  ),
  { description: "What to change of a message", example: { read: true, tags: ["signup"] } },
);
export type MessagePatch = Static<typeof MessagePatch>;

/** Selects messages to delete. Nothing is selected by an empty query or list. */
export const Selection = withChecks(
  named(
    "InboxSelection",
    described(
      Input({
        ids: Type.Optional(
          Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: MAX_IDS }),
        ),
        query: Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_QUERY })),
        all: Type.Optional(Type.Literal(true)),
      }),
      {
        ids: "Ids of messages; unknown ones are ignored",
        query: "A search, as for the list",
        all: "All messages of the inbox",
      },
    ),
    { description: "Messages to delete", example: { ids: [MESSAGE_ID] } },
  ),
  selectionErrors,
);
export type Selection = Static<typeof Selection>;

function selectionErrors(value: Readonly<Record<string, unknown>>): FieldError[] {
  const given = ["ids", "query", "all"].filter((name) => value[name] !== undefined);
  if (typeof value["query"] === "string" && value["query"].trim() === "") {
    return [{ field: "query", message: "must not be empty", code: "too_small" }];
  }
  if (given.length === 1) return [];
  const message = "must have exactly one of ids, query and all";
  return [
    { field: given[1] ?? "", message, code: given.length === 0 ? "required" : "invalid_value" },
  ];
}

export const Deleted = named(
  "InboxDeletion",
  described(Type.Object({ deleted: Type.Integer() }), { deleted: "Number of deleted messages" }),
  { description: "The result of a deletion", example: { deleted: 1 } },
);
