/** Requests and responses of the backtests of segments. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input } from "../../../http/validation.ts";
import { ConditionSchema } from "../../segments/condition-model.ts";
import { BACKTEST_RUN, BACKTEST_RUN_TEXTS, Days } from "./backtest-model.ts";

const DateTime = Type.String({ format: "date-time" });
const count = Type.Integer();

export const SegmentBacktestInput = named(
  "SegmentBacktestInput",
  described(Input({ days: Days, condition: Type.Optional(ConditionSchema) }), {
    days: "How many days in UTC are looked at; the last one is today",
    condition: "A condition that is tried and not stored; without it, that of the segment",
  }),
  { description: "A backtest of a segment to start", example: { days: 30 } },
);

const SegmentBacktestDay = named(
  "SegmentBacktestDay",
  described(Type.Object({ day: Type.String(), members: count, entered: count, left: count }), {
    day: "Date in UTC, such as 2036-03-03",
    members: "Members at the end of the day; today until the start of the backtest",
    entered: "Members who were none at the end of the day before",
    left: "Members at the end of the day before who are none",
  }),
  { description: "The members of a segment at the end of a day" },
);

const SegmentBacktestExample = named(
  "SegmentBacktestExample",
  described(
    Type.Object({
      contactId: Nullable(Type.String()),
      contactEmail: Nullable(Type.String()),
      day: Type.String(),
      event: Nullable(
        described(Type.Object({ name: Type.String(), at: DateTime }), {
          name: "Name of the event",
          at: "When it happened",
        }),
      ),
    }),
    {
      contactId: "Id of the contact; null if it was deleted meanwhile",
      contactEmail: "Its address",
      day: "The day on which it entered, in UTC",
      event:
        "The last event of the contact on that day that the condition reads, or that has brought data; " +
        "null if there is none, so that the passing of time or data without an event was the reason",
    },
  ),
  { description: "A contact that entered a segment" },
);

const SegmentBacktestResult = named(
  "SegmentBacktestResult",
  described(
    Type.Object({
      membersBefore: count,
      members: count,
      entered: count,
      left: count,
      days: Type.Array(SegmentBacktestDay),
      examples: Type.Array(SegmentBacktestExample),
    }),
    {
      membersBefore: "Members before the first day",
      members: "Members at the end",
      entered: "The sum of the entries of all days",
      left: "The sum of the exits of all days",
      days: "Each day of the period",
      examples: "Up to ten contacts that entered, the newest days first",
    },
  ),
  { description: "The members that a condition had" },
);

export const SegmentBacktest = named(
  "SegmentBacktest",
  described(
    Type.Object({ ...BACKTEST_RUN, segmentId: Type.String(), result: SegmentBacktestResult }),
    {
      ...BACKTEST_RUN_TEXTS,
      segmentId: "Id of the segment",
      from: "The beginning of the first day",
    },
  ),
  {
    description: "The members that a segment had at the end of each day",
    example: {
      id: EXAMPLE.requestId,
      segmentId: EXAMPLE.segmentId,
      status: "COMPLETED",
      days: 2,
      from: "2026-03-03T00:00:00.000Z",
      until: "2026-03-04T09:00:00.000Z",
      progress: { done: 1200, total: 1200 },
      error: null,
      approximations: ["Contacts that have been deleted are not counted."],
      result: {
        membersBefore: 40,
        members: 42,
        entered: 3,
        left: 1,
        days: [
          { day: "2026-03-03", members: 39, entered: 0, left: 1 },
          { day: "2026-03-04", members: 42, entered: 3, left: 0 },
        ],
        examples: [
          {
            contactId: EXAMPLE.contactId,
            contactEmail: "ada@example.com",
            day: "2026-03-04",
            event: { name: "login", at: "2026-03-04T08:12:00.000Z" },
          },
        ],
      },
    },
  },
);
export type SegmentBacktest = Static<typeof SegmentBacktest>;

export const LastSegmentBacktest = named(
  "LastSegmentBacktest",
  described(Type.Object({ backtest: Nullable(SegmentBacktest) }), {
    backtest: "The last backtest; null if there is none since the start of the server",
  }),
  { description: "The last backtest of a segment", example: { backtest: null } },
);
export type LastSegmentBacktest = Static<typeof LastSegmentBacktest>;
