/**
 * Backtests of segments: how many contacts met a condition at the end of each of the last days, in UTC.
 * In order:
 *
 * 1. `startSegmentBacktest` checks the condition and answers at once.
 * 2. The contacts are replayed in a thread (segment-replay.ts), a group after the other
 *    (backtest-runs.ts). The counts of all groups are added.
 */

import type { App } from "../../../core/app.ts";
import type { Project } from "../../../http/admission.ts";
import { AppError } from "../../../lib/errors.ts";
import { wireCondition } from "../../segments/condition/condition.ts";
import { leafTests } from "../../segments/condition/dependencies.ts";
import { referencesOf } from "../../segments/condition/references.ts";
import { segmentService } from "../../segments/service.ts";
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
import { addMembers, NO_MEMBERS } from "./segment-replay.ts";
import { runSegmentReplay } from "./threads.ts";

/** Tests of contacts at moments that a thread makes at once; they take some seconds. */
const MAX_TESTS = 2_000_000;

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
  const segments = segmentService(app);
  const checked = segments.draftCondition(project.seq, segmentId, condition);
  const { tests } = segments.audienceOfCondition(project.seq, checked);
  ensureNoBacktest(app, project.seq);
  const until = app.clock.now();
  // The last day is today, which has not ended.
  const from = until - (until % DAY_MS) - (days - 1) * DAY_MS;
  const needs = needsOfTests(tests);
  const approximations = segmentApproximations(app, project.seq, { tests, needs, from });
  const state: SegmentRun = {
    kind: "segment",
    ...newRun(segmentId, { days, from, until }, approximations),
    counts: NO_MEMBERS,
  };
  const plan = {
    condition: wireCondition(checked),
    hasReferences: referencesOf(checked).length > 0,
    needs,
    maxGroup: Math.ceil(MAX_TESTS / (leafTests(tests).length * (days + 1))),
  };
  runBacktest(app, project.seq, state, () => replayAll(app, project.seq, state, plan));
  return state;
}

/** A condition that has been checked. */
type Plan = {
  condition: unknown;
  /** True if it refers to segments. */
  hasReferences: boolean;
  needs: ConditionNeeds;
  maxGroup: number;
};

/** The last backtest of a segment; null if there is none, or if another one came later. */
export function findSegmentBacktest(
  app: App,
  project: Project,
  segmentId: string,
): SegmentRun | null {
  segmentService(app).ensureExists(project.seq, segmentId);
  return lastSegmentBacktest(app, project.seq, segmentId);
}

/** Ends the backtest of a segment that runs. Throws 409 if none does. */
export const cancelSegmentBacktest = (app: App, project: Project, id: string): SegmentRun =>
  cancelRun(findSegmentBacktest(app, project, id), "segment");

/** Adds the counts of one group of contacts after the other to the state. */
async function replayAll(
  app: App,
  projectSeq: number,
  state: SegmentRun,
  { condition, hasReferences, needs, maxGroup }: Plan,
): Promise<void> {
  const limit = MAX_CONTACTS + 1;
  const contacts = await readContactsUntil(app, projectSeq, { until: state.until, limit });
  if (contacts.length > MAX_CONTACTS) throw tooMany();
  const names = await namesToRead(app, projectSeq, needs);
  const shared = await readConditionRows(app, projectSeq, { ...needs, hasReferences });
  const moments = momentsOf(state);
  const input = { projectSeq, contacts, names, maxGroup };
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
      condition,
      moments,
    });
    state.counts = addMembers(state.counts, counts);
  });
}

/** The last millisecond before the period, that of each day, and the time of the start. */
function momentsOf({ from, days, until }: SegmentRun): number[] {
  return Array.from({ length: days + 1 }, (_, i) => Math.min(from + i * DAY_MS - 1, until));
}

function tooMany(): AppError {
  const message = `The project has more than ${MAX_CONTACTS} contacts, which takes too long.`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "GET /segments/{id} counts the members of today.",
  });
}
