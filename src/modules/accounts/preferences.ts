/** The preferences of a user: a JSON object that only the dashboard reads. */

import { fieldError } from "../../lib/errors.ts";
import { isRecord } from "../../http/validation.ts";
import { MAX_PREFERENCES_BYTES } from "./model.ts";

export function parsePreferences(text: string): Readonly<Record<string, unknown>> {
  const value: unknown = JSON.parse(text);
  return isRecord(value) ? value : {};
}

/** Throws 422 if the preferences are too large to be stored. */
export function formatPreferences(preferences: Readonly<Record<string, unknown>>): string {
  const text = JSON.stringify(preferences);
  if (Buffer.byteLength(text) <= MAX_PREFERENCES_BYTES) return text;
  throw fieldError("preferences", "too_big", `must have at most ${MAX_PREFERENCES_BYTES} bytes`);
}
