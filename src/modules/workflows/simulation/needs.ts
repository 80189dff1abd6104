/**
 * Finds the templates, segments and events that a workflow, or the condition of a segment, reads, so that
 * the sandbox has them.
 */

import { statement } from "../../../db/statement.ts";
import type { App } from "../../../core/app.ts";
import { type Condition, parseStored } from "../../segments/condition/condition.ts";
import { leafTests } from "../../segments/condition/dependencies.ts";
import type { Target } from "../../segments/condition/fields.ts";
import type { Filter, Test } from "../../segments/condition/filter.ts";
import type { ResolvedTest } from "../../segments/condition/references.ts";
import { membershipEventName } from "../../segments/slug.ts";
import { CONTACT_ZONE, type Graph, triggerEventOf, triggerOf } from "../graph/graph.ts";
import { awaitedEventsOf, conditionsOf, namedSegments, templatesOf } from "../graph/references.ts";

/** The events and mails that conditions read. */
export type ConditionNeeds = {
  eventNames: ReadonlySet<string>;
  mails: TestedMails;
  /** True if a condition refers to a segment with a list of contacts. */
  hasStaticSegments: boolean;
  readsData: boolean;
};

/** The mails that conditions test. */
export type TestedMails = {
  /** Ids of the campaigns and templates of these mails. */
  ofCampaigns: readonly string[];
  ofTemplates: readonly string[];
  /** True if conditions also test the mails in which a link was clicked. */
  withClicks: boolean;
};

export const readsMails = ({ ofCampaigns, ofTemplates, withClicks }: TestedMails): boolean =>
  ofCampaigns.length > 0 || ofTemplates.length > 0 || withClicks;

export type Needs = ConditionNeeds & {
  templateIds: readonly string[];
  /** Addresses of the steps that mail to another person than the contact. */
  addresses: readonly string[];
  hasSegments: boolean;
  hasWebhooks: boolean;
};

/** They change who is subscribed. */
const SUBSCRIPTIONS = ["contact.subscribed", "contact.unsubscribed"];

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
  const read = readBy(targets);
  const templateIds = templatesOf(graph);
  const trigger = triggerEventOf(triggerOf(graph));
  return {
    ...read,
    templateIds,
    addresses: addressesOf(graph),
    eventNames: new Set([
      ...read.eventNames,
      ...SUBSCRIPTIONS,
      ...CHOICES,
      ...(trigger === null ? [] : [trigger]),
      ...awaitedEventsOf(graph),
      ...exitEventsOf(app, projectSeq, graph),
    ]),
    hasSegments: namedSegments(graph).length > 0 || tests.some(({ kind }) => kind === "segment"),
    hasStaticSegments,
    readsData: read.readsData || hasContactZone(graph),
    hasWebhooks: graph.steps.some(({ type }) => type === "WEBHOOK"),
  };
}

/** The events and mails that the tests of a resolved condition read. */
export function needsOfTests(tests: readonly ResolvedTest[]): ConditionNeeds {
  const leaves = leafTests(tests);
  const targets = leaves.flatMap((test) => (test.kind === "field" ? [test.target] : []));
  const { eventNames, ...read } = readBy(targets);
  const kinds = new Set(targets.map(({ kind }) => kind));
  const hasSubscriptions = kinds.has("subscribed") || targets.some(isChangeTime);
  return {
    ...read,
    eventNames: new Set([
      ...eventNames,
      ...(hasSubscriptions ? SUBSCRIPTIONS : []),
      ...(kinds.has("topic") ? CHOICES : []),
    ]),
    hasStaticSegments: leaves.some(({ kind }) => kind === "members"),
  };
}

function readBy(targets: readonly Target[]): Omit<ConditionNeeds, "hasStaticSegments"> {
  const kinds = new Set(targets.map(({ kind }) => kind));
  const mailsOf = (of: "campaign" | "template") =>
    targets.flatMap((target) => (target.kind === "mail" && target.of === of ? [target.id] : []));
  return {
    eventNames: new Set([
      ...targets.flatMap((target) => (target.kind === "event" ? [target.name] : [])),
      ...(kinds.has("link") ? ["email.clicked"] : []),
    ]),
    mails: {
      ofCampaigns: mailsOf("campaign"),
      ofTemplates: mailsOf("template"),
      withClicks: kinds.has("link"),
    },
    readsData: targets.some((target) => target.kind === "data" || isChangeTime(target)),
  };
}

const isChangeTime = (target: Target): boolean =>
  target.kind === "time" && target.column === "updatedAt";

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
