/** DNS records as people paste them: each value whole, on a line of its own. */

import type { Unanswered } from "../modules/domains/dns-check.ts";
import type { Domain } from "../modules/domains/model.ts";

type Shown = Domain["records"][number];

const MARKS: Readonly<Record<Shown["status"], string>> = {
  OK: "ok",
  MISMATCH: "differs",
  MISSING: "missing",
  PENDING: "not looked up yet",
};

/** `unanswered`: what could not be looked up just now, and is shown as it was before. */
export function recordsText(
  records: readonly Shown[],
  unanswered: readonly Unanswered[] = [],
): string {
  return records.map((shown) => recordText(shown, reasonFor(shown, unanswered))).join("\n\n");
}

function reasonFor(shown: Shown, unanswered: readonly Unanswered[]): string | null {
  const { purpose, type, name } = shown;
  const match = unanswered.find(
    ({ record }) => record.purpose === purpose && record.type === type && record.name === name,
  );
  return match?.reason ?? null;
}

function recordText(shown: Shown, reason: string | null): string {
  const { purpose, type, name, value, required, status, found, note } = shown;
  const need = required ? "required" : "advised";
  const before = status === "PENDING" ? "" : `; at the latest look: ${MARKS[status]}`;
  const mark = reason === null ? MARKS[status] : `could not be looked up (${reason})${before}`;
  return [
    `${purpose} (${need}): ${mark}`,
    `  type   ${type}`,
    `  name   ${name}`,
    ...(value === "" ? [] : [`  value  ${value}`]),
    ...(status === "MISMATCH" ? found.map((text) => `  found  ${text}`) : []),
    `  ${note}`,
  ].join("\n");
}
