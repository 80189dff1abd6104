/** Finds the templates, segments and events that a workflow reads, so that the sandbox has them. */

import { statement } from "../../../db/statement.ts";
import type { App } from "../../../core/app.ts";
import { type Condition, parseStored } from "../../segments/condition/condition.ts";
import type { Target } from "../../segments/condition/fields.ts";
import type { Filter, Test } from "../../segments/condition/filter.ts";
import { membershipEventName } from "../../segments/slug.ts";
import { CONTACT_ZONE, type Graph, triggerEventOf, triggerOf } from "../graph/graph.ts";
import { awaitedEventsOf, conditionsOf, namedSegments, templatesOf } from "../graph/references.ts";

export type Needs = {
  templateIds: readonly string[];
  /** Addresses of the steps that mail to another person than the contact. */
  addresses: readonly string[];
  eventNames: ReadonlySet<string>;
  hasSegments: boolean;
  /** True if the graph refers to a segment with a list of contacts. */
  hasStaticSegments: boolean;
  readsData: boolean;
  /** True if a condition tests mails of campaigns or templates. */
  readsMails: boolean;
  hasWebhooks: boolean;
};

/** They change who gets marketing mail, and conditions test topics. */
const CHOICES = [
  "contact.topic_subscribed",
  "contact.topic_unsubscribed",
  "contact.paused",
  "contact.resumed",
];

const findSegment = statement<{ condition: string | null; slug: string }, [number, string]>(
  "SELECT condition, slug FROM segments WHERE project_seq = +? AND id = +? AND deleted_at IS NULL",
);

export function needsOf(app: App, projectSeq: number, graph: Graph): Needs {
  const { tests, hasStaticSegments } = testsOf(app, projectSeq, graph);
  const targets = tests.flatMap((test) => (test.kind === "field" ? [test.target] : []));
  const kinds = new Set(targets.map(({ kind }) => kind));
  const templateIds = templatesOf(graph);
  const trigger = triggerEventOf(triggerOf(graph));
  return {
    templateIds,
    addresses: addressesOf(graph),
    eventNames: new Set([
      "contact.subscribed",
      "contact.unsubscribed",
      ...CHOICES,
      ...(trigger === null ? [] : [trigger]),
      ...awaitedEventsOf(graph),
      ...exitEventsOf(app, projectSeq, graph),
      ...targets.flatMap((target) => (target.kind === "event" ? [target.name] : [])),
    ]),
    hasSegments: namedSegments(graph).length > 0 || tests.some(({ kind }) => kind === "segment"),
    hasStaticSegments,
    readsData: targets.some(isData) || hasContactZone(graph),
    readsMails: kinds.has("mail") || kinds.has("link"),
    hasWebhooks: graph.steps.some(({ type }) => type === "WEBHOOK"),
  };
}

/** True if events that set data can change the value of the field. */
const isData = (target: Target): boolean =>
  target.kind === "data" || (target.kind === "time" && target.column === "updatedAt");

/** The zone of a contact is in its data. */
const hasContactZone = ({ steps }: Graph): boolean =>
  steps.some((step) => step.type === "TIME_WINDOW" && step.config.timeZone === CONTACT_ZONE);

function exitEventsOf(app: App, projectSeq: number, { exits = [] }: Graph): string[] {
  return exits.flatMap((exit) => {
    if (exit.on === "EVENT") return [exit.eventName];
    if (exit.on !== "SEGMENT_LEFT") return [];
    const segment = findSegment(app).get(projectSeq, exit.segmentId);
    return segment === null ? [] : [membershipEventName(segment.slug, "exit")];
  });
}

/** The tests of the conditions of a graph, and of the segments to which they refer. */
function testsOf(app: App, projectSeq: number, graph: Graph) {
  const tests: Test[] = [];
  const seen = new Set<string>();
  let hasStaticSegments = false;
  function add(condition: Condition<Filter>): void {
    for (const { filters, conditions } of condition.groups) {
      for (const { test } of filters) {
        tests.push(test);
        if (test.kind === "segment") addSegment(test.id);
      }
      if (conditions !== null) add(conditions);
    }
  }
  function addSegment(id: string): void {
    if (seen.has(id)) return;
    seen.add(id);
    const row = findSegment(app).get(projectSeq, id);
    if (row === null) return;
    if (row.condition === null) hasStaticSegments = true;
    else add(parseStored(JSON.parse(row.condition), "condition"));
  }
  for (const step of graph.steps)
    for (const condition of conditionsOf(step, "config")) add(condition);
  const trigger = triggerOf(graph);
  if ("segmentId" in trigger && trigger.segmentId !== null) addSegment(trigger.segmentId);
  return { tests, hasStaticSegments };
}

function addressesOf({ steps }: Graph): string[] {
  return steps.flatMap((step) =>
    step.type === "SEND_EMAIL" && step.config.recipient?.type === "CUSTOM"
      ? [step.config.recipient.email]
      : [],
  );
}
