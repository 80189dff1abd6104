/** Rules of a contact's free-form data: what is kept, how it merges, what only renders. */

import { fieldError } from "../../lib/errors.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

/** Names the service gives itself; a caller's values for them are ignored (docs/interface.md#contacts). */
const RESERVED = new Set([
  "id",
  "email",
  "unsubscribeUrl",
  "subscribeUrl",
  "manageUrl",
  "__proto__",
]);

/** Largest data of a contact or an event, as JSON. */
const DATA_CAP_KIB = 64;
const KIB = 1024;

export function isReserved(name: string): boolean {
  return RESERVED.has(name);
}

/** `{"value": x, "persistent": boolean}`: x, stored or only rendered (docs/interface.md#send). */
type Wrapped = { value: unknown; persistent: boolean };

/** Shallow merge; a `null` deletes its key, `null` as a whole clears. */
export function mergeData(existing: JsonObject, patch: JsonObject | null): JsonObject {
  if (patch === null) return {};
  const kept = Object.entries(patch).filter(([name]) => !RESERVED.has(name));
  const merged = Object.entries({ ...existing, ...Object.fromEntries(kept) });
  return Object.fromEntries(merged.filter(([, value]) => value !== null));
}

/** What of a request's data the contact keeps. */
export function persistentData(data: JsonObject): JsonObject {
  return mapValues(data, (value) =>
    isWrapped(value) ? (value.persistent ? [value.value] : []) : [value],
  );
}

/** What of a request's data a mail or an event sees: every value, wrappers resolved. */
export function resolvedData(data: JsonObject): JsonObject {
  return mapValues(data, (value) => [isWrapped(value) ? value.value : value]);
}

/** Without the keys whose value is null, so that merging it removes none. */
export function withoutNulls(data: JsonObject): JsonObject {
  return mapValues(data, (value) => (value === null ? [] : [value]));
}

/** Stored form; 422 where it is too large. */
export function serializeData(data: JsonObject, capKib: number = DATA_CAP_KIB): string {
  const text = JSON.stringify(data);
  if (Buffer.byteLength(text) <= capKib * KIB) return text;
  throw fieldError("data", "too_big", `must take at most ${capKib} KiB as JSON`);
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
