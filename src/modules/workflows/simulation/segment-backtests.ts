/**
 * Backtests of segments: how many contacts met a condition at the end of each of the last days, in UTC.
 * In order:
 *
 * 1. `startSegmentBacktest` checks the condition, compiles it once for each day, and answers at once.
 * 2. The contacts are replayed in a thread (segment-replay.ts), a group after the other
 *    (backtest-runs.ts). The counts of all groups are added.
 */

import type { App } from "../../../core/app.ts";
import type { Project } from "../../../http/admission.ts";
import { AppError } from "../../../lib/errors.ts";
import { segmentService } from "../../segments/service.ts";
import { type Audience, audienceAt } from "../../segments/sql/plan.ts";
import { segmentApproximations } from "./approximations.ts";
import {
  cancelRun,
  DAY_MS,
  ensureNoBacktest,
  lastSegmentBacktest,
  MAX_CONTACTS,
  newRun,
  replayGroups,
  runBacktest,
  type SegmentRun,
} from "./backtest-runs.ts";
import { type ConditionNeeds, needsOfTests } from "./needs.ts";
import {
  namesToRead,
  readConditionRows,
  readContactRows,
  readContactsUntil,
  readRemovedEvents,
} from "./rows.ts";
import { sandboxSettings } from "./sandbox-app.ts";
import { addMembers, NO_MEMBERS, type SegmentReplayTask } from "./segment-replay.ts";
import { runSegmentReplay } from "./threads.ts";

/**
 * Throws 404 for an unknown segment, 422 for a STATIC one and for an invalid condition, 409 while another
 * backtest runs.
 */
export function startSegmentBacktest(
  app: App,
  project: Project,
  segmentId: string,
  { days, condition }: { days: number; condition?: unknown },
): SegmentRun {
  const audience = segmentService(app).draftAudience(project.seq, segmentId, condition);
  ensureNoBacktest(app, project.seq);
  const until = app.clock.now();
  // The last day is today, which has not ended.
  const from = until - (until % DAY_MS) - (days - 1) * DAY_MS;
  const needs = needsOfTests(audience.tests);
  const approximations = segmentApproximations(app, audience, { needs, from });
  const state: SegmentRun = {
    kind: "segment",
    ...newRun(segmentId, { days, from, until }, approximations),
    counts: NO_MEMBERS,
  };
  runBacktest(app, project.seq, state, () => replayAll(app, state, audience, needs));
  return state;
}

/** The last backtest of a segment; null if there is none, or if another one came later. */
export function findSegmentBacktest(
  app: App,
  project: Project,
  segmentId: string,
): SegmentRun | null {
  segmentService(app).audienceOf(project.seq, segmentId);
  return lastSegmentBacktest(app, project.seq, segmentId);
}

/** Ends the backtest of a segment that runs. Throws 409 if none does. */
export const cancelSegmentBacktest = (app: App, project: Project, id: string): SegmentRun =>
  cancelRun(findSegmentBacktest(app, project, id), "segment");

/** Adds the counts of one group of contacts after the other to the state. */
async function replayAll(
  app: App,
  state: SegmentRun,
  audience: Audience,
  needs: ConditionNeeds,
): Promise<void> {
  const { projectSeq } = audience;
  const limit = MAX_CONTACTS + 1;
  const contacts = await readContactsUntil(app, projectSeq, { until: state.until, limit });
  if (contacts.length > MAX_CONTACTS) throw tooMany();
  const names = await namesToRead(app, projectSeq, needs);
  const shared = await readConditionRows(app, projectSeq, needs);
  const condition = conditionAt(audience, momentsOf(state));
  const input = { projectSeq, contacts, names };
  const ofContacts = { addresses: [], hasSegments: needs.hasStaticSegments, ...needs };
  await replayGroups(app, state, input, async ({ contactSeqs, events }) => {
    const own = await readContactRows(app, projectSeq, contactSeqs, ofContacts);
    const removed = await readRemovedEvents(app, projectSeq, contactSeqs, needs);
    const tables = [...shared, ...own, removed];
    const counts = await runSegmentReplay(app, projectSeq, {
      kind: "segment",
      sandbox: { ...sandboxSettings(app), projectSeq, tables },
      contactSeqs,
      events,
      ...condition,
    });
    state.counts = addMembers(state.counts, counts);
  });
}

/** The last millisecond before the period, that of each day, and the time of the start. */
function momentsOf({ from, days, until }: SegmentRun): number[] {
  return Array.from({ length: days + 1 }, (_, i) => Math.min(from + i * DAY_MS - 1, until));
}

/** The SQL of the condition is the same at all times; only its values are others. */
function conditionAt(
  audience: Audience,
  moments: readonly number[],
): Pick<SegmentReplayTask, "where" | "moments"> {
  return {
    where: audience.where.text,
    moments: moments.map((at) => {
      const { text, values } = audienceAt(audience, at).where;
      if (text !== audience.where.text)
        throw new Error("the SQL of a condition depends on the time");
      return { at, values };
    }),
  };
}

function tooMany(): AppError {
  const message = `The project has more than ${MAX_CONTACTS} contacts, which takes too long.`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "GET /segments/{id} counts the members of today.",
  });
}
