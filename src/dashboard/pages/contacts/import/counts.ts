/** The results of an import in words. */

import type { ImportProgress } from "../../../../modules/contacts/import/model.ts";

type Counts = Pick<
  ImportProgress,
  | "created"
  | "createdSubscribed"
  | "updated"
  | "unchanged"
  | "failed"
  | "suppressed"
  | "keptUnsubscribed"
  | "resubscribed"
  | "unsubscribed"
  | "topicsJoined"
  | "topicsLeft"
  | "keptOutOfTopics"
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
  const { created, updated, unchanged, failed, suppressed, unsubscribed, dryRun } = job;
  const { topicsJoined, topicsLeft, keptOutOfTopics } = job;
  const will = (future: string, past: string) => (dryRun ? future : past);
  const lines: (Line & { isAlways?: true })[] = [
    {
      key: "created",
      count: created,
      text: `${amount(created, "new contact")} ${will("will be added", created === 1 ? "was added" : "were added")}${subscriptionText(job)}`,
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
      key: "unsubscribed",
      count: unsubscribed,
      text: `${amount(unsubscribed, "subscribed contact")} ${will("will be unsubscribed", unsubscribed === 1 ? "was unsubscribed" : "were unsubscribed")}, because the file says so`,
      tone: "held",
    },
    {
      key: "topicsJoined",
      count: topicsJoined,
      text: `${amount(topicsJoined, "topic subscription")} ${will("will be added", topicsJoined === 1 ? "was added" : "were added")}`,
    },
    {
      key: "topicsLeft",
      count: topicsLeft,
      text: `${amount(topicsLeft, "topic subscription")} ${will("will be ended", topicsLeft === 1 ? "was ended" : "were ended")}`,
    },
    {
      key: "keptOutOfTopics",
      count: keptOutOfTopics,
      text: `${amount(keptOutOfTopics, "topic subscription")} ${will("will not be added", keptOutOfTopics === 1 ? "was not added" : "were not added")}, because the contact has left the topic or is not subscribed`,
      tone: "held",
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

/** Says how many of the new contacts are subscribed; it says nothing where they were not counted. */
function subscriptionText({ created, createdSubscribed }: Counts): string {
  if (created === 0 || createdSubscribed === null) return "";
  const others = created - createdSubscribed;
  if (created === 1) return others === 0 ? ", subscribed" : ", not subscribed";
  if (others === 0) return ", all of them subscribed";
  if (createdSubscribed === 0) return ", none of them subscribed";
  return `: ${number.format(createdSubscribed)} subscribed, ${number.format(others)} not subscribed`;
}
