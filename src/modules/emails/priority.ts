/**
 * The priority of a mail: header fields that many mail programs show. It does not change when the mail
 * leaves.
 */

import { isRecord, OneOf } from "../../http/validation.ts";
import type { FieldError } from "../../lib/errors.ts";

type Header = [name: string, value: string];

const VALUES = ["high", "normal", "low"] as const;
type PriorityName = (typeof VALUES)[number];

/** RFC 2156 has Importance and Priority. X-Priority, from 1 to 5, is what mail programs write. */
const HEADERS: Readonly<Record<PriorityName, readonly Header[]>> = {
  high: [
    ["X-Priority", "1"],
    ["Importance", "high"],
    ["Priority", "urgent"],
  ],
  normal: [],
  low: [
    ["X-Priority", "5"],
    ["Importance", "low"],
    ["Priority", "non-urgent"],
  ],
};

/** The fields by which a message says its priority. */
export const PRIORITY_FIELDS: readonly string[] = HEADERS.high.map(([name]) => name);
const LOWER_NAMES = PRIORITY_FIELDS.map((name) => name.toLowerCase());

export const Priority = OneOf(VALUES);

export const priorityHeaders = (priority: PriorityName = "normal"): readonly Header[] =>
  HEADERS[priority];

/** The errors of headers that contradict the field. The values may have any content. */
export function priorityErrors(priority: unknown, headers: unknown): FieldError[] {
  if (priority === undefined || !isRecord(headers)) return [];
  const message = "is written by priority; give one of them";
  return Object.keys(headers)
    .filter((name) => LOWER_NAMES.includes(name.toLowerCase()))
    .map((name) => ({ field: `headers.${name}`, message, code: "invalid_value" as const }));
}
