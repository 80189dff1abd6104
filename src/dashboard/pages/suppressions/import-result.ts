/** The result of an import of suppressions in words. */

import type { ImportProgress } from "../../../modules/contacts/import/model.ts";
import { amount } from "../contacts/import/counts.ts";

type Counts = Pick<ImportProgress, "created" | "updated" | "failed">;

/** One line for each count that is not zero; new suppressions always. */
export function importLines({ created, updated, failed }: Counts): string[] {
  const were = (count: number) => (count === 1 ? "was" : "were");
  return [
    `${amount(created, "address", "addresses")} ${were(created)} suppressed`,
    ...(updated === 0
      ? []
      : [`${amount(updated, "address", "addresses")} ${were(updated)} suppressed already`]),
    ...(failed === 0 ? [] : [`${amount(failed, "row")} could not be read`]),
  ];
}
