/**
 * The meaning of the columns of a CSV file. `email` and `subscribed` are fields of the contact;
 * `status`, `unsubscribed` and their kind say who left (standing.ts); `attributes` and `data` may
 * contain a JSON object whose keys become keys of the data. `topic:KEY` says whether the contact is in
 * the topic with this key. Any other name is a key of the data.
 * `data.KEY` is always the key KEY; the cells of `json:KEY` contain JSON, and those of `number:KEY`,
 * `date:KEY` and `text:KEY` are read as this type. In a header, KEY is used
 * literally, so that an exported file can be imported. In a mapping, a dot in a key must be written
 * `\.`, as in the conditions of segments, where a bare dot separates a path.
 */

import type { FieldError } from "../../../lib/errors.ts";
import { isSecretName } from "../../../lib/secret-names.ts";
import { splitPath } from "../../../lib/key-path.ts";
import { parseAddress } from "../../../protocols/mime/address.ts";
import { isReserved } from "../data.ts";
import { NAMED_TYPES, type NamedType } from "./column-types.ts";
import { readColumnName } from "./column-names.ts";
import { bareWord } from "./leaving-words.ts";
import { type StandingColumn, standingColumn } from "./standing.ts";

export type Column =
  | { kind: "email" | "subscribed" | "ignored" }
  | StandingColumn
  | { kind: "json"; key: string }
  | { kind: "topic"; key: string }
  /** `as` is the type that the mapping or the header names. */
  | { kind: "data"; key: string; as?: NamedType }
  /** JSON objects. Another text is the value of `key`; null if there must be no other text. */
  | { kind: "object"; key: string | null };

/** Target of each column, by its name; null to ignore the column. */
export type Mapping = Readonly<Record<string, string | null>>;

type Header = {
  columns: Column[];
  /** Columns that became data only because their meaning is not known. */
  unnamed: number[];
  /** A file with errors is refused; a dry run shows them beside the columns that could be read. */
  errors: FieldError[];
};

const DATA_PREFIX = "data.";
const JSON_PREFIX = "json:";
const TOPIC_PREFIX = "topic:";
const TYPE_PREFIXES = NAMED_TYPES.map((type) => ({ type, prefix: `${type}:` }));
const PREFIXES = [
  DATA_PREFIX,
  JSON_PREFIX,
  TOPIC_PREFIX,
  ...TYPE_PREFIXES.map(({ prefix }) => prefix),
];
/** Targets of a mapping for columns whose cells are flags, times or reasons. */
const LEFT_TARGETS = new Set(["unsubscribed", "suppressed", "bounced", "complained"]);
/** Names of columns that say in free words why a person left. */
const REASON =
  /reason|comment|feedback|details|grund|begr[uü]ndung|raison|motif|motivo|reden|orsak|[åa]rsag|pow[oó]d|d[uů]vod|neden|причин|理由|原因/i;
const MAX_REPORTED_NAMES = 20;
const MAX_REPORTED_NAME_LENGTH = 60;

/** Names of the column of addresses in exports of other services, used if no column is `email`. */
const EMAIL_NAMES = new Set(
  `email emailaddress mail mailaddress emailid primaryemail contactemail emailadresse mailadresse
   adresseemail adressemail courriel correo correoelectronico`.split(/\s+/),
);
/** A listmonk export has `attributes`, one of Plunk `data`. */
const OBJECT_NAMES = new Set(["attributes", "data"]);

export function readHeader(names: readonly string[], mapping: Mapping): Header {
  const columns = withEmail(
    names,
    mapping,
    names.map((name) => {
      const target = targetOf(name, mapping);
      if (target === undefined) return columnOf(name);
      const column = mappedColumn(target);
      return column.kind === "left" && REASON.test(name) ? { ...column, isReason: true } : column;
    }),
  );
  const unnamed = columns.flatMap((column, i) =>
    (column.kind === "data" || column.kind === "object") && isUnnamed(names[i] ?? "", mapping)
      ? [i]
      : [],
  );
  const errors = [
    ...unknownNames(names, mapping),
    ...badTargets(mapping),
    ...(columns.some((column) => column.kind === "data" && column.key === "") ? [noKey()] : []),
    ...duplicates(columns),
    ...(columns.some(({ kind }) => kind === "email") ? [] : [noEmail(names)]),
  ];
  return { columns, unnamed, errors };
}

const STANDING_KINDS = new Set<Column["kind"]>(["subscribed", "wanted", "status", "left"]);

/** True if a column says whether people want mail. */
export function hasStanding(columns: readonly Column[]): boolean {
  return columns.some(({ kind }) => STANDING_KINDS.has(kind));
}

/** The errors of columns about topics that the project does not have. */
export function unknownTopics(
  columns: readonly Column[],
  isTopic: (key: string) => boolean,
): FieldError[] {
  return columns
    .flatMap((column) => (column.kind === "topic" && !isTopic(column.key) ? [column.key] : []))
    .slice(0, MAX_REPORTED_NAMES)
    .map((key) => ({
      field: "file",
      message:
        `has a column for the topic ${shortName(key)}, and this project has no topic with this key: ` +
        "create the topic, or map the column to null to leave it out",
      code: "unknown_reference",
    }));
}

