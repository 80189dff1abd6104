/** The words for the results of a rehearsal. Pure. */

import type { Rehearsal, RehearsalVariant } from "../../../../modules/campaigns/rehearsal-model.ts";

type Sums = Pick<Rehearsal, "failed" | "withErrors" | "withWarnings">;

/** "2 cannot be rendered, 3 have errors, 1 has warnings." */
export function rehearsalText({ failed, withErrors, withWarnings }: Sums): string {
  const parts = [
    ...(failed > 0 ? [`${failed} cannot be rendered`] : []),
    ...(withErrors > 0 ? [`${withErrors} ${withErrors === 1 ? "has" : "have"} errors`] : []),
    ...(withWarnings > 0
      ? [`${withWarnings} ${withWarnings === 1 ? "has" : "have"} warnings`]
      : []),
  ];
  return parts.length === 0 ? "all mails are in order." : `${parts.join(", ")}.`;
}

type Finding = RehearsalVariant["findings"][number];

/** The findings that all mails have, which need not be repeated in each row. */
export function commonFindings(
  variants: readonly Pick<RehearsalVariant, "fault" | "findings">[],
): Finding[] {
  const [first, ...others] = variants.filter(({ fault }) => fault === null);
  if (first === undefined || others.length === 0) return [];
  const has = ({ findings }: Pick<RehearsalVariant, "findings">, { name, status }: Finding) =>
    findings.some((each) => each.name === name && each.status === status);
  return first.findings.filter(
    (finding) => finding.status !== "OK" && others.every((variant) => has(variant, finding)),
  );
}
