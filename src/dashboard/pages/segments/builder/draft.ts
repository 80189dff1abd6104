/**
 * The condition of a segment while it is edited: rows, and groups of rows in which the other word
 * joins them. A condition of the interface that has another shape has no draft; it is edited as JSON.
 */

import { isRecord } from "../../../ui/is-record.ts";
import {
  type DataKind,
  isDataKind,
  kindOf,
  OPERATORS_OF,
  type ValueKind,
  WITH_PROPERTY,
} from "./operators.ts";

export type Logic = "AND" | "OR";

export type Row = {
  kind: "row";
  id: string;
  /** The field as the interface names it, such as `data.plan`; empty until it is chosen. */
  field: string;
  /** Decides which operators and values a field of the data has. */
  dataKind: DataKind;
  operator: string;
  /** The path in the data of an event with a property, and the operator for its value. */
  property: string;
  test: string;
  /** The value as it is typed; `true` and `false` for a flag. */
  text: string;
  list: readonly string[];
  unit: string;
};
export type RowGroup = { kind: "group"; id: string; rows: readonly Row[] };
export type Draft = { logic: Logic; items: readonly (Row | RowGroup)[] };

export const other = (logic: Logic): Logic => (logic === "AND" ? "OR" : "AND");

let made = 0;
const newId = () => `row ${made++}`;

export const newRow = (): Row => ({
  kind: "row",
  id: newId(),
  field: "",
  dataKind: "text",
  operator: "",
  property: "",
  test: "",
  text: "",
  list: [],
  unit: "days",
});
export const newGroup = (): RowGroup => ({
  kind: "group",
  id: newId(),
  rows: [newRow(), newRow()],
});

/** The kind of value that a row takes; null if its field or operator is not chosen. */
export function takesOf({ field, dataKind, operator, test }: Row): ValueKind | null {
  const kind = kindOf(field, dataKind);
  if (kind === null) return null;
  if (operator === WITH_PROPERTY) {
    return OPERATORS_OF[dataKind].find(({ value }) => value === test)?.takes ?? null;
  }
  return OPERATORS_OF[kind].find(({ value }) => value === operator)?.takes ?? null;
}

type Wire = {
  field: string;
  operator: string;
  property?: string;
  test?: string;
  value?: unknown;
  unit?: string;
};
type WireGroup = { filters: Wire[]; conditions?: WireCondition };
export type WireCondition = { logic: Logic; groups: WireGroup[] };

/** The condition of the interface; null while a row is not complete. */
export function toCondition({ logic, items }: Draft): WireCondition | null {
  const groups: WireGroup[] = [];
  const own: Wire[] = [];
  for (const item of items) {
    const rows = item.kind === "row" ? [item] : item.rows;
    const filters = rows.map(toFilter);
    if (filters.length === 0 || !filters.every((filter) => filter !== null)) return null;
    if (logic === "OR") groups.push({ filters });
    else if (item.kind === "row") own.push(...filters);
    else {
      const conditions = {
        logic: "OR" as const,
        groups: filters.map((one) => ({ filters: [one] })),
      };
      groups.push({ filters: [], conditions });
    }
  }
  if (own.length > 0) groups.unshift({ filters: own });
  return groups.length === 0 ? null : { logic, groups };
}

/** The filter of the interface; null while the row is not complete. */
export function toFilter(row: Row): Wire | null {
  const { field, operator, property, test, text, list, unit } = row;
  const isOfProperty = operator === WITH_PROPERTY;
  if (isOfProperty && property.trim() === "") return null;
  const filter = { field, operator, ...(isOfProperty ? { property, test } : {}) };
  switch (takesOf(row)) {
    case null:
      return null;
    case "none":
      return filter;
    case "flag":
      return text === "" ? null : { ...filter, value: text === "true" };
    case "number":
      return isNumber(text) ? { ...filter, value: Number(text) } : null;
    case "count":
      return isCount(text) ? { ...filter, value: Number(text) } : null;
    case "span":
      return isCount(text) ? { ...filter, value: Number(text), unit } : null;
    case "list":
      return list.length === 0 ? null : { ...filter, value: list };
    case "text":
    case "date":
      return text === "" ? null : { ...filter, value: text };
  }
}

const isNumber = (text: string): boolean => text.trim() !== "" && Number.isFinite(Number(text));
const isCount = (text: string): boolean => Number.isInteger(Number(text)) && Number(text) >= 1;

type RowFault = { part: "field" | "property" | "value"; text: string };

/** The first part of a row that is missing or wrong; null if the row is complete. */
export function faultOf(row: Row): RowFault | null {
  const takes = takesOf(row);
  if (row.field === "" || takes === null) return { part: "field", text: "Choose a field." };
  if (row.operator === WITH_PROPERTY && row.property.trim() === "") {
    return { part: "property", text: "Enter the name of a property." };
  }
  if (toFilter(row) !== null) return null;
  const text = VALUE_FAULTS[takes];
  return { part: "value", text: text === undefined ? `Enter a number of ${row.unit}.` : text };
}

const VALUE_FAULTS: Readonly<Partial<Record<ValueKind, string>>> = {
  text: "Enter a value.",
  number: "Enter a number.",
  count: "Enter a whole number of at least 1.",
  flag: "Choose yes or no.",
  date: "Choose a date.",
  list: "Enter at least one value.",
};

/** A draft in a form that two equal drafts share, to be kept in the browser. */
export const withoutIds = ({ logic, items }: Draft): Draft => ({
  logic,
  items: items.map((item) =>
    item.kind === "row"
      ? { ...item, id: "" }
      : { ...item, id: "", rows: item.rows.map((row) => ({ ...row, id: "" })) },
  ),
});

