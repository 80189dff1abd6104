/** The results of an import or of its trial: the counts of rows and the faults. */

import type { RowFault } from "./faults.ts";
import type { ImportJob } from "./model.ts";
import type { ImportRow } from "./rows.ts";
import type { RowContent, RowOutcome } from "./write.ts";
import type { Progress } from "../jobs/jobs.ts";

/** Results that have no column in the table of jobs. */
type Results = Required<
  Pick<
    ImportJob,
    | "suppressed"
    | "keptUnsubscribed"
    | "unchanged"
    | "resubscribed"
    | "unsubscribed"
    | "createdSubscribed"
    | "topicsJoined"
    | "topicsLeft"
    | "keptOutOfTopics"
    | "left"
  >
>;

export type Counters = { progress: Progress; results: Results };

/** Contacts that left and are named. */
const MOST_LEFT = 100;

/** `created` is the number of contacts that the job created before, without a result of its own. */
export function importResults(input: Partial<ImportJob>, created = 0): Results {
  const { suppressed = 0, keptUnsubscribed = 0, unchanged = 0, resubscribed = 0 } = input;
  // An earlier version created contacts without counting those that are subscribed.
  const { unsubscribed = 0, createdSubscribed = created === 0 ? 0 : null } = input;
  const { topicsJoined = 0, topicsLeft = 0, keptOutOfTopics = 0 } = input;
  return {
    suppressed,
    keptUnsubscribed,
    unchanged,
    resubscribed,
    unsubscribed,
    createdSubscribed,
    topicsJoined,
    topicsLeft,
    keptOutOfTopics,
    left: [...(input.left ?? [])],
  };
}

/** Writes or tries a row and counts its changes. Its fault is added to `faults`. */
export function countRow(
  row: ImportRow,
  run: (content: RowContent) => RowOutcome,
  { progress, results }: Counters,
  faults: RowFault[],
): void {
  const outcome: RowOutcome =
    row.kind === "row" ? run(row) : { is: "failed", message: row.message };
  progress[outcome.is]++;
  progress.processed++;
  if (outcome.is === "failed") {
    const cells = row.kind === "fault" ? row.cells : undefined;
    faults.push({ line: row.line, message: outcome.message, cells });
    return;
  }
  results.suppressed += Number(outcome.isSuppressed);
  results.keptUnsubscribed += Number(outcome.isKeptUnsubscribed);
  results.unchanged += Number(outcome.isUnchanged);
  results.resubscribed += Number(outcome.isResubscribed);
  results.unsubscribed += Number(outcome.isUnsubscribed);
  results.topicsJoined += outcome.topicsJoined;
  results.topicsLeft += outcome.topicsLeft;
  results.keptOutOfTopics += outcome.keptOutOfTopics;
  if (results.createdSubscribed !== null && outcome.is === "created") {
    results.createdSubscribed += Number(outcome.isSubscribed);
  }
  const isOfLeft = outcome.isKeptUnsubscribed || outcome.isResubscribed;
  if (row.kind === "row" && isOfLeft) addLeft(results.left, row);
}

/** Keeps the contacts with the first lines. */
function addLeft(left: Results["left"], { line, email }: { line: number; email: string }): void {
  if (left.length === MOST_LEFT && line > (left.at(-1)?.line ?? 0)) return;
  const at = left.findIndex((each) => each.line > line);
  left.splice(at === -1 ? left.length : at, 0, { line, email });
  if (left.length > MOST_LEFT) left.pop();
}
