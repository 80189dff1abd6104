/** Reads triggers and exits strictly; each error names the field of the request. */

import { TRIGGER_TYPES } from "../../../db/schema/workflows.ts";
import { isRecord } from "../../../http/validation.ts";
import { type FieldError, REQUIRED } from "../../../lib/errors.ts";
import { trimmedEventName } from "../../../lib/event-name.ts";
import { zoneName } from "../../../lib/wall-clock.ts";
import { cronProblem } from "../cron.ts";
import type { Exit, TriggerConfig } from "./graph.ts";
import { readShape } from "./read-shape.ts";
import { EXIT_KINDS, EXIT_SCHEMAS, MAX_EXITS, TRIGGER_CONFIGS } from "./step-schemas.ts";

const NO_ZONE = "must be a time zone such as Europe/Berlin";

/** Reads the trigger of a request or the config of a TRIGGER; null with its violations in `errors`. */
export function readTrigger(
  given: unknown,
  at: string,
  errors: FieldError[],
): TriggerConfig | null {
  if (!isRecord(given)) {
    errors.push({ field: at, message: "must be an object", code: "invalid_type" });
    return null;
  }
  const { type = "EVENT" } = given;
  switch (type) {
    case "EVENT":
      if (!readShape(TRIGGER_CONFIGS.EVENT, given, at, errors)) return null;
      return { eventName: trimmedEventName(given.eventName) };
    case "SCHEDULE":
      return readSchedule(given, at, errors);
    case "MANUAL":
      return readShape(TRIGGER_CONFIGS.MANUAL, given, at, errors) ? { type } : null;
    default:
      errors.push(choiceError(`${at}.type`, TRIGGER_TYPES));
      return null;
  }
}

function readSchedule(given: unknown, at: string, errors: FieldError[]): TriggerConfig | null {
  if (!readShape(TRIGGER_CONFIGS.SCHEDULE, given, at, errors)) return null;
  const { type, segmentId = null } = given;
  const cron = given.cron.trim().replaceAll(/\s+/g, " ");
  const timeZone = readZone(given.timeZone, `${at}.timeZone`, errors);
  const problem = cronProblem(cron, timeZone ?? "UTC");
  if (problem !== null)
    errors.push({ field: `${at}.cron`, message: problem, code: "invalid_format" });
  return timeZone === null || problem !== null ? null : { type, cron, timeZone, segmentId };
}

/** The usual name of a zone; null with an error if there is none with this name. */
export function readZone(given: string, field: string, errors: FieldError[]): string | null {
  const name = zoneName(given);
  if (name === null) errors.push({ field, message: NO_ZONE, code: "invalid_value" });
  return name;
}

/** The exits of a request; those with violations are left out, and named in `errors`. */
export function readExits(given: unknown, errors: FieldError[]): Exit[] {
  if (!Array.isArray(given)) {
    errors.push({ field: "exits", message: "must be an array", code: "invalid_type" });
    return [];
  }
  if (given.length > MAX_EXITS) {
    const message = `must have at most ${MAX_EXITS} entries`;
    errors.push({ field: "exits", message, code: "too_big" });
    return [];
  }
  const exits = given.flatMap((exit: unknown, i) => readExit(exit, `exits.${i}`, errors));
  const seen = new Set<string>();
  for (const [i, exit] of exits.entries()) {
    const key = JSON.stringify(exit);
    if (seen.has(key)) {
      const message = "must be unique: this exit is given twice";
      errors.push({ field: `exits.${i}`, message, code: "invalid_value" });
    }
    seen.add(key);
  }
  return exits;
}

function readExit(given: unknown, at: string, errors: FieldError[]): Exit[] {
  if (!isRecord(given)) {
    errors.push({ field: at, message: "must be an object", code: "invalid_type" });
    return [];
  }
  const { on } = given;
  switch (on) {
    case "EVENT":
      if (!readShape(EXIT_SCHEMAS.EVENT, given, at, errors)) return [];
      return [{ on, eventName: trimmedEventName(given.eventName) }];
    case "UNSUBSCRIBED":
      return readShape(EXIT_SCHEMAS.UNSUBSCRIBED, given, at, errors) ? [{ on }] : [];
    case "SEGMENT_LEFT":
      if (!readShape(EXIT_SCHEMAS.SEGMENT_LEFT, given, at, errors)) return [];
      return [{ on, segmentId: given.segmentId }];
    default:
      errors.push(
        on === undefined
          ? { field: `${at}.on`, message: REQUIRED, code: "required" }
          : choiceError(`${at}.on`, EXIT_KINDS),
      );
      return [];
  }
}

const choiceError = (field: string, choices: readonly string[]): FieldError => ({
  field,
  message: `must be one of ${choices.join(", ")}`,
  code: "invalid_value",
});