/** Reads a draft that was kept; null if it is none, such as one of another version. */
export function readDraft(given: unknown): Draft | null {
  if (!isRecord(given) || !Array.isArray(given["items"]) || given["items"].length === 0)
    return null;
  const items: (Row | RowGroup)[] = [];
  for (const item of given["items"]) {
    const rows = isRecord(item) && item["kind"] === "group" ? item["rows"] : [item];
    const read = Array.isArray(rows) ? rows.map(readRow) : [];
    if (!read.every((row) => row !== null)) return null;
    if (isRecord(item) && item["kind"] === "group") {
      items.push({ kind: "group", id: newId(), rows: read });
    } else items.push(...read);
  }
  return { logic: given["logic"] === "OR" ? "OR" : "AND", items };
}

function readRow(given: unknown): Row | null {
  if (!isRecord(given) || given["kind"] !== "row" || !Array.isArray(given["list"])) return null;
  const row = newRow();
  const { field, dataKind, operator, property, test, text, unit } = given;
  const texts = { field, operator, property, test, text, unit };
  if (!isDataKind(dataKind) || !areTexts(texts)) return null;
  const list = given["list"].filter((one) => typeof one === "string");
  return { ...row, ...texts, dataKind, list };
}

const areTexts = <Key extends string>(given: Record<Key, unknown>): given is Record<Key, string> =>
  Object.values(given).every((value) => typeof value === "string");

/** A part of a condition, without parts that say nothing. */
type Part = { kind: "filter"; filter: Wire } | { kind: Logic; parts: Part[] };

/** The draft of a condition of the interface; null if the builder cannot show it as it is. */
export function toDraft(condition: unknown): Draft | null {
  const whole = simplified(readCondition(condition));
  if (whole === null) return null;
  if (whole.kind === "filter") {
    const row = toRow(whole.filter);
    return row === null ? null : { logic: "AND", items: [row] };
  }
  const items: (Row | RowGroup)[] = [];
  for (const part of whole.parts) {
    if (part.kind === "filter") {
      const row = toRow(part.filter);
      if (row === null) return null;
      items.push(row);
      continue;
    }
    const rows = part.parts.map((one) => (one.kind === "filter" ? toRow(one.filter) : null));
    if (!rows.every((row) => row !== null)) return null;
    items.push({ kind: "group", id: newId(), rows });
  }
  return { logic: whole.kind, items };
}

function readCondition(given: unknown): Part | null {
  if (!isRecord(given) || !Array.isArray(given["groups"])) return null;
  const logic = given["logic"] === "OR" ? "OR" : "AND";
  const parts = given["groups"].map(readGroup);
  return parts.every((part) => part !== null) ? { kind: logic, parts } : null;
}

function readGroup(given: unknown): Part | null {
  if (!isRecord(given)) return null;
  const { filters = [], conditions = null } = given;
  if (!Array.isArray(filters)) return null;
  const parts = filters.map(readFilter);
  if (conditions !== null) parts.push(readCondition(conditions));
  return parts.every((part) => part !== null) ? { kind: "AND", parts } : null;
}

function readFilter(given: unknown): Part | null {
  if (!isRecord(given)) return null;
  const { field, operator, property, test, value, unit } = given;
  if (typeof field !== "string" || typeof operator !== "string") return null;
  const filter = {
    field,
    operator,
    value,
    ...(typeof property === "string" ? { property } : {}),
    ...(typeof test === "string" ? { test } : {}),
    ...(typeof unit === "string" ? { unit } : {}),
  };
  return { kind: "filter", filter };
}

/** One part needs no word, and "all" within "all" no group. */
function simplified(part: Part | null): Part | null {
  if (part === null || part.kind === "filter") return part;
  const { kind } = part;
  const parts = part.parts.flatMap((one) => {
    const simple = simplified(one);
    if (simple === null) return [];
    return simple.kind === kind ? simple.parts : [simple];
  });
  const [only] = parts;
  return parts.length === 1 && only !== undefined ? only : { kind, parts };
}

/** The row of a filter; null if the row would not give the same filter. */
export function toRow(filter: Wire): Row | null {
  const { field, operator, property = "", test = "", value, unit = "days" } = filter;
  const texts = Array.isArray(value) ? value.filter((one) => typeof one === "string") : [];
  const row: Row = {
    ...newRow(),
    field,
    operator,
    property,
    test,
    dataKind: dataKindOf(filter),
    text: textOf(value),
    list: texts,
    unit,
  };
  const made = toFilter(row);
  const isSame =
    made !== null &&
    JSON.stringify(made.value) === JSON.stringify(value) &&
    (operator === WITH_PROPERTY || property + test === "") &&
    (takesOf(row) !== "span" || made.unit === unit);
  return isSame ? row : null;
}

function textOf(value: unknown): string {
  if (typeof value === "string") return value;
  return typeof value === "number" || typeof value === "boolean" ? String(value) : "";
}

const SPANS = new Set(["within", "olderThan"]);
const COMPARISONS = new Set(["greaterThan", "greaterThanOrEqual", "lessThan", "lessThanOrEqual"]);

function dataKindOf({ operator, test = operator, value }: Wire): DataKind {
  if (SPANS.has(test)) return "date";
  if (typeof value === "number") return "number";
  if (typeof value === "boolean") return "flag";
  return COMPARISONS.has(test) ? "date" : "text";
}
