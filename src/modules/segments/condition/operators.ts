/** The operators of each kind of field, and the types of checked filters. */

import type { Period } from "./dates.ts";

export type Scalar = string | number | boolean;

export const TEXT = [
  "equals",
  "notEquals",
  "contains",
  "notContains",
  "startsWith",
  "endsWith",
] as const;
export const EQUALITY = ["equals", "notEquals"] as const;
export const MATCH = ["equals", "notEquals", "contains", "notContains"] as const;
export const ORDER = ["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"] as const;
export const RELATIVE = ["within", "olderThan"] as const;
export const PRESENCE = ["exists", "notExists"] as const;
export const LIST = ["in", "notIn"] as const;
export const HISTORY = ["triggered", "notTriggered"] as const;
export const RECENCY = ["triggeredWithin", "notTriggeredWithin", "triggeredOlderThan"] as const;
export const MEMBERSHIP = ["memberOf", "notMemberOf"] as const;

type OneOf<T extends readonly string[]> = T[number];

export type EmailTest = { kind: "email"; operator: OneOf<typeof TEXT>; value: string };

type SubscribedTest = { kind: "subscribed"; isSubscribed: boolean };

export type TimeTest = { kind: "time"; column: "createdAt" | "updatedAt" } & (
  | { operator: OneOf<typeof EQUALITY> | OneOf<typeof ORDER>; period: Period }
  | { operator: OneOf<typeof RELATIVE>; spanMs: number }
);

/** `path` holds the keys, the outermost first. */
export type DataTest = { kind: "data"; path: readonly string[] } & (
  | { operator: OneOf<typeof PRESENCE> }
  | { operator: OneOf<typeof MATCH>; value: Scalar }
  | { operator: OneOf<typeof ORDER>; value: string | number }
  | { operator: OneOf<typeof LIST>; values: readonly Scalar[] }
  | { operator: OneOf<typeof RELATIVE>; spanMs: number }
);

export type EventTest = { kind: "event"; name: string } & (
  { operator: OneOf<typeof HISTORY> } | { operator: OneOf<typeof RECENCY>; spanMs: number }
);

export type SegmentTest = { kind: "segment"; id: string; isMember: boolean };

/** A checked filter. Only the segment that it refers to may still be unknown. */
export type Test = EmailTest | SubscribedTest | TimeTest | DataTest | EventTest | SegmentTest;
