/**
 * POST /segments/{id}/backtest
 * GET  /segments/{id}/backtest
 * POST /segments/{id}/backtest/cancel
 *
 * None of them writes to the database.
 */

import { inArray } from "drizzle-orm";
import type { App } from "../../../core/app.ts";
import { contacts } from "../../../db/schema/contacts.ts";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope } from "../../../http/envelope.ts";
import { operations, read } from "../../../http/operations.ts";
import { isoTime } from "../../../lib/clock.ts";
import { DAY_MS, presentRun, type SegmentRun } from "./backtest-runs.ts";
import {
  cancelSegmentBacktest,
  findSegmentBacktest,
  startSegmentBacktest,
} from "./segment-backtests.ts";
import { LastSegmentBacktest, SegmentBacktest, SegmentBacktestInput } from "./segment-model.ts";

export const segmentBacktestOperations = operations(
  "Segments",
  { parameters: { id: "Id of the segment" } },
  [
    read("POST /segments/:id/backtest", {
      id: "startSegmentBacktest",
      role: "EDITOR",
      scopes: ["CONTACTS"],
      isAudited: false,
      summary: "Count the members that a segment had on each of the last days",
      description:
        "The recorded events are replayed, and the contacts that meet the condition of the segment, or " +
        "another one, are counted at the end of each day in UTC. Answers at once; the counts grow while " +
        "it runs, and a project has one backtest at a time. Nothing is stored. A STATIC segment is " +
        "refused with 422.",
      body: limited(SegmentBacktestInput, BODY_LIMITS.condition),
      answer: Envelope(SegmentBacktest),
      run: (app, { project, params, body }) =>
        present(app, startSegmentBacktest(app, project, params.id, body)),
    }),
    read("GET /segments/:id/backtest", {
      id: "getSegmentBacktest",
      role: "VIEWER",
      scopes: ["READ", "CONTACTS"],
      summary: "Get the last backtest of a segment",
      description:
        "It is kept until another one of the project is started, or the server is stopped.",
      answer: Envelope(LastSegmentBacktest),
      run(app, { project, params }) {
        const state = findSegmentBacktest(app, project, params.id);
        return { backtest: state === null ? null : present(app, state) };
      },
    }),
    read("POST /segments/:id/backtest/cancel", {
      id: "cancelSegmentBacktest",
      role: "EDITOR",
      scopes: ["CONTACTS"],
      isAudited: false,
      summary: "End the backtest of a segment",
      description: "The counts so far stay. One that has ended is refused with 409. Needs no body.",
      answer: Envelope(SegmentBacktest),
      run: (app, { project, params }) =>
        present(app, cancelSegmentBacktest(app, project, params.id)),
    }),
  ],
);

const NONE = { members: 0, entered: 0, left: 0 };

function present(app: App, state: SegmentRun): SegmentBacktest {
  const { moments } = state.counts;
  const days = Array.from({ length: state.days }, (_, i) => {
    const { members, entered, left } = moments[i + 1] ?? NONE;
    return { day: dayOf(state, i + 1), members, entered, left };
  });
  return {
    ...presentRun(state),
    segmentId: state.subjectId,
    result: {
      membersBefore: moments[0]?.members ?? 0,
      members: days.at(-1)?.members ?? 0,
      entered: days.reduce((sum, { entered }) => sum + entered, 0),
      left: days.reduce((sum, { left }) => sum + left, 0),
      days,
      examples: examplesOf(app, state),
    },
  };
}

/** The date of the day that ends at a moment. */
const dayOf = ({ from }: SegmentRun, moment: number): string =>
  isoTime(from + (moment - 1) * DAY_MS).slice(0, 10);

function examplesOf({ db }: App, state: SegmentRun): SegmentBacktest["result"]["examples"] {
  const { examples } = state.counts;
  const rows = db
    .select({ seq: contacts.seq, id: contacts.id, email: contacts.email })
    .from(contacts)
    .where(
      inArray(
        contacts.seq,
        examples.map(({ contactSeq }) => contactSeq),
      ),
    )
    .all();
  const known = new Map(rows.map((row) => [row.seq, row]));
  return examples.map(({ contactSeq, moment, event }) => ({
    contactId: known.get(contactSeq)?.id ?? null,
    contactEmail: known.get(contactSeq)?.email ?? null,
    day: dayOf(state, moment),
    event: event === null ? null : { name: event.name, at: isoTime(event.at) },
  }));
}
