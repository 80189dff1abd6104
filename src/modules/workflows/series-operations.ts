/** The operations on series: list them, and make a workflow of one with its templates. */

import type { App } from "../../core/app.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { fieldError } from "../../lib/errors.ts";
import { zoneName } from "../../lib/wall-clock.ts";
import type { SegmentInput } from "../segments/model.ts";
import { segmentService } from "../segments/service.ts";
import { createTemplate } from "../templates.ts";
import type { WorkflowInput } from "./model.ts";
import { SeriesInput, StartedSeries, WorkflowSeries } from "./series-model.ts";
import { SEGMENT, type Series, SERIES } from "./series.ts";
import { workflowService } from "./service.ts";

export const seriesOperations = operations("Workflows", {}, [
  read("GET /workflow-series", {
    id: "listWorkflowSeries",
    role: "VIEWER",
    scopes: ["READ"],
    summary: "List the series that a workflow can begin as",
    description: "Welcome, onboarding, win-back, receipt and birthday.",
    answer: ListEnvelope(WorkflowSeries),
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

function shown({ id, name, description, templates, segment, workflow }: Series): WorkflowSeries {
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
