/**
 * Runs a step within a change. Steps that wait are not run (engine.ts), and the calls of WEBHOOK
 * steps are made outside of any change (webhook-calls.ts).
 */

import { AppError } from "../../../lib/errors.ts";
import type { JsonObject } from "../../contacts/data.ts";
import type { ContactRow, Contacts } from "../../contacts/service.ts";
import type { ChooseBranch } from "./choose-branch.ts";
import type { Postponed, StepResult } from "../run/engine.ts";
import type { Step } from "../graph/graph.ts";
import type { createSendEmail } from "./send-email.ts";

/** The execution and the contact that a step runs for. */
export type StepInput = {
  projectSeq: number;
  executionSeq: number;
  contact: ContactRow;
  context: JsonObject;
  now: number;
};

export type RunStep = (step: Step, input: StepInput) => StepResult | Postponed;

export function createRunStep(deps: {
  chooseBranch: ChooseBranch;
  contacts: Pick<Contacts, "upsert">;
  sendEmail: ReturnType<typeof createSendEmail>;
}): RunStep {
  function updateContact(
    { config }: Extract<Step, { type: "UPDATE_CONTACT" }>,
    { projectSeq, contact }: StepInput,
  ): StepResult {
    const { updates, subscriptionAction } = config;
    deps.contacts.upsert({
      projectSeq,
      email: contact.email,
      subscribed: subscriptionAction === undefined ? undefined : subscriptionAction === "subscribe",
      defaultSubscribed: false,
      data: updates,
    });
    return { outcome: "COMPLETED" };
  }

  function condition(
    { config }: Extract<Step, { type: "CONDITION" }>,
    { projectSeq, contact, context, now }: StepInput,
  ): StepResult {
    const subject = { projectSeq, contactSeq: contact.seq, context, now };
    return { outcome: "COMPLETED", branch: deps.chooseBranch(config, subject) };
  }

  function run(step: Step, input: StepInput): StepResult | Postponed {
    switch (step.type) {
      case "TRIGGER":
        return { outcome: "COMPLETED" };
      case "EXIT":
        return { outcome: "COMPLETED", exit: { reason: step.config.reason ?? null } };
      case "CONDITION":
        return condition(step, input);
      case "UPDATE_CONTACT":
        return updateContact(step, input);
      case "SEND_EMAIL":
        return deps.sendEmail(step, input);
      case "DELAY":
      case "WAIT_FOR_EVENT":
      case "WEBHOOK":
        throw new Error(`a ${step.type} step cannot be run`);
    }
  }

  return (step, input) => {
    try {
      return run(step, input);
    } catch (error) {
      // Errors that a caller of the API would get as well, such as a segment that was deleted.
      if (error instanceof AppError && error.status < 500) {
        return { outcome: "FAILED", error: error.message };
      }
      throw error;
    }
  };
}
