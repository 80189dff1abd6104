/** The results of an import in words. */

import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";

type Counts = Pick<
  ImportProgress,
  | "created"
  | "updated"
  | "unchanged"
  | "failed"
  | "suppressed"
  | "keptUnsubscribed"
  | "resubscribed"
  | "dryRun"
>;
type Line = { key: string; count: number; text: string; tone?: "held" | "failed" };

const number = new Intl.NumberFormat();

export const hasEnded = ({ status }: Pick<ImportProgress, "status">): boolean =>
  status === "COMPLETED" || status === "FAILED";

/** `3 rows`; `1 row`. */
export const amount = (count: number, one: string, many = `${one}s`): string =>
  `${number.format(count)} ${count === 1 ? one : many}`;

/** One line for each result that is not zero; new contacts always. */
export function resultLines(job: Counts): Line[] {
  const { created, updated, unchanged, failed, suppressed, dryRun } = job;
  const will = (future: string, past: string) => (dryRun ? future : past);
  const lines: (Line & { isAlways?: true })[] = [
    {
      key: "created",
      count: created,
      text: `${amount(created, "new contact")} ${will("will be added", created === 1 ? "was added" : "were added")}`,
      isAlways: true,
    },
    {
      key: "changed",
      count: updated - unchanged,
      text: `${amount(updated - unchanged, "contact")} ${will("will be changed", updated - unchanged === 1 ? "was changed" : "were changed")}`,
    },
    {
      key: "unchanged",
      count: unchanged,
      text: `${amount(unchanged, "contact")} ${unchanged === 1 ? "has" : "have"} these values already`,
    },
    {
      key: "suppressed",
      count: suppressed,
      text: `${amount(suppressed, "address", "addresses")} ${will("will be suppressed", suppressed === 1 ? "was suppressed" : "were suppressed")}, because the file says that mail to ${suppressed === 1 ? "it" : "them"} bounced, was marked as spam or is blocked`,
      tone: "held",
    },
    {
      key: "failed",
      count: failed,
      text: `${amount(failed, "row")} cannot be imported`,
      tone: "failed",
    },
  ];
  return lines.filter(({ count, isAlways }) => count > 0 || isAlways === true);
}
