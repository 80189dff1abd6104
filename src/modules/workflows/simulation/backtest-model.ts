/** Requests and responses of backtests of workflows. */

import { type Static, Type } from "@sinclair/typebox";
import { EXECUTION_STATUSES } from "../../../db/schema/workflows.ts";
import { described, named } from "../../../http/documented.ts";
import { Nullable } from "../../../http/envelope.ts";
import { EXAMPLE } from "../../../http/example-values.ts";
import { Input, OneOf } from "../../../http/validation.ts";
import { EDITED, Edited } from "./model.ts";

const DateTime = Type.String({ format: "date-time" });
const Status = OneOf(EXECUTION_STATUSES);
const Outcome = OneOf(["COMPLETED", "SKIPPED", "FAILED"]);

export const Days = Type.Integer({ minimum: 1, maximum: 365 });

export const BacktestInput = named(
  "BacktestInput",
  described(Input({ days: Days, workflow: Edited }), {
    days: "How many days of recorded events are replayed, up to now",
    workflow: EDITED,
  }),
  { description: "A backtest to start", example: { days: 30 } },
);

const count = Type.Integer();

const BacktestStep = named(
  "BacktestStep",
  described(
    Type.Object({
      stepId: Type.String(),
      entered: count,
      completed: count,
      skipped: count,
      failed: count,
      active: count,
      branches: Type.Array(
        Type.Object({
          branch: Type.String({ description: "The branch" }),
          count: Type.Integer({ description: "Executions that took it" }),
        }),
      ),
    }),
    {
      stepId: "Id of the step",
      entered: "How often it was entered",
      completed: "How often it was completed",
      skipped: "How often it was skipped, as mail to an unsubscribed contact",
      failed: "How often it failed",
      active: "Executions that are at the step at the end",
      branches: "How often each branch was taken",
    },
  ),
  { description: "Counts of one step in a backtest" },
);

const BacktestMails = named(
  "BacktestMails",
  described(
    Type.Object({
      templateId: Type.String(),
      templateName: Nullable(Type.String()),
      total: count,
      suppressed: count,
      days: Type.Array(
        Type.Object({
          day: Type.String({ description: "Date in UTC, such as 2036-03-03" }),
          count: Type.Integer({ description: "Mails of the day" }),
        }),
      ),
    }),
    {
      templateId: "Id of the template",
      templateName: "Name of the template; null if it was deleted",
      total: "Number of mails",
      suppressed: "How many of them have a suppressed address, and would not leave",
      days: "Mails by day",
    },
  ),
  { description: "The mails of one template in a backtest" },
);

const BacktestExample = named(
  "BacktestExample",
  described(
    Type.Object({
      contactId: Nullable(Type.String()),
      contactEmail: Nullable(Type.String()),
      status: Status,
      currentStepId: Nullable(Type.String()),
      reason: Nullable(Type.String()),
      startedAt: DateTime,
      completedAt: Nullable(DateTime),
      steps: Type.Array(
        described(
          Type.Object({
            stepId: Type.String(),
            outcome: Outcome,
            branch: Nullable(Type.String()),
            startedAt: DateTime,
            completedAt: DateTime,
          }),
          {
            stepId: "Id of the step",
            outcome: "The end of the step",
            branch: "The branch that was taken; null if it was unconditional",
            startedAt: "When the step started",
            completedAt: "When the step ended",
          },
        ),
      ),
    }),
    {
      contactId: "Id of the contact; null if it was deleted meanwhile",
      contactEmail: "Its address",
      status: "The state at the end of the backtest",
      currentStepId: "Id of the step at which it is",
      reason: "Why it ended early or failed",
      startedAt: "When it would have started",
      completedAt: "When it would have ended; null if it has not",
      steps: "Its completed steps, at most 100",
    },
  ),
  { description: "An execution of a backtest" },
);

const BacktestResult = named(
  "BacktestResult",
  described(
    Type.Object({
      started: count,
      days: Type.Array(
        Type.Object({
          day: Type.String({ description: "Date in UTC, such as 2036-03-03" }),
          started: Type.Integer({ description: "Executions that started" }),
          mails: Type.Integer({ description: "Mails that were made" }),
        }),
      ),
      steps: Type.Array(BacktestStep),
      mails: Type.Array(BacktestMails),
      endings: Type.Array(
        described(
          Type.Object({
            status: Status,
            reason: Nullable(Type.String()),
            count: Type.Integer(),
          }),
          {
            status: "Status of the executions",
            reason: "Why they ended early or failed; null without a reason",
            count: "Number of executions",
          },
        ),
      ),
      examples: Type.Array(BacktestExample),
    }),
    {
      started: "Executions that would have started",
      days: "What happened on each day on which something did",
      steps: "The steps that were entered",
      mails: "The mails by template",
      endings: "How the executions have ended, or that they are active, by reason",
      examples: "Up to ten executions, first those with different paths",
    },
  ),
  { description: "What a workflow would have done" },
);

/** The fields that backtests of workflows and of segments have. */
export const BACKTEST_RUN = {
  id: Type.String(),
  status: OneOf(["RUNNING", "COMPLETED", "FAILED", "CANCELLED"]),
  days: count,
  from: DateTime,
  until: DateTime,
  progress: described(Type.Object({ done: count, total: count }), {
    done: "Contacts that were replayed",
    total: "All contacts; 0 until they are known",
  }),
  error: Nullable(Type.String()),
  approximations: Type.Array(Type.String()),
};
export const BACKTEST_RUN_TEXTS = {
  id: "Id of the backtest",
  status: "Whether it runs or has ended, and how",
  days: "How many days are replayed",
  from: "The beginning of the period",
  until: "The end of the period: when the backtest was started",
  progress: "How far it is",
  error: "Why it failed; null if it did not",
  approximations: "What the recorded events do not say, as sentences",
  result: "The counts of the contacts that were replayed so far",
};

export const Backtest = named(
  "Backtest",
  described(Type.Object({ ...BACKTEST_RUN, workflowId: Type.String(), result: BacktestResult }), {
    ...BACKTEST_RUN_TEXTS,
    workflowId: "Id of the workflow",
  }),
  {
    description: "What a workflow would have done with the events that were recorded",
    example: {
      id: EXAMPLE.requestId,
      workflowId: EXAMPLE.workflowId,
      status: "RUNNING",
      days: 30,
      from: "2026-02-02T09:00:00.000Z",
      until: "2026-03-04T09:00:00.000Z",
      progress: { done: 500, total: 1200 },
      error: null,
      approximations: ["Contacts that have been deleted are not counted."],
      result: { started: 0, days: [], steps: [], mails: [], endings: [], examples: [] },
    },
  },
);
export type Backtest = Static<typeof Backtest>;

export const LastBacktest = named(
  "LastBacktest",
  described(Type.Object({ backtest: Nullable(Backtest) }), {
    backtest: "The last backtest; null if there is none since the start of the server",
  }),
  { description: "The last backtest of a workflow", example: { backtest: null } },
);
export type LastBacktest = Static<typeof LastBacktest>;
