/** Reads the config of one step by its type, strictly; members that are not known are dropped. */

import { normalizedAddress } from "../../../http/formats.ts";
import { isRecord } from "../../../http/validation.ts";
import { type FieldError, REQUIRED } from "../../../lib/errors.ts";
import { trimmedEventName } from "../../../lib/event-name.ts";
import { readCondition } from "./config-condition.ts";
import { readWebhook } from "./config-webhook.ts";
import { hasPlaceholder } from "../../../render/template/foreign-literals.ts";
import { readSplit, readTimeWindow } from "./config-routing.ts";
import { readTrigger } from "./config-trigger.ts";
import type { Step, StepType } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import {
  DelayConfig,
  ExitConfig,
  SendEmailConfig,
  UpdateContactConfig,
  WaitForEventConfig,
} from "./step-schemas.ts";

export type Head = Pick<Step, "id" | "type" | "name" | "position">;

type Config<T extends StepType> = Extract<Step, { type: T }>["config"];

const AT = "config";
const LONGEST_DELAY_DAYS = 365;
const UNITS_A_DAY = { minutes: 24 * 60, hours: 24, days: 1 } as const;
const LONGEST_UPDATES_BYTES = 64 * 1024;

/** Returns the step; null if its config is invalid, with the violations of `config.…` in `errors`. */
export function readStep(head: Head, given: unknown, errors: FieldError[]): Step | null {
  if (!isRecord(given)) {
    if (head.type === "EXIT" && (given ?? null) === null) return exit(head, {});
    const isMissing = given === undefined;
    const message = isMissing ? REQUIRED : "must be an object";
    errors.push({ field: AT, message, code: isMissing ? "required" : "invalid_type" });
    return null;
  }
  switch (head.type) {
    case "TRIGGER": {
      const config = readTrigger(given, AT, errors);
      return config && { ...head, type: head.type, config };
    }
    case "SEND_EMAIL": {
      const config = readSendEmail(given, errors);
      return config && { ...head, type: head.type, config };
    }
    case "DELAY": {
      const config = readDelay(given, errors);
      return config && { ...head, type: head.type, config };
    }
    case "WAIT_FOR_EVENT": {
      if (!readShape(WaitForEventConfig, given, AT, errors)) return null;
      const { timeout = null } = given;
      const eventName = trimmedEventName(given.eventName);
      const config = { eventName, ...(timeout === null ? {} : { timeout }) };
      return { ...head, type: head.type, config };
    }
    case "CONDITION": {
      const config = readCondition(given, AT, errors);
      return config && { ...head, type: head.type, config };
    }
    case "TIME_WINDOW": {
      const config = readTimeWindow(given, AT, errors);
      return config && { ...head, type: head.type, config };
    }
    case "SPLIT": {
      const config = readSplit(given, AT, errors);
      return config && { ...head, type: head.type, config };
    }
    case "WEBHOOK": {
      const config = readWebhook(given, AT, errors);
      return config && { ...head, type: head.type, config };
    }
    case "UPDATE_CONTACT": {
      const config = readUpdate(given, errors);
      return config && { ...head, type: head.type, config };
    }
    case "EXIT":
      return readShape(ExitConfig, given, AT, errors) ? exit(head, given) : null;
  }
}

function exit(head: Head, { reason = null }: { reason?: string | null }): Step {
  return { ...head, type: "EXIT", config: reason === null ? {} : { reason } };
}

function readSendEmail(given: unknown, errors: FieldError[]): Config<"SEND_EMAIL"> | null {
  if (!readShape(SendEmailConfig, given, AT, errors)) return null;
  const { templateId } = given;
  const { type = null, email = null } = given.recipient ?? {};
  if (type === null) return { templateId };
  if (type === "CONTACT") return { templateId, recipient: { type } };
  if (email === null) {
    const message = "is required for a CUSTOM recipient";
    errors.push({ field: `${AT}.recipient.email`, message, code: "required" });
    return null;
  }
  return { templateId, recipient: { type, email: normalizedAddress(email) } };
}

function readDelay(given: unknown, errors: FieldError[]): Config<"DELAY"> | null {
  if (!readShape(DelayConfig, given, AT, errors)) return null;
  const { amount, unit } = given;
  if (amount <= LONGEST_DELAY_DAYS * UNITS_A_DAY[unit]) return { amount, unit };
  const message = `must make a delay of at most ${LONGEST_DELAY_DAYS} days`;
  errors.push({ field: `${AT}.amount`, message, code: "too_big" });
  return null;
}

function readUpdate(given: unknown, errors: FieldError[]): Config<"UPDATE_CONTACT"> | null {
  if (!readShape(UpdateContactConfig, given, AT, errors)) return null;
  const updates = given.updates ?? {};
  const subscriptionAction = given.subscriptionAction ?? null;
  const hasUpdates = Object.keys(updates).length > 0;
  if (!hasUpdates && subscriptionAction === null) {
    const message = "is required if no subscriptionAction is given";
    errors.push({ field: `${AT}.updates`, message, code: "required" });
    return null;
  }
  if (Buffer.byteLength(JSON.stringify(updates)) > LONGEST_UPDATES_BYTES) {
    const message = "must take at most 64 KiB as JSON";
    errors.push({ field: `${AT}.updates`, message, code: "too_big" });
    return null;
  }
  const faults = placeholderErrors(updates, `${AT}.updates`);
  if (faults.length > 0) {
    errors.push(...faults);
    return null;
  }
  return {
    ...(hasUpdates ? { updates } : {}),
    ...(subscriptionAction === null ? {} : { subscriptionAction }),
  };
}

/** The recursion is bounded: requests nest at most 100 levels. */
function placeholderErrors(value: unknown, field: string): FieldError[] {
  if (typeof value === "string" && hasPlaceholder(value)) {
    const message =
      "must not contain {{ }}, {% %} or another placeholder: the value is stored as it is";
    return [{ field, message, code: "invalid_format" }];
  }
  if (typeof value !== "object" || value === null) return [];
  const entries = Object.entries(value);
  return entries.flatMap(([name, inner]) => placeholderErrors(inner, `${field}.${name}`));
}
