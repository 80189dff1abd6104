/** The old and new values of changed fields, as texts that are short and have no secrets. */

import { textFor } from "../../http/role-views.ts";
import type { AuditedRow } from "./audit-subjects.ts";

type FieldChange = { field: string; before: string | null; after: string | null };

/** Longest text of a value; of a longer one, the part that changed is kept. */
const LONGEST_VALUE = 200;
/** Characters of a text before its first change. */
const CONTEXT = 30;
/** A longer value is not compared, because tokens are searched for in all of it. */
const LONGEST_COMPARED = 100_000;

/** The fields of an object whose values differ, and those that do not. */
export function compareRows(
  before: AuditedRow | null,
  after: AuditedRow | null,
): { changes: FieldChange[]; unchanged: ReadonlySet<string> } {
  const changes: FieldChange[] = [];
  const unchanged = new Set<string>();
  if (before === null || after === null) return { changes, unchanged };
  for (const field of Object.keys(after)) {
    if (field === "label") continue;
    const [old, now] = [before[field] ?? null, after[field] ?? null];
    if (old === now) unchanged.add(field);
    else if (isComparable(old) && isComparable(now)) changes.push(...changeOf(field, old, now));
  }
  return { changes, unchanged };
}

type Value = AuditedRow[string];

const isComparable = (value: Value): boolean =>
  typeof value !== "string" || value.length <= LONGEST_COMPARED;

/** None if only something secret changed. */
function changeOf(field: string, before: Value, after: Value): FieldChange[] {
  const [old, now] = [shown(before), shown(after)];
  if (old === now) return [];
  const from = old === null || now === null ? 0 : firstDifference(old, now);
  return [{ field, before: excerpt(old, from), after: excerpt(now, from) }];
}

/** The value as viewers would see it, who see no secrets. */
function shown(value: Value): string | null {
  return value === null ? null : textFor("VIEWER", String(value));
}

/** The name of an object without secrets, such as those in the URL of a webhook. */
export const nameOfRow = (row: AuditedRow | null): string | null =>
  row === null || row.label === null ? null : textFor("VIEWER", row.label);

function firstDifference(a: string, b: string): number {
  let at = 0;
  while (at < a.length && at < b.length && a[at] === b[at]) at++;
  return at;
}

function excerpt(text: string | null, changedAt: number): string | null {
  if (text === null || text.length <= LONGEST_VALUE) return text;
  const from = Math.max(0, Math.min(changedAt - CONTEXT, text.length - LONGEST_VALUE));
  const until = from + LONGEST_VALUE;
  const part = text.slice(from, until).toWellFormed();
  return `${from > 0 ? "…" : ""}${part}${until < text.length ? "…" : ""}`;
}
