/** The rules of an inbox that make SMTP fail in a defined way. */

import { type Static, Type } from "@sinclair/typebox";
import { INBOX_STAGES } from "../../../db/schema/inboxes.ts";
import { Nullable } from "../../../http/envelope.ts";
import { Input, isRecord, OneOf, withChecks } from "../../../http/validation.ts";
import type { FieldError } from "../../../lib/errors.ts";

export type RuleStage = (typeof INBOX_STAGES)[number];

/** A reply code, an optional enhanced status code of the same class (RFC 3463 §2), and a text. */
const REPLY = /^([45])\d\d (?:\1\.\d{1,3}\.\d{1,3} )?(?!\d\.\d)[\x20-\x7e]{1,400}$/;
/** A delay must be shorter than the patience of SMTP clients (RFC 5321 §4.5.3.2). */
const MAX_DELAY_MS = 120_000;

const Pattern = Type.String({
  minLength: 1,
  maxLength: 320,
  description: "The whole value, without regard to case; * stands for any characters",
});

const Match = Input({
  from: Type.Optional(Pattern),
  to: Type.Optional(Pattern),
  subject: Type.Optional(Pattern),
  user: Type.Optional(Pattern),
  ip: Type.Optional(Pattern),
});
type Match = Static<typeof Match>;

const Action = Input({
  reply: Type.Optional(
    Type.String({ maxLength: 420, description: "Such as: 451 4.7.1 Try again later" }),
  ),
  delayMs: Type.Optional(Type.Integer({ minimum: 1, maximum: MAX_DELAY_MS })),
  disconnect: Type.Optional(Type.Literal(true)),
});

const members = {
  match: Type.Optional(Match),
  stage: OneOf(INBOX_STAGES),
  action: Action,
  times: Type.Optional(
    Type.Integer({ minimum: 1, maximum: 1_000_000, description: "How often the rule fires" }),
  ),
  probability: Type.Optional(
    Type.Number({ minimum: 0, maximum: 1, description: "Share of cases in which it fires" }),
  ),
};
const fields = Input(members);

export const RuleInput = withChecks(fields, (value) => [
  ...matchErrors(value),
  ...actionErrors(value),
]);
export type RuleInput = Static<typeof fields>;

export const Rule = Type.Object({
  id: Type.String(),
  ...members,
  match: Match,
  fired: Type.Integer({ description: "How often the rule has fired" }),
  remaining: Nullable(Type.Integer({ description: "How often it may still fire" })),
  createdAt: Type.String({ format: "date-time" }),
});
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
