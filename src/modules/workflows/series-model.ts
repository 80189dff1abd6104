/** Requests and responses of series. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { Workflow } from "./model.ts";
import { SERIES } from "./series.ts";

const IDS = SERIES.map(({ id }) => id);

export const WorkflowSeries = named(
  "WorkflowSeries",
  described(
    Type.Object({
      id: Type.String(),
      name: Type.String(),
      description: Type.String(),
      trigger: OneOf(["EVENT", "SCHEDULE"]),
      steps: Type.Array(
        described(Type.Object({ type: Type.String(), name: Type.String() }), {
          type: "Type of the step",
          name: "Name of the step",
        }),
      ),
      templates: Type.Array(Type.String()),
      segment: Nullable(Type.String()),
    }),
    {
      id: "Id of the series",
      name: "Name of the series and of its workflow",
      description: "What it does",
      trigger: "What starts its executions",
      steps: "Its steps",
      templates: "Names of the templates that it makes",
      segment: "Name of the segment that it makes; null if it needs none",
    },
  ),
  {
    description: "A common series that a workflow can begin as",
    example: {
      id: "welcome",
      name: "Welcome",
      description: "Greets people who subscribe.",
      trigger: "EVENT",
      steps: [{ type: "SEND_EMAIL", name: "Send the welcome" }],
      templates: ["Welcome"],
      segment: null,
    },
  },
);
export type WorkflowSeries = Static<typeof WorkflowSeries>;

export const SeriesInput = named(
  "SeriesInput",
  described(
    Input({
      seriesId: OneOf(IDS),
      timeZone: Type.Optional(Nullable(Type.String({ minLength: 1, maxLength: 64 }))),
    }),
    {
      seriesId: "Id of the series",
      timeZone: "Zone of its schedule, such as Europe/Berlin; default UTC",
    },
  ),
  {
    description: "The series to make a workflow of",
    example: { seriesId: "birthday", timeZone: "Europe/Berlin" },
  },
);

export const StartedSeries = named(
  "StartedSeries",
  described(
    Type.Object({
      workflow: Workflow,
      templates: Type.Array(
        described(Type.Object({ id: Type.String(), name: Type.String() }), {
          id: "Id of the template",
          name: "Name of the template",
        }),
      ),
      segmentId: Nullable(Type.String()),
    }),
    {
      workflow: "The workflow, which is not enabled",
      templates: "The templates of its mails, to be written",
      segmentId: "The segment of its schedule; null if it needs none",
    },
  ),
  {
    description: "What was made of a series",
    example: {
      workflow: Workflow["examples"][0],
      templates: [{ id: EXAMPLE.templateId, name: "Welcome" }],
      segmentId: null,
    },
  },
);
export type StartedSeries = Static<typeof StartedSeries>;
