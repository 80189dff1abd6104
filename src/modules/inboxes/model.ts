/** The shapes of inboxes and their messages on the HTTP interface. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { Input, withChecks } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";

const Time = Type.String({ format: "date-time" });
export const LONGEST_QUERY = 2_000;
const MAX_IDS = 1_000;

export const MessageParams = Type.Object({ id: Type.String(), messageId: Type.String() });
export const PartParams = Type.Object({
  id: Type.String(),
  messageId: Type.String(),
  partId: Type.String(),
});

export const Inbox = Type.Object({
  id: Type.String(),
  name: Type.String(),
  username: Type.String({ description: "User of SMTP AUTH and of HTTP Basic: the inbox's id" }),
  password: Type.String({ description: "Password of SMTP AUTH and of HTTP Basic" }),
  addressSuffix: Type.String({
    description: "Mail to any address with this ending arrives in the inbox, without AUTH",
  }),
  total: Type.Integer(),
  unread: Type.Integer(),
  expiresAt: Nullable(Time),
  createdAt: Time,
});
export type Inbox = Static<typeof Inbox>;

export const InboxInput = Input({
  name: Type.String({
    minLength: 1,
    maxLength: 100,
    pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
    description: "Letters, digits, dots, hyphens and underscores; unique in the project",
  }),
  ttlSeconds: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 31_536_000,
      description: "The inbox and its messages are deleted after this time",
    }),
  ),
});

const Mailbox = Type.Object({ name: Type.String(), address: Type.String() });

const messageMembers = {
  id: Type.String(),
  messageId: Type.String({ description: "Message-ID header without angle brackets" }),
  from: Nullable(Mailbox),
  to: Type.Array(Mailbox),
  cc: Type.Array(Mailbox),
  bcc: Type.Array(Mailbox, { description: "Also recipients of the envelope that no header names" }),
  replyTo: Type.Array(Mailbox),
  subject: Type.String(),
  snippet: Type.String(),
  date: Nullable(Type.String({ format: "date-time", description: "Time of the Date header" })),
  receivedAt: Time,
  size: Type.Integer({ description: "Bytes of the raw message" }),
  attachments: Type.Integer(),
  inlines: Type.Integer(),
  read: Type.Boolean(),
  pinned: Type.Boolean({ description: "Pinned messages are not removed by retention" }),
  tags: Type.Array(Type.String()),
  username: Type.String({ description: "User of SMTP AUTH; empty if there was none" }),
  emailId: Nullable(Type.String({ description: "Email record of mail that was sent over HTTP" })),
  envelope: Type.Object({
    from: Type.String(),
    to: Type.Array(Type.String()),
    peer: Type.String(),
    helo: Type.String(),
    tls: Nullable(Type.String()),
    sessionId: Nullable(Type.String()),
    bareLf: Type.Boolean({ description: "Lines ended with LF alone, which became CRLF" }),
  }),
  parseError: Nullable(Type.String({ description: "Why the message could not be parsed" })),
};
export const Message = Type.Object(messageMembers);
export type Message = Static<typeof Message>;

const MessagePart = Type.Object({
  partId: Type.String(),
  filename: Type.String(),
  contentType: Type.String(),
  contentId: Type.String(),
  inline: Type.Boolean(),
  size: Type.Integer(),
  sha256: Type.String(),
});

export const MessageDetail = Type.Object({
  ...messageMembers,
  text: Type.String({ description: "The text part; empty if there is none" }),
  html: Type.String({ description: "The HTML part; empty if there is none" }),
  headers: Type.Array(Type.Object({ name: Type.String(), value: Type.String() })),
  parts: Type.Array(MessagePart, { description: "Attachments and inline parts" }),
});
export type MessageDetail = Static<typeof MessageDetail>;

export const HeaderList = Type.Array(Type.Object({ name: Type.String(), value: Type.String() }));

export const MessageQuery = Input({
  ...PageQuery.properties,
  query: Type.Optional(
    Type.String({
      maxLength: LONGEST_QUERY,
      description: 'Search, for instance to:"ada@example.com" subject:welcome is:unread',
    }),
  ),
});

export const MessagePatch = Input({
  read: Type.Optional(Type.Boolean()),
  pinned: Type.Optional(Type.Boolean()),
  tags: Type.Optional(
    Type.Array(Type.String({ minLength: 1, maxLength: 100 }), { maxItems: 50, uniqueItems: true }),
  ),
});
export type MessagePatch = Static<typeof MessagePatch>;

/** Selects messages to delete. Nothing is selected by an empty query or list. */
export const Selection = withChecks(
  Input({
    ids: Type.Optional(
      Type.Array(Type.String({ maxLength: 64 }), { minItems: 1, maxItems: MAX_IDS }),
    ),
    query: Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_QUERY })),
    all: Type.Optional(Type.Literal(true)),
  }),
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

export const Deleted = Type.Object({ deleted: Type.Integer() });
