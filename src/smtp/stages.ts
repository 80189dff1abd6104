/** The stages of a session at which the failure rules of an inbox act. */

import type { SMTPServerSession } from "smtp-server";
import type { Clock } from "../lib/clock.ts";
import { SmtpRefusal } from "./server.ts";
import { userOf } from "./session.ts";

export type Stage = "connect" | "auth" | "mail" | "rcpt" | "data" | "dot";

/** The values that a rule compares. */
export type StageFacts = {
  sessionId: string;
  user: string;
  ip: string;
  from?: string;
  /** One recipient at the stage `rcpt`, and all of them later. */
  recipients?: readonly string[];
  /** The beginning of the message, at the stage `dot`. */
  head?: () => Uint8Array;
};

/** The action of a rule. */
export type StageAction =
  | { kind: "reply"; code: number; text: string }
  | { kind: "delay"; ms: number }
  | { kind: "disconnect" };

/** The action of the first rule that matches; null if there is none, at once without rules. */
export type Decide = (stage: Stage, facts: StageFacts) => Promise<StageAction | null> | null;

/** A rule demands that the connection is closed without a reply. */
export class Disconnect extends Error {
  readonly sessionId: string;

  constructor(sessionId: string) {
    super("The connection is closed by a rule.");
    this.sessionId = sessionId;
  }
}

/** Carries out the action of a rule at a stage. Rejects with the refusal that the rule demands. */
export type AtStage = (
  stage: Stage,
  session: SMTPServerSession,
  facts: Partial<StageFacts>,
) => Promise<void> | null;

export function createStages(decide: Decide, clock: Clock): AtStage {
  async function carryOut(action: StageAction | null, session: SMTPServerSession): Promise<void> {
    if (action === null) return;
    if (action.kind === "delay") {
      await new Promise<void>((resolve) => void clock.after(action.ms, resolve));
    } else if (action.kind === "reply") throw new SmtpRefusal(action.code, action.text);
    else throw new Disconnect(session.id);
  }

  return (stage, session, facts) => {
    const { id: sessionId, remoteAddress: ip } = session;
    const decision = decide(stage, { sessionId, user: userOf(session), ip, ...facts });
    return decision === null ? null : decision.then((action) => carryOut(action, session));
  };
}
