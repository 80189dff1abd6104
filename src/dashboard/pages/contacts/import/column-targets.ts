/** The meanings of a column of an imported file, and their form in a mapping of the interface. */

import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";
import { escapeKey, unescapeKey } from "../../../ui/data-key.ts";

export type ImportedColumn = ImportProgress["columns"][number];

/** Types that a column of data may be given. AUTO leaves the decision to the values. */
export const DATA_TYPES = [
  { value: "AUTO", label: "As it is" },
  { value: "text", label: "Text" },
  { value: "number", label: "Number" },
  { value: "date", label: "Date" },
  { value: "json", label: "JSON" },
] as const;
export type DataType = (typeof DATA_TYPES)[number]["value"];

/** Fields of a mapping that are no key of the data. */
const FIELDS = [
  { value: "email", label: "Email address" },
  { value: "subscribed", label: "Subscribed: yes or no" },
  { value: "status", label: "Status: a word such as “Cleaned”" },
  { value: "unsubscribed", label: "Unsubscribed: yes, or when" },
  { value: "bounced", label: "Bounced: yes, or when" },
  { value: "complained", label: "Marked as spam: yes, or when" },
  { value: "suppressed", label: "Blocked: yes, or when" },
  { value: "data", label: "JSON with several fields" },
] as const;
type Field = (typeof FIELDS)[number]["value"];

export type Target =
  | { kind: "ignored" }
  | { kind: Field }
  /** `key` is that of the topic. */
  | { kind: "topic"; key: string }
  | { kind: "key"; key: string; type: DataType };

const TOPIC = "topic:";

/** The choices of a column; `key` is a field of the contact's data. */
export const TARGETS = [
  { value: "key", label: "Field of the contact" },
  ...FIELDS,
  { value: "topic", label: "Topic: yes or no" },
  { value: "ignored", label: "Leave out" },
] as const;
export type TargetKind = (typeof TARGETS)[number]["value"];

const isField = (text: string): text is Field => FIELDS.some(({ value }) => value === text);
export const isTargetKind = (text: string | null): text is TargetKind =>
  TARGETS.some(({ value }) => value === text);
export const isDataType = (text: string | null): text is DataType =>
  DATA_TYPES.some(({ value }) => value === text);

/** Reads the target of a mapping; null leaves the column out. */
export function readTarget(target: string | null): Target {
  if (target === null) return { kind: "ignored" };
  if (isField(target)) return { kind: target };
  if (target.startsWith(TOPIC)) return { kind: "topic", key: target.slice(TOPIC.length) };
  const [, prefix = "", key = ""] =
    /^(?:(data\.|text:|number:|date:|json:))?([^]*)$/.exec(target) ?? [];
  const type = prefix.slice(0, -1);
  return { kind: "key", key: unescapeKey(key), type: isDataType(type) ? type : "AUTO" };
}

/** The text of a target in a mapping. */
export function writeTarget(target: Target): string | null {
  switch (target.kind) {
    case "ignored":
      return null;
    case "topic":
      return `${TOPIC}${target.key}`;
    case "key": {
      const key = escapeKey(target.key);
      return target.type === "AUTO" ? `data.${key}` : `${target.type}:${key}`;
    }
    default:
      return target.kind;
  }
}

/** Returns the meaning of a column: that of the mapping, or the one that the server found. */
export function targetOf(
  { name, field, type }: ImportedColumn,
  mapping: Readonly<Record<string, string | null>>,
): Target {
  const mapped = mapping[name];
  if (mapped !== undefined) return readTarget(mapped);
  if (field === null) return { kind: "ignored" };
  if (isField(field) || field.startsWith(TOPIC)) return readTarget(field);
  if (!/^(?:data\.|json:)/.test(field)) return { kind: "key", key: name, type: "AUTO" };
  const key = field.slice("data.".length);
  return { kind: "key", key, type: type === "json" ? "json" : "AUTO" };
}

const GUESSED: Readonly<Record<NonNullable<ImportedColumn["guess"]>, string>> = {
  number: "These look like numbers.",
  "number-comma": "These look like numbers with a decimal comma.",
  date: "These look like dates; the day or the month may be first.",
  "date-dmy": "These look like dates with the day first.",
  "date-mdy": "These look like dates with the month first.",
  mixed: "Some of these look like numbers or dates.",
};

/** Describes the values of a column that is stored as text. */
export const guessText = ({ guess }: ImportedColumn): string | null =>
  guess === null ? null : GUESSED[guess];

/** The type that the guess suggests; null if it suggests none. */
export function guessedType({ guess }: ImportedColumn): "number" | "date" | null {
  if (guess === null || guess === "mixed") return null;
  return guess.startsWith("number") ? "number" : "date";
}
