/**
 * Chaos: SMTP failures by chance, as Mailpit has them. Each inbox has three triggers in memory; the
 * SMTP listener asks `decide` at the stages auth, mail and rcpt.
 */

import { Type } from "@sinclair/typebox";
import { badRequest, jsonAnswer } from "./answers.ts";
import { validated } from "./body.ts";
import type { MailpitContext, MailpitMessages, MailpitRoute } from "./context.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";

type Trigger = { ErrorCode: number; Probability: number };
type Triggers = { Sender: Trigger; Recipient: Trigger; Authentication: Trigger };

type ChaosReply = { kind: "reply"; code: number; text: string };

const DEFAULTS: Triggers = {
  Sender: { ErrorCode: 451, Probability: 0 },
  Recipient: { ErrorCode: 451, Probability: 0 },
  Authentication: { ErrorCode: 535, Probability: 0 },
};

const BY_STAGE = { mail: "Sender", rcpt: "Recipient", auth: "Authentication" } as const;

const TriggerBody = Type.Optional(
  Type.Union([
    Type.Object({ errorcode: Type.Integer(), probability: Type.Integer() }),
    Type.Null(),
  ]),
);
const Body = Type.Object({
  sender: TriggerBody,
  recipient: TriggerBody,
  authentication: TriggerBody,
});

type Chaos = ReturnType<typeof createChaos>;

export const mailpitChaos = perApp(({ random }: App) => createChaos(random));

function createChaos(random: () => number) {
  const byInbox = new Map<number, Triggers>();

  return {
    /** True if no inbox has a trigger, so that nothing must be decided. */
    isEmpty: (): boolean => byInbox.size === 0,

    get: (inboxSeq: number): Triggers => byInbox.get(inboxSeq) ?? DEFAULTS,

    set(inboxSeq: number, triggers: Triggers): void {
      const isOff = Object.values(triggers).every(({ Probability }) => Probability === 0);
      const isDefault = isOff && JSON.stringify(triggers) === JSON.stringify(DEFAULTS);
      if (isDefault) byInbox.delete(inboxSeq);
      else byInbox.set(inboxSeq, triggers);
    },

    /** The reply of a trigger that fires; null otherwise. */
    decide(inboxSeq: number, stage: string): ChaosReply | null {
      const name =
        stage === "mail" || stage === "rcpt" || stage === "auth" ? BY_STAGE[stage] : null;
      const trigger = name === null ? undefined : byInbox.get(inboxSeq)?.[name];
      if (name === null || trigger === undefined) return null;
      if (random() * 100 >= trigger.Probability) return null;
      const text = `Chaos ${name.toLowerCase()} error`;
      return { kind: "reply", code: trigger.ErrorCode, text };
    },
  };
}

export function mailpitChaosRoutes(chaos: Chaos, messages: MailpitMessages): MailpitRoute[] {
  async function set(context: MailpitContext): Promise<Response> {
    const body = validated(Body, (await messages.jsonOf(context)) ?? {});
    const triggers = {
      Sender: triggerOf(body.sender, DEFAULTS.Sender),
      Recipient: triggerOf(body.recipient, DEFAULTS.Recipient),
      Authentication: triggerOf(body.authentication, DEFAULTS.Authentication),
    };
    chaos.set(context.inbox.seq, triggers);
    return jsonAnswer(triggers);
  }

  return [
    ["GET", "/api/v1/chaos", ({ inbox }) => jsonAnswer(chaos.get(inbox.seq))],
    ["PUT", "/api/v1/chaos", set],
  ];
}

function triggerOf(
  given: { errorcode: number; probability: number } | null | undefined,
  fallback: Trigger,
): Trigger {
  if (given === null || given === undefined) return fallback;
  const { errorcode, probability } = given;
  if (errorcode < 400 || errorcode > 599) throw badRequest("error code must be 400 to 599");
  if (probability < 0 || probability > 100) throw badRequest("probability must be 0 to 100");
  return { ErrorCode: errorcode, Probability: probability };
}
