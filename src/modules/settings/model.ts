/** The settings of the installation, and the test of a relay, for its owners. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { EmailAddress } from "../../http/formats.ts";
import { Input, OneOf } from "../../http/validation.ts";

const DateTime = Type.String({ format: "date-time" });

const SettingSourceShown = named(
  "SettingSource",
  described(
    Type.Object({
      kind: OneOf(["FLAG", "ENVIRONMENT", "FILE", "DASHBOARD", "DEFAULT"]),
      name: Nullable(Type.String()),
      path: Nullable(Type.String()),
    }),
    {
      kind: "The first of these that has a value counts",
      name: "The flag or the variable; null for DASHBOARD and DEFAULT",
      path: "The file that a variable names; null for other kinds",
    },
  ),
  { description: "Where the value of a setting comes from" },
);

const EXAMPLE_SETTING = {
  name: "send-rate",
  variable: "MAILSTEAD_SEND_RATE",
  subject: "How mail leaves",
  help: "Mails per second that leave; 0 for no limit",
  accepts: "N",
  choices: null,
  value: "50",
  default: "14",
  source: { kind: "DASHBOARD", name: null, path: null },
  effect: "AT_ONCE",
  isSecret: false,
  isPending: false,
  revision: 3,
  updatedAt: EXAMPLE.updatedAt,
  updatedBy: "ada@acme.example",
};

export const InstallationSetting = named(
  "InstallationSetting",
  described(
    Type.Object({
      name: Type.String(),
      variable: Type.String(),
      subject: Type.String(),
      help: Type.String(),
      accepts: Type.String(),
      choices: Nullable(Type.Array(Type.String())),
      value: Nullable(Type.String()),
      default: Type.String(),
      source: SettingSourceShown,
      effect: Nullable(OneOf(["AT_ONCE", "AT_START"])),
      isSecret: Type.Boolean(),
      isPending: Type.Boolean(),
      revision: Type.Integer(),
      updatedAt: Nullable(DateTime),
      updatedBy: Nullable(Type.String()),
    }),
    {
      name: "Name of its flag without the dashes",
      variable: "Its environment variable",
      subject: "The group in which it is listed",
      help: "What it does",
      accepts: "The form of its values",
      choices: "All values, if there are only some; otherwise null",
      value: "The value, with *** instead of a secret; null for the default",
      default: "The default, in words",
      source: "Where the value comes from",
      effect:
        "When a change in the dashboard has an effect; null if it can be given only by a flag, a variable or a file",
      isSecret: "Whether its value contains a secret, which is never shown",
      isPending: "Whether the process uses another value until it starts again",
      revision: "Grows with each change in the dashboard; the header If-Match compares it",
      updatedAt: "When it was changed in the dashboard; null if never",
      updatedBy: "Address of the user who changed it; null if unknown",
    },
  ),
  {
    description: "A setting of the installation",
    example: EXAMPLE_SETTING,
  },
);
export type InstallationSetting = Static<typeof InstallationSetting>;

const RelayView = named(
  "InstallationRelay",
  described(
    Type.Object({
      host: Type.String(),
      port: Type.Integer(),
      tls: OneOf(["starttls", "implicit", "none"]),
      user: Nullable(Type.String()),
      hasPassword: Type.Boolean(),
      sign: Nullable(Type.Boolean()),
    }),
    {
      host: "Its host",
      port: "Its port",
      tls: "starttls: the session is encrypted by STARTTLS; implicit: from the first byte",
      user: "The user of the login; null without a login",
      hasPassword: "Whether a password is stored",
      sign: "False if the relay signs mail by itself; null if the table of known relays decides",
    },
  ),
  { description: "The relay of the installation, without its password" },
);

export const InstallationSettings = named(
  "InstallationSettings",
  described(
    Type.Object({
      settings: Type.Array(InstallationSetting),
      relay: Nullable(RelayView),
      waitingMails: Type.Integer(),
    }),
    {
      settings: "All settings, in the order of docs/configuration.md",
      relay: "The relay of the setting relay-url; null if there is none",
      waitingMails:
        "Mails of all projects that have not left: they leave as the settings say at that time",
    },
  ),
  {
    description: "The settings of the installation",
    example: {
      settings: [EXAMPLE_SETTING],
      relay: {
        host: "smtp.example.com",
        port: 587,
        tls: "starttls",
        user: "apikey",
        hasPassword: true,
        sign: null,
      },
      waitingMails: 0,
    },
  },
);
export type InstallationSettings = Static<typeof InstallationSettings>;

const MAX_TEXT = 2_000;
const text = (maxLength: number) => Type.String({ minLength: 1, maxLength });

export const RelayInput = named(
  "InstallationRelayInput",
  described(
    Input({
      host: text(253),
      port: Type.Integer({ minimum: 1, maximum: 65_535 }),
      tls: OneOf(["starttls", "implicit", "none"]),
      user: Type.Optional(Nullable(text(500))),
      password: Type.Optional(text(500)),
      sign: Type.Optional(Nullable(Type.Boolean())),
    }),
    {
      host: "Its host: a name or an IP address",
      port: "Its port, usually 587 with STARTTLS and 465 with TLS from the first byte",
      tls: "none sends everything in cleartext, and no password except to this machine",
      user: "The user of the login; null or left out without a login",
      password: "The password; if it is left out, the stored one of the same host and user is used",
      sign: "False if the relay signs mail by itself; null or left out to let the table of known relays decide",
    },
  ),
  {
    description: "A relay",
    example: {
      host: "smtp.example.com",
      port: 587,
      tls: "starttls",
      user: "apikey",
      password: "a password of the relay",
    },
  },
);
export type RelayInput = Static<typeof RelayInput>;

export const SettingInput = named(
  "InstallationSettingInput",
  described(Input({ value: Type.Optional(text(MAX_TEXT)), relay: Type.Optional(RelayInput) }), {
    value: "The value, written as for the flag",
    relay: "Instead of it, the parts of the URL, for relay-url",
  }),
  { description: "The new value of a setting", example: { value: "50" } },
);
export type SettingInput = Static<typeof SettingInput>;

export const RelayTestInput = named(
  "RelayTestInput",
  described(Input({ relay: Type.Optional(RelayInput), to: Type.Optional(EmailAddress) }), {
    relay: "The relay to test; the one of the settings if it is left out",
    to: "Address that gets a test mail; without it, no mail is sent",
  }),
  {
    description: "What a test of a relay does",
    example: { relay: { host: "localhost", port: 2525, tls: "none" } },
  },
);
export type RelayTestInput = Static<typeof RelayTestInput>;

const RelayTestStep = named(
  "RelayTestStep",
  described(
    Type.Object({
      step: Type.String(),
      command: Nullable(Type.String()),
      code: Nullable(Type.Integer()),
      enhanced: Nullable(Type.String()),
      text: Type.String(),
      ms: Type.Number(),
      isFailed: Type.Boolean(),
    }),
    {
      step: "The step of the session, such as `ehlo`, `tls` or `auth`",
      command: "The command without secrets; null if nothing was sent",
      code: "The code of the reply; null if there was none",
      enhanced: "The enhanced status code of the reply; null if there was none",
      text: "The text of the reply, or what happened",
      ms: "Milliseconds that the step took",
      isFailed: "Whether the test failed at this step",
    },
  ),
  { description: "A line of the session with the relay" },
);

export const RelayTest = named(
  "RelayTest",
  described(
    Type.Object({
      problem: Nullable(
        described(Type.Object({ step: Type.String(), reason: Type.String(), fix: Type.String() }), {
          step: "The step that failed",
          reason: "What happened, on one line",
          fix: "What to do about it",
        }),
      ),
      steps: Type.Array(RelayTestStep),
      tls: Nullable(Type.String()),
      isAuthenticated: Type.Boolean(),
      mail: Nullable(
        described(
          Type.Object({ from: Type.String(), to: Type.String(), isAccepted: Type.Boolean() }),
          {
            from: "Its sender",
            to: "Its recipient",
            isAccepted: "Whether the relay accepted it",
          },
        ),
      ),
      notes: Type.Array(Type.String()),
    }),
    {
      problem: "Why the test failed; null if everything worked",
      steps: "The session line by line",
      tls: "The version of TLS; null without encryption",
      isAuthenticated: "Whether the login was accepted",
      mail: "The test mail; null if none was wanted",
      notes: "What is known of this relay: who signs, its limits, and what it needs",
    },
  ),
  {
    description: "The result of a test of a relay",
    example: {
      problem: null,
      steps: [
        {
          step: "connect",
          command: null,
          code: null,
          enhanced: null,
          text: "192.0.2.25:587 connected",
          ms: 12.4,
          isFailed: false,
        },
      ],
      tls: "TLSv1.3",
      isAuthenticated: true,
      mail: { from: "hello@acme.example", to: "me@acme.example", isAccepted: true },
      notes: [],
    },
  },
);
export type RelayTest = Static<typeof RelayTest>;