/** The error of a column that says who left in a way that is not known, with a value that shows it. */
export function suspectColumn(name: string, value: string): FieldError {
  const shown = shortName(name.trim());
  const text = isSecretName(shown) ? "a value" : JSON.stringify(shortName(value));
  const cell = value === "" ? "empty cells" : text;
  return {
    field: "file",
    message:
      `has a column ${shown} with ${cell} that seems to say who left, and its meaning is not known: ` +
      `map it to status, unsubscribed, subscribed, or data.${shown} if it means something else, or ` +
      "to null",
    code: "invalid_value",
  };
}

function isUnnamed(name: string, mapping: Mapping): boolean {
  return (
    targetOf(name, mapping) === undefined && !PREFIXES.some((prefix) => name.startsWith(prefix))
  );
}

/** Takes the only column with a name such as `Email Address` if no column is `email`. */
function withEmail(
  names: readonly string[],
  mapping: Mapping,
  columns: readonly Column[],
): Column[] {
  const found = columns.some(({ kind }) => kind === "email")
    ? []
    : names.flatMap((name, i) => (isUnnamed(name, mapping) && isEmailName(name) ? [i] : []));
  return columns.map((column, i) =>
    found.length === 1 && found[0] === i ? { kind: "email" } : column,
  );
}

/** The column name that `readHeader` reads as `key`. An empty key requires cells of JSON. */
export function columnName(key: string, holdsJson: boolean): string {
  if (holdsJson) return JSON_PREFIX + key;
  const column = columnOf(key);
  const isLiteral = column.kind === "data" && column.key === key && !concernsLeaving(key);
  const isPlain = isLiteral && /^[\p{L}\p{N}_]/u.test(key);
  return isPlain ? key : DATA_PREFIX + key;
}

function concernsLeaving(key: string): boolean {
  const { hint } = readColumnName(key);
  return hint === "left" || hint === "wanted";
}

/** The target of a column; undefined if the mapping does not contain it. */
function targetOf(name: string, mapping: Mapping): string | null | undefined {
  const trimmed = name.trim();
  return Object.hasOwn(mapping, trimmed) ? mapping[trimmed] : undefined;
}

function mappedColumn(target: string | null): Column {
  if (target === null || targetFault(target) !== null) return { kind: "ignored" };
  const token = target.trim().toLowerCase();
  if (token === "status") return { kind: "status" };
  if (token === "data") return { kind: "object", key: null };
  const left = standingColumn(token);
  if (left?.kind === "left" && LEFT_TARGETS.has(token)) return left;
  const column: Column = literalColumn(target);
  if (column.kind !== "data" && column.kind !== "json") return column;
  return { ...column, key: splitPath(column.key).join(".") };
}

/** The error in the target of a mapping; null if it is valid. */
function targetFault(target: string): string | null {
  const prefix = PREFIXES.find((text) => target.startsWith(text));
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

export const isEmailName = (name: string): boolean => EMAIL_NAMES.has(bareWord(name));

/** The meaning of a column by its name alone. */
export function columnOf(name: string): Column {
  const column = literalColumn(name);
  if (column.kind !== "data" || PREFIXES.some((prefix) => name.startsWith(prefix))) return column;
  const standing = standingColumn(name);
  if (standing !== null) return standing;
  return OBJECT_NAMES.has(column.key) ? { kind: "object", key: column.key } : column;
}

function literalColumn(name: string) {
  const named = TYPE_PREFIXES.find(({ prefix }) => name.startsWith(prefix));
  if (named !== undefined) {
    const column = keyColumn("data", name.slice(named.prefix.length));
    return column.kind === "data" ? { ...column, as: named.type } : column;
  }
  if (name.startsWith(DATA_PREFIX)) return keyColumn("data", name.slice(DATA_PREFIX.length));
  if (name.startsWith(JSON_PREFIX)) return keyColumn("json", name.slice(JSON_PREFIX.length));
  if (name.startsWith(TOPIC_PREFIX)) {
    return { kind: "topic", key: name.slice(TOPIC_PREFIX.length).trim() } as const;
  }
  const trimmed = name.trim();
  const lower = trimmed.toLowerCase();
  if (lower === "email" || lower === "subscribed") return { kind: lower } as const;
  return trimmed === "" ? IGNORED : keyColumn("data", trimmed);
}

function keyColumn(kind: "data" | "json", key: string) {
  return isReserved(key) ? IGNORED : ({ kind, key } as const);
}

const IGNORED = { kind: "ignored" } as const;

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
    const isKey = column.kind === "data" || column.kind === "json";
    const isTopic = column.kind === "topic";
    if (!isKey && !isTopic && column.kind !== "email" && column.kind !== "subscribed") continue;
    const target = isKey
      ? DATA_PREFIX + column.key
      : isTopic
        ? TOPIC_PREFIX + column.key
        : column.kind;
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
