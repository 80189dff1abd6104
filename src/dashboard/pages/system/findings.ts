/** The findings of the checks in the order in which an owner reads them. */

import type { Static } from "@sinclair/typebox";
import type { System } from "../../../modules/system/model.ts";

type SystemState = Static<typeof System>;
export type Finding = SystemState["checks"]["findings"][number];

const RANKS: Readonly<Record<Finding["level"], number>> = { fail: 0, warn: 1, ok: 2 };

/** Failures first, then warnings, then what is in order. Within a level the order stays. */
export const sortedFindings = (findings: readonly Finding[]): Finding[] =>
  findings.toSorted((one, other) => RANKS[one.level] - RANKS[other.level]);

/** "2 problems and 1 warning", or that all is well. */
export function findingsText(findings: readonly Finding[]): string {
  const count = (level: Finding["level"]) =>
    findings.filter((finding) => finding.level === level).length;
  const parts = [plural(count("fail"), "problem"), plural(count("warn"), "warning")].filter(
    (part) => part !== null,
  );
  if (parts.length === 0) return "Everything that delivery depends on is in order.";
  return `${parts.join(" and ")} in ${plural(findings.length, "check") ?? ""}.`;
}

function plural(count: number, noun: string): string | null {
  if (count === 0) return null;
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The findings are written as parts of a line in a terminal: `is correct`. */
export function sentenceOf(text: string): string {
  const upper = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(upper) ? upper : `${upper}.`;
}

/** A length of time such as "5 minutes" or "3 days", in its largest unit. */
export function agoText(ms: number): string {
  const units = [
    [86_400_000, "day"],
    [3_600_000, "hour"],
    [60_000, "minute"],
  ] as const;
  const [size, unit] = units.find(([each]) => ms >= each) ?? [0, ""];
  if (size === 0) return "less than a minute";
  const count = Math.floor(ms / size);
  return `${count} ${unit}${count === 1 ? "" : "s"}`;
}
