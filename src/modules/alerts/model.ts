/** Alerts as the interface shows them. */

import { type Static, Type } from "@sinclair/typebox";
import { ALERT_SEVERITIES, TARGET_KINDS } from "../../db/schema/alerts.ts";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { OneOf } from "../../http/validation.ts";

const DateTime = Type.String({ format: "date-time" });

const ALERT_EXAMPLE = {
  id: EXAMPLE.webhookId,
  condition: "relay_down",
  severity: "critical" as const,
  title: "The relay smtp.example.com:587 takes no mail",
  finding: "It cannot be reached: connect: connection refused",
  fix: "Look at the state of the relay.",
  raisedAt: EXAMPLE.createdAt,
  clearedAt: null,
};

const Alert = named(
  "Alert",
  described(
    Type.Object({
      id: Type.String(),
      condition: Type.String(),
      severity: OneOf(ALERT_SEVERITIES),
      title: Type.String(),
      finding: Type.String(),
      fix: Type.String(),
      raisedAt: DateTime,
      clearedAt: Nullable(DateTime),
    }),
    {
      id: "Id of the alert",
      condition: "Name of its condition (docs/operations.md#alerts)",
      severity: "critical: mail does not leave, or soon cannot be accepted; the heartbeat ends",
      title: "What is wrong",
      finding: "What was found when the alert was raised",
      fix: "What to do",
      raisedAt: "When it was raised",
      clearedAt: "When it was over; null while it is open",
    },
  ),
  { description: "An alert of the installation", example: ALERT_EXAMPLE },
);
export type Alert = Static<typeof Alert>;

const TargetFields = { kind: OneOf(TARGET_KINDS), label: Type.String() };
const TARGET_TEXTS = {
  kind: "How it is told",
  label: "The address, or the host of the URL",
};

const AlertTarget = named(
  "AlertTarget",
  described(
    Type.Object({
      ...TargetFields,
      waiting: Type.Integer(),
      last: Nullable(
        described(
          Type.Object({
            at: DateTime,
            isDelivered: Type.Boolean(),
            reply: Nullable(Type.String()),
          }),
          {
            at: "When it was told something, or when the try failed",
            isDelivered: "Whether it took the message",
            reply: "Its reply, or why there was none",
          },
        ),
      ),
    }),
    {
      ...TARGET_TEXTS,
      waiting: "Messages that wait for a further try",
      last: "The latest try, without tests; null if there was none",
    },
  ),
  { description: "A target of alerts, from the settings of the server" },
);

export const Alerts = named(
  "Alerts",
  described(
    Type.Object({
      open: Type.Array(Alert),
      history: Type.Array(Alert),
      targets: Type.Array(AlertTarget),
      heartbeat: Nullable(
        described(
          Type.Object({
            label: Type.String(),
            everyMinutes: Type.Integer(),
            at: Nullable(DateTime),
            failure: Nullable(Type.String()),
          }),
          {
            label: "The host of its URL",
            everyMinutes: "Minutes between the requests",
            at: "When the latest one was due; null before the first one",
            failure: "Why it was not made, or not answered; null if it was",
          },
        ),
      ),
    }),
    {
      open: "The alerts that are open",
      history: "Those that were cleared in the last 30 days, the last one first, at most 100",
      targets: "Who is told of alerts",
      heartbeat: "The requests to a monitor; null without --heartbeat-url",
    },
  ),
  {
    description: "The alerts of the installation, and who is told of them",
    example: {
      open: [ALERT_EXAMPLE],
      history: [],
      targets: [
        {
          kind: "EMAIL",
          label: "ada@example.com",
          waiting: 0,
          last: { at: EXAMPLE.createdAt, isDelivered: true, reply: "250 2.0.0 OK" },
        },
      ],
      heartbeat: { label: "hc-ping.com", everyMinutes: 5, at: EXAMPLE.createdAt, failure: null },
    },
  },
);
export type Alerts = Static<typeof Alerts>;

export const AlertTests = named(
  "AlertTests",
  described(
    Type.Object({
      targets: Type.Array(
        described(
          Type.Object({
            ...TargetFields,
            isDelivered: Type.Boolean(),
            reply: Type.String(),
            durationMs: Type.Integer(),
          }),
          {
            ...TARGET_TEXTS,
            isDelivered: "Whether it took the test",
            reply: "Its reply, or why there was none",
            durationMs: "How long that took",
          },
        ),
      ),
    }),
    { targets: "The outcome of each target" },
  ),
  {
    description: "The outcomes of a test of all targets",
    example: {
      targets: [
        {
          kind: "EMAIL",
          label: "ada@example.com",
          isDelivered: true,
          reply: "250 2.0.0 OK",
          durationMs: 412,
        },
      ],
    },
  },
);
export type AlertTests = Static<typeof AlertTests>;
