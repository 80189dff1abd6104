/** DNS records as people paste them: each value whole, on a line of its own. */

import type { Domain } from "../modules/domains/model.ts";

type Shown = Domain["records"][number];

const MARKS: Readonly<Record<Shown["status"], string>> = {
  OK: "ok",
  MISMATCH: "differs",
  MISSING: "missing",
  PENDING: "not looked up yet",
};

export function recordsText(records: readonly Shown[]): string {
  return records.map(recordText).join("\n\n");
}

function recordText({ purpose, type, name, value, required, status, found, note }: Shown): string {
  const need = required ? "required" : "advised";
  return [
    `${purpose} (${need}): ${MARKS[status]}`,
    `  type   ${type}`,
    `  name   ${name}`,
    `  value  ${value}`,
    ...(status === "MISMATCH" ? found.map((text) => `  found  ${text}`) : []),
    `  ${note}`,
  ].join("\n");
}
