/** The shapes of inboxes on the HTTP interface. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { Input } from "../../http/validation.ts";

const Time = Type.String({ format: "date-time" });
/** Id in the examples of the OpenAPI document. */
const INBOX_ID = "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0e";

export const Inbox = named(
  "Inbox",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      username: Type.String(),
      password: Type.String(),
      addressSuffix: Type.String(),
      total: Type.Integer(),
      unread: Type.Integer(),
      activeRules: Type.Integer(),
      expiresAt: Nullable(Time),
      createdAt: Time,
    }),
    {
      id: "Id of the inbox",
      name: "Its name, unique in the project",
      username: "User of SMTP AUTH and of HTTP Basic: the inbox's id",
      password: "Password of SMTP AUTH and of HTTP Basic; (hidden) for who may only read",
      addressSuffix: "Mail to any address with this ending arrives in the inbox, without AUTH",
      total: "Number of messages",
      unread: "Number of messages that are not read",
      activeRules: "Number of failure rules that may still fire",
      expiresAt: "When the inbox is deleted; null if it stays",
      createdAt: "When the inbox was created",
    },
  ),
  {
    description: "A place for mail that is caught instead of sent",
    example: {
      id: INBOX_ID,
      name: "signup-test",
      username: INBOX_ID,
      password: "kq3mJmVwC0y6Zr8QvB1xTn5e",
      addressSuffix: `@${INBOX_ID}.inbox.test`,
      total: 0,
      unread: 0,
      activeRules: 0,
      expiresAt: null,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type Inbox = Static<typeof Inbox>;

export const InboxInput = named(
  "InboxInput",
  described(
    Input({
      name: Type.String({
        minLength: 1,
        maxLength: 100,
        pattern: "^[A-Za-z0-9][A-Za-z0-9._-]*$",
        [PATTERN_TEXT]:
          "must have letters, digits, dots, hyphens and underscores, first a letter or digit",
      }),
      ttlSeconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 31_536_000 })),
    }),
    {
      name: "Letters, digits, dots, hyphens and underscores; unique in the project",
      ttlSeconds: "The inbox and its messages are deleted after this time",
    },
  ),
  { description: "An inbox to create", example: { name: "signup-test", ttlSeconds: 3600 } },
);
