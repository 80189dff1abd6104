/** What each kind of step does within a change; calls are made outside of one (calls.ts). */

import { AppError } from "../../lib/errors.ts";
import type { JsonObject } from "../contacts/data.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";
import type { ChooseBranch } from "./conditions.ts";
import type { StepResult } from "./engine.ts";
import type { Step } from "./graph.ts";
import type { createSendEmail } from "./send-email.ts";

/** For whom a step is done. */
export type Errand = {
  projectSeq: number;
  executionSeq: number;
  contact: ContactRow;
  context: JsonObject;
  now: number;
};

export type Perform = (step: Step, errand: Errand) => StepResult;

export function createPerform(deps: {
  chooseBranch: ChooseBranch;
  contacts: Pick<Contacts, "upsert">;
  sendEmail: ReturnType<typeof createSendEmail>;
}): Perform {
  function updateContact(
    { config }: Extract<Step, { type: "UPDATE_CONTACT" }>,
    { projectSeq, contact }: Errand,
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
    { projectSeq, contact, context, now }: Errand,
  ): StepResult {
    const subject = { projectSeq, contactSeq: contact.seq, context, now };
    return { outcome: "COMPLETED", branch: deps.chooseBranch(config, subject) };
  }

  function act(step: Step, errand: Errand): StepResult {
    switch (step.type) {
      case "TRIGGER":
        return { outcome: "COMPLETED" };
      case "EXIT":
        return { outcome: "COMPLETED", exit: { reason: step.config.reason ?? null } };
      case "CONDITION":
        return condition(step, errand);
      case "UPDATE_CONTACT":
        return updateContact(step, errand);
      case "SEND_EMAIL":
        return deps.sendEmail(step, errand);
      case "DELAY":
      case "WAIT_FOR_EVENT":
      case "WEBHOOK":
        throw new Error(`a ${step.type} has no turn`);
    }
  }

  return (step, errand) => {
    try {
      return act(step, errand);
    } catch (error) {
      // What a caller would be refused: a segment that is gone, data that grew too large.
      if (error instanceof AppError && error.status < 500) {
        return { outcome: "FAILED", error: error.message };
      }
      throw error;
    }
  };
}
