/** Conditions of blocks: a field, an operator and a value, written as `{% if … %}`. */

import { findStringFault, writeString, writeTagName } from "./variables.ts";

export type Condition = { field: string; operator: string; value: string };

/** "any" is for names that no contact has yet, such as values of requests. */
export type Kind = "text" | "number" | "flag" | "date" | "list" | "any";

type Operator = {
  name: string;
  /** The words between field and value. */
  words: string;
  kinds: readonly Kind[];
  hasValue: boolean;
  write: (field: string, value: string) => string;
};

const compare = (sign: string) => (field: string, value: string) => `${field} ${sign} ${value}`;

/** The first operator of a kind is its default. */
const OPERATORS: readonly Operator[] = [
  {
    name: "is",
    words: "is",
    kinds: ["text", "number", "flag"],
    hasValue: true,
    write: writeEquality("==", "or"),
  },
  {
    name: "isNot",
    words: "is not",
    kinds: ["text", "number", "flag"],
    hasValue: true,
    write: writeEquality("!=", "and"),
  },
  {
    name: "contains",
    words: "contains",
    kinds: ["list", "text"],
    hasValue: true,
    write: compare("contains"),
  },
  {
    name: "greater",
    words: "is greater than",
    kinds: ["number"],
    hasValue: true,
    write: compare(">"),
  },
  { name: "less", words: "is less than", kinds: ["number"], hasValue: true, write: compare("<") },
  { name: "after", words: "is after", kinds: ["date"], hasValue: true, write: compare(">") },
  { name: "before", words: "is before", kinds: ["date"], hasValue: true, write: compare("<") },
  {
    name: "has",
    words: "has a value",
    kinds: ["text", "number", "flag", "date", "list"],
    hasValue: false,
    write: (field) => `${field} != blank`,
  },
  {
    name: "hasNot",
    words: "has no value",
    kinds: ["text", "number", "flag", "date", "list"],
    hasValue: false,
    write: (field) => `${field} == blank`,
  },
];

const KINDS: Readonly<Record<string, Kind>> = {
  number: "number",
  boolean: "flag",
  date: "date",
  array: "list",
};

/** The kind of a field with this type; other types are compared as text. */
export const readKind = (type: string | undefined): Kind =>
  type === undefined ? "any" : (KINDS[type] ?? "text");

/** The operators of a kind, and one that was chosen when the field had another kind. */
export const listOperators = (kind: Kind, chosen = ""): readonly Operator[] =>
  OPERATORS.filter(({ name, kinds }) => kind === "any" || name === chosen || kinds.includes(kind));

/** The operator, or the first one of the kind where that has no such operator. */
export function chooseOperator(kind: Kind, name: string): string {
  const operators = listOperators(kind);
  return (operators.find((each) => each.name === name) ?? operators[0])?.name ?? "has";
}

const findOperator = (name: string) => OPERATORS.find((each) => each.name === name);

export const needsValue = (operator: string): boolean => findOperator(operator)?.hasValue === true;

/** The faults of a condition by field of the form; an empty object for a complete condition. */
export function findFaults(condition: Condition, kind: Kind): Partial<Condition> {
  const { field, operator, value } = condition;
  if (field.trim() === "") return { field: "Choose a field." };
  if (writeTagName(field) === null) return { field: "This name cannot be used in a condition." };
  if (!needsValue(operator)) return {};
  if (value.trim() === "") return { value: "Enter a value." };
  const isOrder = operator === "greater" || operator === "less";
  const isTime = operator === "after" || operator === "before";
  if ((kind === "number" || isOrder) && !isNumber(value)) return { value: "Enter a number." };
  if ((kind === "date" || isTime) && !isDate(value))
    return { value: "Enter a date as 2026-05-13." };
  const fault = findStringFault(value);
  return fault === null ? {} : { value: fault };
}

const isNumber = (value: string): boolean => /^-?\d{1,15}(?:\.\d{1,15})?$/.test(value.trim());
const isDate = (value: string): boolean => /^\d{4}-\d{2}-\d{2}$/.test(value.trim());

/** The condition as Liquid. An incomplete one is never true, so that its blocks stay hidden. */
export function writeCondition({ field, operator, value }: Condition): string {
  const name = writeTagName(field);
  const found = findOperator(operator);
  if (name === null || found === undefined) return "false";
  if (!found.hasValue) return found.write(name, "");
  const written = writeValue(operator, value);
  return written === null ? "false" : found.write(name, written);
}

function writeValue(operator: string, value: string): string | null {
  const trimmed = value.trim();
  if (trimmed === "") return null;
  if (operator === "greater" || operator === "less") return isNumber(trimmed) ? trimmed : null;
  if (operator === "after" || operator === "before") return isDate(trimmed) ? `"${trimmed}"` : null;
  return writeString(trimmed);
}

/**
 * Compares as a text, or as the number or truth value that the text is: `3` is stored as either. A
 * postcode such as `00123` is a text only.
 */
function writeEquality(sign: "==" | "!=", join: "or" | "and") {
  return (field: string, text: string): string => {
    const value = text.slice(1, -1);
    const isPlain = isNumber(value) && String(Number(value)) === value;
    const isLiteral = isPlain || value === "true" || value === "false";
    const asText = `${field} ${sign} ${text}`;
    return isLiteral ? `${asText} ${join} ${field} ${sign} ${value}` : asText;
  };
}

/** The condition in words, for the label of the block. */
export function describeCondition({ field, operator, value }: Condition): string {
  const found = findOperator(operator);
  if (field.trim() === "" || found === undefined) return "Shown to nobody until you choose a field";
  const end = found.hasValue ? ` ${value.trim() === "" ? "…" : value.trim()}` : "";
  return `Only if ${field} ${found.words}${end}`;
}
