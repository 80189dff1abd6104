/**
 * What the columns of a CSV file mean. `email` and `subscribed` are themselves; any other name is a
 * key of the contact's data. `data.KEY` says so of any key, `json:KEY` that its cells hold JSON.
 * A header's KEY is taken as it is, which is how an export comes back. In a mapping, which people
 * write beside the conditions of segments, a dot has to be `\.`: a bare one would mean a path there.
 */

import type { FieldError } from "../../../lib/errors.ts";
import { splitPath } from "../../../lib/key-path.ts";
import { parseAddress } from "../../../protocols/mime/address.ts";
import { isReserved } from "../data.ts";

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
  const columns = names.map((name) => {
    const target = targetOf(name, mapping);
    return target === undefined ? columnOf(name) : mappedColumn(target);
  });
  const errors = [
    ...unknownNames(names, mapping),
    ...badTargets(mapping),
    ...(columns.some((column) => column.kind === "data" && column.key === "") ? [noKey()] : []),
    ...duplicates(columns),
    ...(columns.some(({ kind }) => kind === "email") ? [] : [noEmail(names)]),
  ];
  return errors.length === 0 ? { ok: true, columns } : { ok: false, errors };
}

/** The name under which `readHeader` finds `key` again. An empty key needs cells of JSON. */
export function columnName(key: string, holdsJson: boolean): string {
  if (holdsJson) return JSON_PREFIX + key;
  const column = columnOf(key);
  const isPlain = column.kind === "data" && column.key === key && /^[\p{L}\p{N}_]/u.test(key);
  return isPlain ? key : DATA_PREFIX + key;
}

/** Undefined where the mapping does not say. */
function targetOf(name: string, mapping: Mapping): string | null | undefined {
  const trimmed = name.trim();
  return Object.hasOwn(mapping, trimmed) ? mapping[trimmed] : undefined;
}

function mappedColumn(target: string | null): Column {
  if (target === null || targetFault(target) !== null) return { kind: "ignored" };
  const column = columnOf(target);
  return "key" in column ? keyed(column.kind, splitPath(column.key).join(".")) : column;
}

/** What is wrong with the target of a mapping. */
function targetFault(target: string): string | null {
  const prefix = [DATA_PREFIX, JSON_PREFIX].find((text) => target.startsWith(text));
  const key = prefix === undefined ? target.trim() : target.slice(prefix.length);
  if (key === "") return "a column needs a name to go to, or null to be left out";
  if (splitPath(key).length === 1) return null;
  return "nested values cannot be imported, and \\. is a dot that belongs to a key";
}

function badTargets(mapping: Mapping): FieldError[] {
  const errors = Object.entries(mapping).flatMap(([name, target]): FieldError[] => {
    const fault = target === null ? null : targetFault(target);
    if (fault === null) return [];
    return [
      {
        field: "mapping",
        message: `cannot map the column ${told(name)}: ${fault}`,
        code: "invalid_value",
      },
    ];
  });
  return errors.slice(0, MOST_NAMES_TOLD);
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
      message: "names no column of the file",
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
    message: `has two columns that mean ${told(meaning)}: rename one, or leave it out with mapping`,
    code: "invalid_value",
  }));
}

function noKey(): FieldError {
  const message = `has a column named ${DATA_PREFIX} without a key behind it`;
  return { field: "file", message, code: "invalid_value" };
}

function noEmail(names: readonly string[]): FieldError {
  const found = names.slice(0, MOST_NAMES_TOLD).map(told).join(", ");
  const hint = names.some((name) => parseAddress(name).ok)
    ? "it seems to hold data, and must name the columns"
    : "rename the column that holds the addresses, or name it in mapping";
  return {
    field: "file",
    message: `has no column named email; its first line has: ${found}; ${hint}`,
    code: "required",
  };
}

function told(name: string): string {
  return name.length > LONGEST_NAME_TOLD ? `${name.slice(0, LONGEST_NAME_TOLD)}…` : name;
}
