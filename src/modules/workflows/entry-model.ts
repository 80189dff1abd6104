/** Requests and responses about who enters a workflow: runs of entries, and forecasts. */

import { type Static, Type } from "@sinclair/typebox";
import { ENTRY_RUN_STATUSES, TRIGGER_TYPES } from "../../db/schema/workflows.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";

export const EntryRun = named(
  "EntryRun",
  described(
    Type.Object({
      id: Type.String(),
      workflowId: Type.String(),
      status: OneOf(ENTRY_RUN_STATUSES),
      segmentId: Nullable(Type.String()),
      plannedAt: Nullable(Type.String({ format: "date-time" })),
      entered: Type.Integer(),
      skipped: Type.Integer(),
      error: Nullable(Type.String()),
      createdAt: Type.String({ format: "date-time" }),
      completedAt: Nullable(Type.String({ format: "date-time" })),
    }),
    {
      id: "Id of the run",
      workflowId: "Id of the workflow",
      status: "RUNNING until the contacts have entered",
      segmentId: "The segment whose contacts enter; null for all contacts",
      plannedAt: "The time of the schedule; null if a request started the run",
      entered: "Contacts that entered",
      skipped: "Contacts that may not enter: they are active in the workflow, or entered it before",
      error: "Why the run failed or was cancelled",
      createdAt: "When the run began; contacts created later do not enter",
      completedAt: "When the run ended",
    },
  ),
  {
    description: "Contacts of a segment that enter a workflow",
    example: {
      id: "0199f2a4-7c1e-7d35-9a61-2f4b8c0d1e77",
      workflowId: EXAMPLE.workflowId,
      status: "COMPLETED",
      segmentId: EXAMPLE.segmentId,
      plannedAt: null,
      entered: 1200,
      skipped: 3,
      error: null,
      createdAt: EXAMPLE.createdAt,
      completedAt: EXAMPLE.updatedAt,
    },
  },
);
export type EntryRun = Static<typeof EntryRun>;

export const EntryInput = named(
  "EntryInput",
  described(Input({ segmentId: Nullable(Type.String({ minLength: 1, maxLength: 100 })) }), {
    segmentId: "The segment whose contacts enter; null for all contacts",
  }),
  { description: "Who enters a workflow", example: { segmentId: EXAMPLE.segmentId } },
);

export const EntryForecast = named(
  "EntryForecast",
  described(
    Type.Object({
      type: OneOf(TRIGGER_TYPES),
      eventName: Nullable(Type.String()),
      recentContacts: Nullable(Type.Integer()),
      recentDays: Nullable(Type.Integer()),
      nextTimes: Type.Array(Type.String({ format: "date-time" })),
      segmentId: Nullable(Type.String()),
      members: Nullable(Type.Integer()),
      text: Type.String(),
    }),
    {
      type: "What starts executions",
      eventName: "The event; null without one",
      recentContacts: "Contacts that had the event in the last days; null without an event",
      recentDays: "The number of these days; null without an event",
      nextTimes: "The next three times of the schedule; empty without one",
      segmentId: "The segment of the schedule; null for all contacts, or without a schedule",
      members: "Contacts that would enter now; null without a schedule",
      text: "The same in a sentence",
    },
  ),
  {
    description: "Who will enter a workflow",
    example: {
      type: "EVENT",
      eventName: "signed_up",
      recentContacts: 120,
      recentDays: 30,
      nextTimes: [],
      segmentId: null,
      members: null,
      text:
        'The next event "signed_up" of a contact starts it. 120 contacts had that event in the last ' +
        "30 days; only later events count.",
    },
  },
);
export type EntryForecast = Static<typeof EntryForecast>;
