/**
 * The limits of a backtest, because the log does not record everything. The answer repeats each
 * sentence.
 */

import type { App } from "../../../core/app.ts";
import { statement } from "../../../db/statement.ts";
import { isoTime } from "../../../lib/clock.ts";
import { isServiceEvent } from "../../../lib/service-events.ts";
import { leafTests } from "../../segments/condition/dependencies.ts";
import type { ResolvedTest } from "../../segments/condition/references.ts";
import { type Graph, triggerOf } from "../graph/graph.ts";
import { awaitedEventsOf } from "../graph/references.ts";
import { type ConditionNeeds, type Needs, readsMails } from "./needs.ts";

const findOldest = statement<{ at: number | null }, [number]>(
  "SELECT min(created_at) AS at FROM events INDEXED BY events_page WHERE project_seq = +?",
);

type Texts = Readonly<Record<string, boolean>>;
const thoseThatApply = (texts: Texts): string[] =>
  Object.keys(texts).filter((text) => texts[text] === true);

/** The limits of all backtests. */
function commonTexts(
  app: App,
  projectSeq: number,
  { needs, from }: { needs: ConditionNeeds; from: number },
): Texts {
  const oldest = findOldest(app).get(projectSeq)?.at ?? null;
  return {
    [`The log of this project begins at ${isoTime(oldest ?? from)}; earlier events are not known.`]:
      oldest !== null && oldest > from,
    "Contacts that have been deleted are not counted.": true,
    [DATA]: needs.readsData,
    "The members of segments with a list of contacts are those of today.": needs.hasStaticSegments,
  };
}

/** The limits of a backtest of a segment. */
export function segmentApproximations(
  app: App,
  projectSeq: number,
  { tests, needs, from }: { tests: readonly ResolvedTest[]; needs: ConditionNeeds; from: number },
): string[] {
  const kinds = new Set(
    leafTests(tests).flatMap((test) => (test.kind === "field" ? test.target.kind : [])),
  );
  return thoseThatApply({
    ...commonTexts(app, projectSeq, { needs, from }),
    "Contacts are compared at the end of each day. One that enters and leaves between two ends is not counted.": true,
    "The addresses of contacts are those of today.": kinds.has("email"),
    "Contacts who have not chosen are in a topic, or not, by its default of today.":
      kinds.has("topic"),
  });
}

export function approximationsOf(
  app: App,
  projectSeq: number,
  { graph, needs, from }: { graph: Graph; needs: Needs; from: number },
): string[] {
  const names = [...needs.eventNames];
  return thoseThatApply({
    ...commonTexts(app, projectSeq, { needs, from }),
    "Contacts who were let in by hand are not counted.": !("cron" in triggerOf(graph)),
    "The answers of webhooks are not recorded: each call is taken as answered without data.":
      needs.hasWebhooks,
    [MAILS]: awaitedEventsOf(graph).some((name) => name.startsWith("email.")),
    "Conditions on mails of campaigns and templates see these mails as they are today.": readsMails(
      needs.mails,
    ),
    "Entries into segments and exits from them are those that were recorded.": names.some(
      (name) => name.startsWith("segment.") && isServiceEvent(name),
    ),
    "Templates, senders, and the verification of their domains are those of today.":
      needs.templateIds.length > 0,
    "A schedule has started the workflow at each of its times, also while the server was stopped.":
      "cron" in triggerOf(graph),
    "Addresses whose suppression has ended are taken as never suppressed.":
      needs.templateIds.length > 0,
    "Quotas of the project hold back no mail.": hasQuota(app) && needs.templateIds.length > 0,
  });
}

const DATA =
  "Data of contacts is that of their events, in the order of the log. Data that no event has brought " +
  "is as it is today.";

const MAILS =
  "Opens, clicks and other events of mails are those of mails that were really sent. A mail that this " +
  "workflow would have sent for the first time has none.";

const hasQuota = ({ config }: App): boolean =>
  config.quotaQueuedMails > 0 || config.quotaStorage > 0;
