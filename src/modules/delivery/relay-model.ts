/** The relay of a project as the interface shows and takes it. */

import { type Static, Type } from "@sinclair/typebox";
import { RELAY_SECURITIES, RELAY_SIGNERS } from "../../db/schema/projects.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { PATTERN_TEXT } from "../../http/field-messages.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { SmtpConversation } from "../emails/record-model.ts";

const Security = OneOf(RELAY_SECURITIES);
const SignedBy = OneOf(RELAY_SIGNERS);
/** No control characters: they would end a command. */
const LINE = {
  pattern: "^[^\\u0000-\\u001f\\u007f]+$",
  [PATTERN_TEXT]: "must be a single line of text without control characters",
};
const Host = Type.String({
  minLength: 1,
  maxLength: 253,
  pattern: "^([A-Za-z0-9_-]+(\\.[A-Za-z0-9_-]+)*|[0-9A-Fa-f:.]+)$",
  [PATTERN_TEXT]: "must be the name of a server such as smtp.example.com, or an IP address",
});
const Port = Type.Integer({ minimum: 1, maximum: 65_535 });
const Username = Type.String({ minLength: 1, maxLength: 320, ...LINE });
const Password = Type.String({ minLength: 1, maxLength: 1_000, ...LINE });

const TEXTS = {
  host: "The name or the address of its server",
  port: "Default: 465 with TLS, otherwise 587",
  security:
    "STARTTLS: encrypted after the first commands. TLS: from the first octet (RFC 8314). NONE: not at " +
    "all, and then without a user, except on this machine",
  username: "The user name of the account there; null without a login",
  signedBy:
    "SERVER: mail goes there with the DKIM signatures of this server. RELAY: without them, because the " +
    "relay signs. AUTO: as is known of the relay",
};

export const ProjectRelay = named(
  "ProjectRelay",
  described(
    Type.Object({
      id: Type.String(),
      host: Type.String(),
      port: Port,
      security: Security,
      username: Nullable(Type.String()),
      signedBy: SignedBy,
      isSigning: Type.Boolean(),
      problem: Nullable(Type.String()),
      createdAt: Type.String({ format: "date-time" }),
      changedAt: Type.String({ format: "date-time" }),
    }),
    {
      ...TEXTS,
      port: "The port of its server",
      id: "Id of the relay",
      isSigning: "Whether mail goes there without the signatures of this server, because it signs",
      problem: "Why no mail leaves by it at this moment; null if mail leaves",
      createdAt: "When it was set",
      changedAt: "When it was last changed",
    },
  ),
  {
    description: "The relay by which all mail of a project leaves",
    example: {
      id: EXAMPLE.webhookId,
      host: "smtp.example.com",
      port: 587,
      security: "STARTTLS",
      username: "shop",
      signedBy: "AUTO",
      isSigning: false,
      problem: null,
      createdAt: EXAMPLE.createdAt,
      changedAt: EXAMPLE.createdAt,
    },
  },
);
export type ProjectRelay = Static<typeof ProjectRelay>;

const RELAY_FIELDS = {
  port: Type.Optional(Port),
  security: Type.Optional(Security),
  username: Type.Optional(Nullable(Username)),
  password: Type.Optional(Nullable(Password)),
  signedBy: Type.Optional(SignedBy),
};

const INPUT_TEXTS = {
  ...TEXTS,
  security: `${TEXTS.security}. Default: STARTTLS`,
  signedBy: `${TEXTS.signedBy}. Default: AUTO`,
  password: "The password of the user. It is stored sealed, and never shown",
};

const INPUT_EXAMPLE = {
  host: "smtp.example.com",
  username: "shop",
  password: "correct horse battery staple",
};

export const ProjectRelayInput = named(
  "ProjectRelayInput",
  described(Input({ host: Host, ...RELAY_FIELDS }), INPUT_TEXTS),
  { description: "A relay", example: INPUT_EXAMPLE },
);
export type ProjectRelayInput = Static<typeof ProjectRelayInput>;

export const ProjectRelayChange = named(
  "ProjectRelayChange",
  described(Input({ host: Type.Optional(Host), ...RELAY_FIELDS }), {
    ...TEXTS,
    password:
      "The new password. It is needed if the host, the port, the security or the user changes, so that the " +
      "stored one is not sent elsewhere",
  }),
  { description: "Changes of a relay", example: { password: "a new password" } },
);
export type ProjectRelayChange = Static<typeof ProjectRelayChange>;

export const ProjectRelayTest = named(
  "ProjectRelayTest",
  described(
    Type.Object({
      isWorking: Type.Boolean(),
      reason: Nullable(Type.String()),
      fix: Nullable(Type.String()),
      failedStep: Nullable(Type.Integer({ minimum: 0 })),
      isAuthenticated: Type.Boolean(),
      conversation: SmtpConversation,
    }),
    {
      isWorking: "Whether a session was opened, with TLS and the login",
      reason: "Why it failed; null if it worked",
      fix: "What to do about it; null if it worked",
      failedStep: "The number of the step that failed, from 0; null if there is none",
      isAuthenticated: "Whether the relay accepted the user and the password",
      conversation: "What was said, without the password",
    },
  ),
  {
    description: "The result of a test of a relay",
    example: {
      isWorking: false,
      reason: "connect: connection refused (ECONNREFUSED)",
      fix: "check the port: it is usually 587 with STARTTLS, and 465 with TLS from the first byte",
      failedStep: 0,
      isAuthenticated: false,
      conversation: {
        host: "smtp.example.com",
        address: "192.0.2.25",
        port: 587,
        tls: null,
        reused: false,
        steps: [
          {
            step: "connect",
            command: null,
            code: null,
            enhanced: null,
            text: "connection refused (ECONNREFUSED)",
            ms: 12,
          },
        ],
      },
    },
  },
);
export type ProjectRelayTest = Static<typeof ProjectRelayTest>;
