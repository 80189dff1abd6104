/**
 * Rules of a contact's free-form data: which keys are stored, how data is merged, what only
 * renders.
 */

import { fieldError } from "../../lib/errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/**
 * Keys that the service sets itself; a caller's values for them are ignored
 * (docs/interface.md#contacts).
 */
const RESERVED = new Set([
  "id",
  "email",
  "unsubscribeUrl",
  "subscribeUrl",
  "manageUrl",
  "__proto__",
]);

/** Largest data of a contact or an event, as JSON. */
export const MAX_DATA_KIB = 64;
const KIB = 1024;

export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/**
 * The value of a key with an explicit choice whether it is stored or only rendered
 * (docs/interface.md#send).
 */
type Wrapped = { value: unknown; persistent: boolean };

/** Merges shallowly. A value of null deletes its key; a patch of null deletes all keys. */
export function mergeData(existing: JsonObject, patch: JsonObject | null): JsonObject {
  if (patch === null) return {};
  const merged = new Map(Object.entries(existing));
  for (const [name, value] of Object.entries(patch)) {
    if (!RESERVED.has(name)) merged.set(name, value);
  }
  for (const [name, value] of merged) if (value === null) merged.delete(name);
  return Object.fromEntries(merged);
}

/** The part of a request's data that is stored with the contact. */
export function persistentData(data: JsonObject): JsonObject {
  return mapValues(data, (value) =>
    isWrapped(value) ? (value.persistent ? [value.value] : []) : [value],
  );
}

/** The data of a request for a mail or an event: all values, with wrappers resolved. */
export function resolvedData(data: JsonObject): JsonObject {
  return mapValues(data, (value) => [isWrapped(value) ? value.value : value]);
}

/** The data without keys whose value is null, so that a merge deletes no key. */
export function withoutNulls(data: JsonObject): JsonObject {
  return mapValues(data, (value) => (value === null ? [] : [value]));
}

/** The stored form of the data. Throws 422 if it is too large. */
export function serializeData(data: JsonObject, maxKib: number = MAX_DATA_KIB): string {
  const text = JSON.stringify(data);
  if (Buffer.byteLength(text) <= maxKib * KIB) return text;
  throw fieldError("data", "too_big", `must take at most ${maxKib} KiB as JSON`);
}

export function parseData(text: string): JsonObject {
  const value: unknown = JSON.parse(text);
  return isObject(value) ? value : {};
}

function mapValues(data: JsonObject, map: (value: unknown) => readonly unknown[]): JsonObject {
  return Object.fromEntries(
    Object.entries(data).flatMap(([name, value]) => map(value).map((mapped) => [name, mapped])),
  );
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function isWrapped(value: unknown): value is Wrapped {
  return isObject(value) && "value" in value && typeof value["persistent"] === "boolean";
}
