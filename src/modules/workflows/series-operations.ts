/** The operations on series: list them, and make a workflow of one with its templates. */

import { type Static, Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { described, named } from "../../http/documented.ts";
import { Envelope, ListEnvelope, Nullable } from "../../http/envelope.ts";
import { EXAMPLE } from "../../http/example-values.ts";
import { operations, read, write } from "../../http/operations.ts";
import { Input, OneOf } from "../../http/validation.ts";
import { fieldError } from "../../lib/errors.ts";
import { zoneName } from "../../lib/wall-clock.ts";
import type { SegmentInput } from "../segments/model.ts";
import { segmentService } from "../segments/service.ts";
import { createTemplate } from "../templates.ts";
import { Workflow, type WorkflowInput } from "./model.ts";
import { SEGMENT, type Series, SERIES } from "./series.ts";
import { workflowService } from "./service.ts";

const IDS = SERIES.map(({ id }) => id);

const SHOWN_SERIES = named(
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
type ShownSeries = Static<typeof SHOWN_SERIES>;

const SeriesInput = named(
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

const StartedSeries = named(
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

export const seriesOperations = operations("Workflows", {}, [
  read("GET /workflow-series", {
    id: "listWorkflowSeries",
    role: "VIEWER",
    scopes: ["READ"],
    summary: "List the series that a workflow can begin as",
    description: "Welcome, onboarding, win-back, receipt and birthday.",
    answer: ListEnvelope(SHOWN_SERIES),
    run() {
      const items = SERIES.map(shown);
      return { items, total: items.length, hasMore: false, nextCursor: null };
    },
  }),
  write("POST /workflow-series", {
    id: "startWorkflowSeries",
    role: "EDITOR",
    summary: "Make a workflow of a series, with its templates",
    description:
      "Makes the templates, a segment if the series has a schedule, and a workflow that is not " +
      "enabled. Write the mails, then enable it.",
    isIdempotent: true,
    objectType: "workflow",
    body: limited(SeriesInput, BODY_LIMITS.settings),
    answer: Envelope(StartedSeries),
    status: 201,
    links: { getWorkflow: { id: "/data/workflow/id" } },
    async prepare(app, { project, body }) {
      const series = SERIES.find(({ id }) => id === body.seriesId);
      if (series === undefined) throw fieldError("seriesId", "invalid_value", "names no series");
      const timeZone = zoneName(body.timeZone ?? "UTC");
      if (timeZone === null) {
        const message = "must be a time zone such as Europe/Berlin";
        throw fieldError("timeZone", "invalid_value", message);
      }
      const makeSegment =
        series.segment === null
          ? null
          : await segmentService(app).create(project.seq, segmentInput(series.segment));
      return { series, timeZone, makeSegment };
    },
    run(app, { project, actor }, { series, timeZone, makeSegment }) {
      const author = actor();
      const segmentId = makeSegment === null ? null : makeSegment().id;
      const ids = makeTemplates(app, project.seq, series, author);
      const input = workflowInput(series, { ids, segmentId, timeZone });
      const workflow = workflowService(app).create(project.seq, input, author)();
      const templates = Object.entries(series.templates).map(([key, { name }]) => ({
        id: ids.get(key) ?? "",
        name,
      }));
      return { workflow, templates, segmentId };
    },
  }),
]);

function shown({ id, name, description, templates, segment, workflow }: Series): ShownSeries {
  return {
    id,
    name,
    description,
    trigger: "cron" in workflow.trigger ? "SCHEDULE" : "EVENT",
    steps: workflow.steps.map((step) => ({ type: step.type, name: step.name })),
    templates: Object.values(templates).map((template) => template.name),
    segment: segment?.name ?? null,
  };
}

const segmentInput = ({
  name,
  description,
  filters,
}: NonNullable<Series["segment"]>): SegmentInput => ({
  name,
  description,
  type: "DYNAMIC",
  condition: { logic: "AND", groups: [{ filters: [...filters] }] },
});

/** Part of a change. Returns the ids by the names that the steps use. */
function makeTemplates(
  app: App,
  projectSeq: number,
  { templates }: Series,
  author: RequestActor,
): Map<string, string> {
  return new Map(
    Object.entries(templates).map(([key, template]) => [
      key,
      createTemplate(app, projectSeq, { ...template }, author).id,
    ]),
  );
}

function workflowInput(
  { name, description, workflow }: Series,
  made: { ids: ReadonlyMap<string, string>; segmentId: string | null; timeZone: string },
): WorkflowInput {
  const { trigger, exits, allowReentry, steps, transitions } = workflow;
  return {
    name,
    description,
    allowReentry,
    trigger:
      trigger["segmentId"] === SEGMENT
        ? { ...trigger, segmentId: made.segmentId, timeZone: made.timeZone }
        : trigger,
    exits: [...exits],
    steps: steps.map(({ config, ...step }) => {
      const template = made.ids.get(String(config["templateId"]));
      return { ...step, config: template === undefined ? config : { templateId: template } };
    }),
    transitions: [
      { from: "trigger", to: steps[0]?.id ?? "" },
      ...transitions.map(([from, to, branch]) => ({ from, to, branch: branch ?? null })),
    ],
  };
}
