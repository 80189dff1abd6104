/** The fields and operators that the builder of conditions offers, with their words. */

import { escapeKey } from "../../../ui/data-key.ts";

/** The kinds of fields in which a user enters the value of a filter. */
export type ValueKind = "none" | "text" | "number" | "count" | "flag" | "date" | "span" | "list";

/** The kinds of fields; each has operators of its own. */
export type FieldKind =
  | "email"
  | "subscribed"
  | "time"
  | "text"
  | "number"
  | "flag"
  | "date"
  | "event"
  | "mail"
  | "mailOf"
  | "link"
  | "topic"
  | "segment";

type Operator = { value: string; label: string; takes: ValueKind };

const EXISTS = [
  { value: "exists", label: "has a value", takes: "none" },
  { value: "notExists", label: "has no value", takes: "none" },
] as const;

const PERIODS = [
  { value: "within", label: "in the last", takes: "span" },
  { value: "olderThan", label: "longer ago than", takes: "span" },
] as const;

const compared = (takes: ValueKind, words: Readonly<Record<string, string>>): Operator[] =>
  Object.entries(words).map(([value, label]) => ({ value, label, takes }));

const NUMBER_WORDS = {
  equals: "is",
  notEquals: "is not",
  greaterThan: "is more than",
  greaterThanOrEqual: "is at least",
  lessThan: "is less than",
  lessThanOrEqual: "is at most",
};
const DATE_WORDS = {
  equals: "is on",
  notEquals: "is not on",
  greaterThan: "is after",
  greaterThanOrEqual: "is on or after",
  lessThan: "is before",
  lessThanOrEqual: "is on or before",
};

/** The operator of an event whose row also has a key of its data, and an operator for the value. */
export const WITH_PROPERTY = "triggeredWith";

const happened = (done: string, never: string): Operator[] => [
  { value: "triggered", label: done, takes: "none" },
  { value: "notTriggered", label: never, takes: "none" },
  { value: "triggeredWithin", label: "in the last", takes: "span" },
  { value: "notTriggeredWithin", label: "not in the last", takes: "span" },
  { value: "triggeredOlderThan", label: "longer ago than", takes: "span" },
  { value: "triggeredAtLeast", label: "at least … times", takes: "count" },
  { value: "triggeredLessThan", label: "less than … times", takes: "count" },
  { value: WITH_PROPERTY, label: "with", takes: "none" },
];

/**
 * The operators for the actions of a contact with the mails of a campaign or a template, or with a
 * link.
 */
const reacted = (words: Readonly<Record<string, string>>): Operator[] =>
  Object.entries(words).map(([value, label]) => ({
    value,
    label,
    takes: value.endsWith("Within") ? "span" : "none",
  }));

export const OPERATORS_OF: Readonly<Record<FieldKind, readonly Operator[]>> = {
  email: compared("text", {
    equals: "is",
    notEquals: "is not",
    contains: "contains",
    notContains: "does not contain",
    startsWith: "begins with",
    endsWith: "ends with",
  }),
  subscribed: [{ value: "equals", label: "is", takes: "flag" }],
  time: [...PERIODS, ...compared("date", DATE_WORDS)],
  text: [
    ...compared("text", {
      equals: "is",
      notEquals: "is not",
      contains: "contains",
      notContains: "does not contain",
    }),
    { value: "in", label: "is one of", takes: "list" },
    { value: "notIn", label: "is none of", takes: "list" },
    ...EXISTS,
  ],
  number: [...compared("number", NUMBER_WORDS), ...EXISTS],
  flag: [{ value: "equals", label: "is", takes: "flag" }, ...EXISTS],
  date: [
    ...PERIODS,
    ...compared("date", DATE_WORDS),
    { value: "anniversary", label: "is an anniversary today", takes: "none" },
    ...EXISTS,
  ],
  event: happened("ever", "never"),
  mail: happened("ever", "never"),
  mailOf: reacted({
    wasReceived: "was received",
    wasNotReceived: "was not received",
    wasOpened: "was opened",
    wasNotOpened: "was received, but not opened",
    wasClicked: "was clicked",
    wasNotClicked: "was received, but not clicked",
    wasReceivedWithin: "was received in the last",
    wasOpenedWithin: "was opened in the last",
    wasClickedWithin: "was clicked in the last",
  }),
  link: reacted({
    wasClicked: "was clicked",
    wasNotClicked: "was not clicked",
    wasClickedWithin: "was clicked in the last",
  }),
  topic: [{ value: "equals", label: "is subscribed to", takes: "flag" }],
  segment: [
    { value: "memberOf", label: "is a member of it", takes: "none" },
    { value: "notMemberOf", label: "is no member of it", takes: "none" },
  ],
};

export const UNITS = [
  { value: "days", label: "days" },
  { value: "hours", label: "hours" },
  { value: "minutes", label: "minutes" },
] as const;

/** A type that the user chose for a field of the data; the operators follow from it. */
export const DATA_KINDS = [
  { value: "text", label: "Text" },
  { value: "number", label: "Number" },
  { value: "flag", label: "Yes or no" },
  { value: "date", label: "Date" },
] as const;
export type DataKind = (typeof DATA_KINDS)[number]["value"];

export const isDataKind = (kind: unknown): kind is DataKind =>
  DATA_KINDS.some(({ value }) => value === kind);

/** The field of the data with a key. */
export const dataField = (key: string): string => `data.${escapeKey(key)}`;

/** True if the user chooses the type of a field's values: for data of contacts and events. */
export const isDataField = (field: string): boolean => /^(?:data|context)\../.test(field);

/** The kind of a field; `dataKind` is that of a field of the data. Null for an unknown field. */
export function kindOf(field: string, dataKind: string): FieldKind | null {
  if (field === "email" || field === "subscribed") return field;
  if (field === "createdAt" || field === "updatedAt") return "time";
  if (isDataField(field)) return isDataKind(dataKind) ? dataKind : "text";
  if (field.startsWith("event.")) return "event";
  if (field.startsWith("email.")) return "mail";
  if (/^(?:campaign|template)\../.test(field)) return "mailOf";
  if (/^link\.https?:/.test(field)) return "link";
  if (field.startsWith("topic.")) return "topic";
  return field.startsWith("segment.") ? "segment" : null;
}
