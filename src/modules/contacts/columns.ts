/**
 * What the columns of a CSV file mean. `email` and `subscribed` are themselves; any other name is a
 * key of the contact's data. `data.KEY` says so of any key, `json:KEY` that its cells hold JSON.
 */

import type { FieldError } from "../../lib/errors.ts";
import { parseAddress } from "../../mail/address.ts";
import { isReserved } from "./data.ts";

export type Column =
  { kind: "email" | "subscribed" | "ignored" } | { kind: "data" | "json"; key: string };

/** From a column's name to what it means; null: nothing. */
export type Mapping = Readonly<Record<string, string | null>>;

export type Header = { ok: true; columns: Column[] } | { ok: false; errors: FieldError[] };

const DATA_PREFIX = "data.";
const JSON_PREFIX = "json:";
const MOST_NAMES_TOLD = 20;
const LONGEST_NAME_TOLD = 60;

export function readHeader(names: readonly string[], mapping: Mapping): Header {
  const columns = names.map((name) => columnOf(mapped(name, mapping)));
  const errors = [
    ...unknownNames(names, mapping),
    ...duplicates(columns),
    ...(columns.some(({ kind }) => kind === "email") ? [] : [noEmail(names)]),
  ];
  return errors.length === 0 ? { ok: true, columns } : { ok: false, errors };
}

/** The name under which `readHeader` finds `key` again. */
export function columnName(key: string, holdsJson: boolean): string {
  if (holdsJson) return JSON_PREFIX + key;
  const column = columnOf(key);
  const isPlain = column.kind === "data" && column.key === key && /^[\p{L}\p{N}_]/u.test(key);
  return isPlain ? key : DATA_PREFIX + key;
}

function mapped(name: string, mapping: Mapping): string {
  const trimmed = name.trim();
  return (Object.hasOwn(mapping, trimmed) ? mapping[trimmed] : name) ?? "";
}

function columnOf(name: string): Column {
  if (name.startsWith(DATA_PREFIX)) return keyed("data", name.slice(DATA_PREFIX.length));
  if (name.startsWith(JSON_PREFIX)) return keyed("json", name.slice(JSON_PREFIX.length));
  const trimmed = name.trim();
  const lower = trimmed.toLowerCase();
  if (lower === "email" || lower === "subscribed") return { kind: lower };
  return trimmed === "" ? { kind: "ignored" } : keyed("data", trimmed);
}

function keyed(kind: "data" | "json", key: string): Column {
  return isReserved(key) ? { kind: "ignored" } : { kind, key };
}

function unknownNames(names: readonly string[], mapping: Mapping): FieldError[] {
  const known = new Set(names.map((name) => name.trim()));
  return Object.keys(mapping)
    .filter((name) => !known.has(name))
    .slice(0, MOST_NAMES_TOLD)
    .map((name) => ({
      field: `mapping.${name}`,
      message: "The file has no column of this name.",
      code: "unknown_reference",
    }));
}

function duplicates(columns: readonly Column[]): FieldError[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const column of columns) {
    if (column.kind === "ignored") continue;
    const meaning = "key" in column ? DATA_PREFIX + column.key : column.kind;
    if (seen.has(meaning)) repeated.add(meaning);
    seen.add(meaning);
  }
  return [...repeated].slice(0, MOST_NAMES_TOLD).map((meaning) => ({
    field: "file",
    message: `Two columns mean ${told(meaning)}. Rename one, or leave it out with mapping.`,
    code: "invalid_value",
  }));
}

function noEmail(names: readonly string[]): FieldError {
  const found = names.slice(0, MOST_NAMES_TOLD).map(told).join(", ");
  const hint = names.some((name) => parseAddress(name).ok)
    ? "The first line seems to hold data; it must name the columns."
    : "Rename the column that holds the addresses, or name it in mapping.";
  return {
    field: "file",
    message: `No column is named email; the first line has: ${found}. ${hint}`,
    code: "required",
  };
}

function told(name: string): string {
  return name.length > LONGEST_NAME_TOLD ? `${name.slice(0, LONGEST_NAME_TOLD)}…` : name;
}
