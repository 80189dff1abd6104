/** The rules of an inbox that make SMTP fail in a defined way. */

import { type Static, Type } from "@sinclair/typebox";
import { INBOX_STAGES } from "../../../db/schema/inboxes.ts";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, isRecord, OneOf, withChecks } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";

export type RuleStage = (typeof INBOX_STAGES)[number];

/** A reply code, an optional enhanced status code of the same class (RFC 3463 §2), and a text. */
const REPLY = /^([45])\d\d (?:\1\.\d{1,3}\.\d{1,3} )?(?!\d\.\d)[\x20-\x7e]{1,400}$/;
/** A delay must be shorter than the patience of SMTP clients (RFC 5321 §4.5.3.2). */
const MAX_DELAY_MS = 120_000;

const Pattern = Type.String({ minLength: 1, maxLength: 320 });

const Match = named(
  "InboxRuleMatch",
  described(
    Input({
      from: Type.Optional(Pattern),
      to: Type.Optional(Pattern),
      subject: Type.Optional(Pattern),
      user: Type.Optional(Pattern),
      ip: Type.Optional(Pattern),
    }),
    {
      from: "Address of MAIL FROM; known from the stage mail on",
      to: "A recipient; known from the stage rcpt on",
      subject: "The decoded subject; known at the stage dot",
      user: "User of SMTP AUTH; known from the stage auth on",
      ip: "Address of the client",
    },
  ),
  {
    description:
      "Values that must all match, as a whole and without regard to case; * stands for any characters",
    example: { to: "*@slow.example" },
  },
);

const Action = named(
  "InboxRuleAction",
  described(
    Input({
      reply: Type.Optional(Type.String({ maxLength: 420 })),
      delayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DELAY_MS })),
      disconnect: Type.Optional(Type.Literal(true)),
    }),
    {
      reply: "An SMTP reply with a code of 4xx or 5xx, such as: 451 4.7.1 Try again later",
      delayMs: "Waits so long, and then goes on",
      disconnect: "Closes the connection without a reply",
    },
  ),
  {
    description: "What a rule does: exactly one of reply, delayMs and disconnect",
    example: { reply: "451 4.7.1 Try again later" },
  },
);

const members = {
  match: Type.Optional(Match),
  stage: OneOf(INBOX_STAGES),
  action: Action,
  times: Type.Optional(Type.Integer({ minimum: 1, maximum: 1_000_000 })),
  probability: Type.Optional(Type.Number({ minimum: 0, maximum: 1 })),
};
const texts = {
  match: "What must match; without it, every transaction does",
  stage: "The part of a transaction at which the rule acts",
  action: "What the rule does",
  times: "How often the rule fires; without it, there is no limit",
  probability: "Share of the cases in which it fires, from 0 to 1; default 1",
};
const example = {
  match: { to: "*@slow.example" },
  stage: "rcpt",
  action: { reply: "451 4.7.1 Try again later" },
  times: 2,
};
const fields = described(Input(members), texts);

export const RuleInput = withChecks(
  named("InboxRuleInput", fields, { description: "A failure rule to create", example }),
  (value) => [...matchErrors(value), ...actionErrors(value)],
);
export type RuleInput = Static<typeof fields>;

export const Rule = named(
  "InboxRule",
  described(
    Type.Object({
      id: Type.String(),
      ...members,
      match: Match,
      fired: Type.Integer(),
      remaining: Nullable(Type.Integer()),
      createdAt: Type.String({ format: "date-time" }),
    }),
    {
      ...texts,
      id: "Id of the rule",
      fired: "How often the rule has fired",
      remaining: "How often it may still fire; null for no limit",
      createdAt: "When the rule was created",
    },
  ),
  {
    description: "A failure rule with how often it fired",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e0f",
      ...example,
      fired: 0,
      remaining: 2,
      createdAt: EXAMPLE.createdAt,
    },
  },
);
export type Rule = Static<typeof Rule>;

export const RuleParams = Type.Object({ id: Type.String(), ruleId: Type.String() });

/** The first stage at which a value is known. */
const KNOWN_FROM: Readonly<Record<string, RuleStage>> = {
  user: "auth",
  from: "mail",
  to: "rcpt",
  subject: "dot",
};

/** A rule that compares a value that is not known at its stage would never fire. */
function matchErrors({ match, stage }: Readonly<Record<string, unknown>>): FieldError[] {
  const at = INBOX_STAGES.findIndex((each) => each === stage);
  if (!isRecord(match) || at === -1) return [];
  return Object.entries(KNOWN_FROM)
    .filter(([name, from]) => match[name] !== undefined && at < INBOX_STAGES.indexOf(from))
    .map(([name, from]) => ({
      field: `match.${name}`,
      message: `is not known before the stage ${from}`,
      code: "invalid_value",
    }));
}

function actionErrors({ action }: Readonly<Record<string, unknown>>): FieldError[] {
  if (!isRecord(action)) return [];
  const given = ["reply", "delayMs", "disconnect"].filter((name) => action[name] !== undefined);
  if (given.length !== 1) {
    const message = "must have exactly one of reply, delayMs and disconnect";
    return [{ field: "action", message, code: given.length === 0 ? "required" : "invalid_value" }];
  }
  const { reply } = action;
  if (typeof reply !== "string" || REPLY.test(reply)) return [];
  const message = "must be a reply such as 451 4.7.1 Try again later, with a code of 4xx or 5xx";
  return [{ field: "action.reply", message, code: "invalid_format" }];
}
