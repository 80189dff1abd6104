/** Formats DNS records for copying: each value is complete and on its own line. */

import type { Unanswered } from "../modules/domains/dns-check.ts";
import type { Domain } from "../modules/domains/model.ts";

type Shown = Domain["records"][number];

const MARKS: Readonly<Record<Shown["status"], string>> = {
  OK: "ok",
  MISMATCH: "differs",
  MISSING: "missing",
  PENDING: "not checked yet",
};

/** `unanswered` are the records that could not be looked up now. Their earlier status is shown. */
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
  const need = required ? "required" : "recommended";
  const before = status === "PENDING" ? "" : `; at the latest check: ${MARKS[status]}`;
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
