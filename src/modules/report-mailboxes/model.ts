/** Mailboxes of reports as the interface shows and takes them. */

import { type Static, Type } from "@sinclair/typebox";
import { MAILBOX_PROTOCOLS, MAILBOX_SECURITIES } from "../../db/schema/report-mailboxes.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { Input, OneOf } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });
const Count = Type.Integer({ minimum: 0 });
const Protocol = OneOf(MAILBOX_PROTOCOLS);
const Security = OneOf(MAILBOX_SECURITIES);
/** No control characters: they would end a command. */
const LINE = {
  pattern: "^[^\\u0000-\\u001f\\u007f]+$",
  [PATTERN_TEXT]: "must be a single line of text without control characters",
};
const Host = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: "^([A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+)$",
  [PATTERN_TEXT]: "must be the name of a server such as imap.example.com, or an IP address",
});
const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Name = Type.String({ minLength: 1, maxLength: 100 });
const Username = Type.String({ minLength: 1, maxLength: 320, ...LINE });
const Password = Type.String({ minLength: 1, maxLength: 1_000, ...LINE });
const Folder = Type.String({
  minLength: 1,
  maxLength: 200,
  pattern: "^[ -~]+$",
  [PATTERN_TEXT]: "must be visible ASCII characters and blanks",
});

const TEXTS = {
  name: "Its name; default: the user name",
  protocol: "IMAP if the provider has it, because it leaves all messages where they are",
  security:
    "TLS: encrypted from the first octet (RFC 8314). PLAIN: not at all, so the password can be read on " +
    "the way; for servers on this machine",
  host: "The name or the address of its server",
  port: "Default: 993 (IMAP) or 995 (POP3) with TLS, 143 or 110 without",
  username: "The user name, usually the whole address",
  folder: "IMAP: the folder that is read, in ASCII; POP3 has only INBOX",
};

export const ReportMailbox = named(
  "ReportMailbox",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      protocol: Protocol,
      security: Security,
      host: Type.String(),
      port: Port,
      username: Type.String(),
      folder: Type.String(),
      received: Count,
      counted: Count,
      unknown: Count,
      lastFetchedAt: Nullable(Time),
      failedAt: Nullable(Time),
      failure: Nullable(Type.String()),
      createdAt: Time,
    }),
    {
      ...TEXTS,
      id: "Id of the mailbox",
      received: "Messages that were read",
      counted: "Messages that changed something",
      unknown: "Messages that are no report about a mail of this project",
      lastFetchedAt: "When it was last read; null if it never was",
      failedAt: "When reading it last failed; null if it was read since",
      failure: "Why it failed",
      createdAt: "When it was added",
    },
  ),
  {
    description: "A mailbox in which reports arrive, and from which they are fetched",
    example: {
      id: EXAMPLE.webhookId,
      name: "Bounces",
      protocol: "IMAP",
      security: "TLS",
      host: "imap.example.com",
      port: 993,
      username: "bounces@example.com",
      folder: "INBOX",
      received: 210,
      counted: 190,
      unknown: 12,
      lastFetchedAt: EXAMPLE.createdAt,
      failedAt: null,
      failure: null,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type ReportMailbox = Static<typeof ReportMailbox>;

export const ReportMailboxInput = named(
  "ReportMailboxInput",
  described(
    Input({
      name: Type.Optional(Name),
      protocol: Protocol,
      security: Type.Optional(Security),
      host: Host,
      port: Type.Optional(Port),
      username: Username,
      password: Password,
      folder: Type.Optional(Folder),
    }),
    {
      ...TEXTS,
      security: `${TEXTS.security}. Default: TLS`,
      folder: `${TEXTS.folder}. Default: INBOX`,
      password:
        "The password, or the app password of the provider. It is stored sealed, never shown",
    },
  ),
  {
    description: "A mailbox to read",
    example: {
      protocol: "IMAP",
      host: "imap.example.com",
      username: "bounces@example.com",
      password: "correct horse battery staple",
    },
  },
);
export type ReportMailboxInput = Static<typeof ReportMailboxInput>;

export const ReportMailboxChange = named(
  "ReportMailboxChange",
  described(Input({ name: Type.Optional(Name), password: Type.Optional(Password) }), {
    name: "The new name",
    password: "The new password",
  }),
  { description: "Changes of a mailbox", example: { password: "a new password" } },
);

export const ReportMailboxTest = named(
  "ReportMailboxTest",
  described(
    Type.Object({
      isReached: Type.Boolean(),
      messages: Nullable(Count),
      reason: Nullable(Type.String()),
    }),
    {
      isReached: "Whether the login worked",
      messages: "Messages in the mailbox, or in its folder; null if the login failed",
      reason: "Why it failed; null if it worked",
    },
  ),
  {
    description: "What was seen when logging in to a mailbox",
    example: { isReached: true, messages: 12, reason: null },
  },
);
export type ReportMailboxTest = Static<typeof ReportMailboxTest>;
