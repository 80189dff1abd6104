/**
 * The meaning of the columns of a CSV file. `email` and `subscribed` are fields of the contact; any
 * other name is a key of its data. `data.KEY` is always the key KEY, and the cells of `json:KEY`
 * contain JSON. In a header, KEY is used literally, so that an exported file can be imported. In a
 * mapping, a dot in a key must be written `\.`, as in the conditions of segments, where a bare dot
 * separates a path.
 */

import type { FieldError } from "../../../lib/errors.ts";
import { splitPath } from "../../../lib/key-path.ts";
import { parseAddress } from "../../../protocols/mime/address.ts";
import { isReserved } from "../data.ts";

export type Column =
  { kind: "email" | "subscribed" | "ignored" } | { kind: "data" | "json"; key: string };

/** Target of each column, by its name; null to ignore the column. */
export type Mapping = Readonly<Record<string, string | null>>;

type Header = { ok: true; columns: Column[] } | { ok: false; errors: FieldError[] };

const DATA_PREFIX = "data.";
const JSON_PREFIX = "json:";
const MAX_REPORTED_NAMES = 20;
const MAX_REPORTED_NAME_LENGTH = 60;

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

/** The column name that `readHeader` reads as `key`. An empty key requires cells of JSON. */
export function columnName(key: string, holdsJson: boolean): string {
  if (holdsJson) return JSON_PREFIX + key;
  const column = columnOf(key);
  const isPlain = column.kind === "data" && column.key === key && /^[\p{L}\p{N}_]/u.test(key);
  return isPlain ? key : DATA_PREFIX + key;
}

/** The target of a column; undefined if the mapping does not contain it. */
function targetOf(name: string, mapping: Mapping): string | null | undefined {
  const trimmed = name.trim();
  return Object.hasOwn(mapping, trimmed) ? mapping[trimmed] : undefined;
}

function mappedColumn(target: string | null): Column {
  if (target === null || targetFault(target) !== null) return { kind: "ignored" };
  const column = columnOf(target);
  return "key" in column ? keyColumn(column.kind, splitPath(column.key).join(".")) : column;
}

/** The error in the target of a mapping; null if it is valid. */
function targetFault(target: string): string | null {
  const prefix = [DATA_PREFIX, JSON_PREFIX].find((text) => target.startsWith(text));
  const key = prefix === undefined ? target.trim() : target.slice(prefix.length);
  if (key === "") return "the target must be a name, or null to ignore the column";
  if (splitPath(key).length === 1) return null;
  return "nested values cannot be imported; write \\. for a dot in a key";
}

function badTargets(mapping: Mapping): FieldError[] {
  const errors = Object.entries(mapping).flatMap(([name, target]): FieldError[] => {
    const fault = target === null ? null : targetFault(target);
    if (fault === null) return [];
    return [
      {
        field: "mapping",
        message: `cannot map the column ${shortName(name)}: ${fault}`,
        code: "invalid_value",
      },
    ];
  });
  return errors.slice(0, MAX_REPORTED_NAMES);
}

function columnOf(name: string): Column {
  if (name.startsWith(DATA_PREFIX)) return keyColumn("data", name.slice(DATA_PREFIX.length));
  if (name.startsWith(JSON_PREFIX)) return keyColumn("json", name.slice(JSON_PREFIX.length));
  const trimmed = name.trim();
  const lower = trimmed.toLowerCase();
  if (lower === "email" || lower === "subscribed") return { kind: lower };
  return trimmed === "" ? { kind: "ignored" } : keyColumn("data", trimmed);
}

function keyColumn(kind: "data" | "json", key: string): Column {
  return isReserved(key) ? { kind: "ignored" } : { kind, key };
}

function unknownNames(names: readonly string[], mapping: Mapping): FieldError[] {
  const known = new Set(names.map((name) => name.trim()));
  return Object.keys(mapping)
    .filter((name) => !known.has(name))
    .slice(0, MAX_REPORTED_NAMES)
    .map((name) => ({
      field: `mapping.${name}`,
      message: "is not the name of a column in the file",
      code: "unknown_reference",
    }));
}

function duplicates(columns: readonly Column[]): FieldError[] {
  const seen = new Set<string>();
  const repeated = new Set<string>();
  for (const column of columns) {
    if (column.kind === "ignored") continue;
    const target = "key" in column ? DATA_PREFIX + column.key : column.kind;
    if (seen.has(target)) repeated.add(target);
    seen.add(target);
  }
  return [...repeated].slice(0, MAX_REPORTED_NAMES).map((target) => ({
    field: "file",
    message: `has two columns that mean ${shortName(target)}: rename one, or map it to null`,
    code: "invalid_value",
  }));
}

function noKey(): FieldError {
  const message = `has a column named ${DATA_PREFIX} without a key after it`;
  return { field: "file", message, code: "invalid_value" };
}

function noEmail(names: readonly string[]): FieldError {
  const found = names.slice(0, MAX_REPORTED_NAMES).map(shortName).join(", ");
  const hint = names.some((name) => parseAddress(name).ok)
    ? "it seems to contain data, but it must contain the column names"
    : "rename the column that contains the addresses, or map it to email";
  return {
    field: "file",
    message: `has no column named email; its first line contains: ${found}; ${hint}`,
    code: "required",
  };
}

function shortName(name: string): string {
  return name.length > MAX_REPORTED_NAME_LENGTH
    ? `${name.slice(0, MAX_REPORTED_NAME_LENGTH)}…`
    : name;
}
