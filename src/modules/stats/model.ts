/** Schemas of the statistics of a project. */

import { type Static, Type } from "@sinclair/typebox";
import { described, describedUse, named } from "../../http/documented.ts";
import { Input, OneOf } from "../../http/validation.ts";

const DateTime = Type.String({ format: "date-time" });
const Count = Type.Integer({ minimum: 0 });

const COUNTS = {
  sent: Count,
  delivered: Count,
  opened: Count,
  clicked: Count,
  bounced: Count,
  bouncedLater: Count,
  complained: Count,
  failed: Count,
  suppressed: Count,
  subscribed: Count,
  unsubscribed: Count,
};

const COUNT_TEXTS = {
  sent: "Mails that a mail server accepted",
  delivered: "Mails whose delivery was confirmed",
  opened: "Mails opened by a person, each counted once, at its first open",
  clicked: "Mails with a click by a person, each counted once, at its first click",
  bounced: "Mails that were refused for good",
  bouncedLater: "Those of them that a report announced after the mail was accepted",
  complained: "Mails reported as spam",
  failed: "Mails that could not be sent",
  suppressed: "Mails not sent because their address is suppressed",
  subscribed: "Subscriptions",
  unsubscribed: "Unsubscriptions",
};

const EXAMPLE_COUNTS = {
  sent: 120,
  delivered: 118,
  opened: 61,
  clicked: 14,
  bounced: 2,
  bouncedLater: 1,
  complained: 0,
  failed: 0,
  suppressed: 1,
  subscribed: 5,
  unsubscribed: 1,
};

const StatsCounts = named("StatsCounts", described(Type.Object(COUNTS), COUNT_TEXTS), {
  description: "Numbers of events in a period",
  example: EXAMPLE_COUNTS,
});
export type StatsCounts = Static<typeof StatsCounts>;

const StatsPoint = named(
  "StatsPoint",
  described(Type.Object({ start: Type.String(), ...COUNTS }), {
    start: "The hour as a date-time, or the day as a date in the time zone of the request",
    ...COUNT_TEXTS,
  }),
  {
    description: "The numbers of one hour or day",
    example: { start: "2026-03-02", ...EXAMPLE_COUNTS },
  },
);
export type StatsPoint = Static<typeof StatsPoint>;

const Interval = OneOf(["HOUR", "DAY"]);

export const ProjectStats = named(
  "ProjectStats",
  described(
    Type.Object({
      from: DateTime,
      to: DateTime,
      interval: Interval,
      timeZone: Type.String(),
      points: Type.Array(StatsPoint),
      totals: StatsCounts,
      previousTotals: StatsCounts,
    }),
    {
      from: "Start of the period, included",
      to: "End of the period, not included",
      interval: "Length of a point",
      timeZone: "Time zone in which days begin",
      points: "The hours or days of the period in their order, those without events included",
      totals: "The sums of the period",
      previousTotals: "The sums of the period of the same length before it",
    },
  ),
  {
    description: "Numbers of the mails and subscriptions of a project in a period",
    example: {
      from: "2026-03-02T00:00:00.000Z",
      to: "2026-03-03T00:00:00.000Z",
      interval: "DAY",
      timeZone: "UTC",
      points: [{ start: "2026-03-02", ...EXAMPLE_COUNTS }],
      totals: EXAMPLE_COUNTS,
      previousTotals: EXAMPLE_COUNTS,
    },
  },
);

export const StatsQuery = Input({
  from: Type.Optional(
    Type.String({
      format: "date-time",
      description: "Start of the period, included; 30 days before its end without it",
    }),
  ),
  to: Type.Optional(
    Type.String({
      format: "date-time",
      description: "End of the period, not included; without it, the end of the current hour",
    }),
  ),
  interval: Type.Optional(
    describedUse(
      Interval,
      "Length of a point: HOUR for at most 31 days, DAY (default) for at most 731",
    ),
  ),
  timeZone: Type.Optional(
    Type.String({
      maxLength: 64,
      description: "Time zone in which days begin, such as Europe/Berlin; UTC without it",
    }),
  ),
});
export type StatsQuery = Static<typeof StatsQuery>;
