/**
 * Topics: kinds of marketing mail, such as "Product news" and "Offers", that a contact joins and leaves
 * one by one. A template or a campaign belongs to at most one topic, and its mail goes only to contacts
 * in it.
 *
 * 1. This file has the operations, and creates, changes and deletes topics.
 * 2. `choices.ts` has the choices of contacts, and says who may get a marketing mail.
 * 3. `subscribers.ts` counts.
 * 4. A contact leaves a topic by the link in its mail (modules/subscription/), by a mail to the address
 *    in List-Unsubscribe, on the preference page, or because a request says so.
 */

import type { Static } from "@sinclair/typebox";
import { and, eq, isNull, sql } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { segments } from "../../db/schema/segments.ts";
import { templates } from "../../db/schema/templates.ts";
import { topics } from "../../db/schema/topics.ts";
import { announceChange } from "../../events/announcements.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent, type Page } from "../../http/envelope.ts";
import { operations, read, write } from "../../http/operations.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { consentBy } from "../consents/record.ts";
import { getContact } from "../contacts/service.ts";
import type { Noun } from "../module.ts";
import { slugOf } from "../segments/slug.ts";
import { findTopic, setTopicChoices, topicChoices, type TopicRow, topicsOf } from "./choices.ts";
import { countSubscribers, type Subscribers, subscribersWithoutChoices } from "./subscribers.ts";
import {
  ContactTopics,
  ContactTopicsInput,
  MAX_TOPICS,
  Topic,
  TopicInput,
  TopicPatch,
  TopicUsage,
} from "./topic-model.ts";

const createdTopic = { id: "/data/id" };

const topicOperations = operations("Topics", { parameters: { id: "Id of the topic" } }, [
  read("GET /topics", {
    id: "listTopics",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
    summary: "List topics",
    description: "All topics of the project, at most 100, in the order in which they were made.",
    answer: ListEnvelope(Topic),
    run: (app, { project }) => listTopics(app, project.seq),
  }),
  write("POST /topics", {
    id: "createTopic",
    role: "EDITOR",
    summary: "Create a topic",
    description:
      "A project has at most 100 topics. A key that another topic has is refused with 409.",
    isIdempotent: true,
    links: { getTopic: createdTopic, updateTopic: createdTopic, deleteTopic: createdTopic },
    body: limited(TopicInput, BODY_LIMITS.settings),
    answer: Envelope(Topic),
    status: 201,
    run: (app, { project, body }) =>
      presentTopic(
        createTopic(app, project.seq, body),
        subscribersWithoutChoices(app, project.seq),
      ),
  }),
  read("GET /topics/:id", {
    id: "getTopic",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
    summary: "Get a topic",
    description: "The topic with the number of contacts who are in it.",
    answer: Envelope(Topic),
    async run(app, { project, params }) {
      getTopic(app, project.seq, params.id);
      const counts = await countSubscribers(app, project.seq);
      return presentTopic(getTopic(app, project.seq, params.id), counts);
    },
  }),
  write("PATCH /topics/:id", {
    id: "updateTopic",
    role: "EDITOR",
    summary: "Update a topic",
    description:
      "Changes the given fields. Another `default` counts at once for all contacts who have not chosen; " +
      "contacts who have keep their choice.",
    body: limited(TopicPatch, BODY_LIMITS.settings),
    answer: Envelope(Topic),
    prepare: (app, { project }) => countSubscribers(app, project.seq),
    run(app, { project, params, body }, counts) {
      const topic = getTopic(app, project.seq, params.id);
      return presentTopic(updateTopic(app, topic, body), counts);
    },
  }),
  write("DELETE /topics/:id", {
    id: "deleteTopic",
    role: "EDITOR",
    summary: "Delete a topic, with the choices of all contacts",
    description:
      "A topic that a template, an unfinished campaign or a condition uses is refused with 409, which " +
      "names them. Its mails that still wait are not sent, and the links in its mails unsubscribe from " +
      "all marketing mail.",
    isWithinQuota: false,
    answer: NoContent,
    run: (app, { project, params }) => deleteTopic(app, getTopic(app, project.seq, params.id)),
  }),
  read("GET /topics/:id/usage", {
    id: "getTopicUsage",
    role: "VIEWER",
    scopes: ["READ"],
    summary: "Where a topic is used",
    description: "The templates, the unfinished campaigns and the conditions that name the topic.",
    answer: Envelope(TopicUsage),
    run: (app, { project, params }) => ({
      users: usersOf(app, getTopic(app, project.seq, params.id)),
    }),
  }),
]);

const contactOperations = operations("Topics", { parameters: { id: "Id of the contact" } }, [
  read("GET /contacts/:id/topics", {
    id: "listContactTopics",
    role: "VIEWER",
    scopes: ["READ", "CONTACTS"],
    summary: "List the topics of a contact",
    description: "All topics of the project, each with whether the contact is in it.",
    answer: Envelope(ContactTopics),
    run: (app, { project, params }) => shownChoices(app, getContact(app, project.seq, params.id)),
  }),
  write("PUT /contacts/:id/topics", {
    id: "setContactTopics",
    role: "EDITOR",
    scopes: ["CONTACTS"],
    summary: "Let a contact join or leave topics",
    description:
      "Topics that are not named stay as they are. Joining a topic does not subscribe a contact who is " +
      "unsubscribed from all marketing mail.",
    body: limited(ContactTopicsInput, BODY_LIMITS.settings),
    // Leaving must always be possible, and a contact has few choices.
    isWithinQuota: false,
    answer: Envelope(ContactTopics),
    run(app, { project, params, body, actor }) {
      const contact = getContact(app, project.seq, params.id);
      const choices = body.topics.map(({ topicId, subscribed }) => ({
        topicId,
        isSubscribed: subscribed,
      }));
      setTopicChoices(app, contact, choices, { consent: consentBy(actor()) });
      return shownChoices(app, contact);
    },
  }),
]);

export const topicNoun: Noun = { name: "topics", operations: topicOperations };
export const contactTopicNoun: Noun = { name: "topics of contacts", operations: contactOperations };

type TopicUser = Static<typeof TopicUsage>["users"][number];

async function listTopics(app: App, projectSeq: number): Promise<Page<Topic>> {
  const counts = await countSubscribers(app, projectSeq);
  const items = topicsOf(app, projectSeq).map((row) => presentTopic(row, counts));
  return { items, nextCursor: null, hasMore: false, total: items.length };
}

/** Throws 404 without such a topic. */
function getTopic(app: App, projectSeq: number, id: string): TopicRow {
  const topic = findTopic(app, projectSeq, id);
  if (topic === null) throw notFound("TOPIC");
  return topic;
}

const announce = (app: App, { projectSeq, id }: Pick<TopicRow, "projectSeq" | "id">): void =>
  announceChange(app, { projectSeq, type: "topic.changed", id });

function createTopic(app: App, projectSeq: number, input: TopicInput): TopicRow {
  const existing = topicsOf(app, projectSeq);
  if (existing.length >= MAX_TOPICS) throw tooMany();
  const keys = new Set(existing.map(({ key }) => key));
  if (input.key !== undefined && keys.has(input.key)) throw keyTaken(input.key);
  const now = app.clock.now();
  const row = {
    id: newId(now),
    projectSeq,
    key: input.key ?? freeKey(input.name, keys),
    name: input.name.trim(),
    description: input.description ?? null,
    defaultState: input.default ?? ("UNSUBSCRIBED" as const),
    visibility: input.visibility ?? ("PUBLIC" as const),
    createdAt: now,
    updatedAt: now,
  };
  announce(app, row);
  return app.db.insert(topics).values(row).returning().get();
}

/** The first of `news`, `news-2`, `news-3` and so on that no other topic has. */
function freeKey(name: string, taken: ReadonlySet<string>): string {
  const base = slugOf(name, "topic");
  let key = base;
  for (let n = 2; taken.has(key); n++) key = `${base}-${n}`;
  return key;
}

function updateTopic(app: App, topic: TopicRow, patch: TopicPatch): TopicRow {
  const changed = {
    name: patch.name?.trim() ?? topic.name,
    description: patch.description === undefined ? topic.description : patch.description,
    defaultState: patch.default ?? topic.defaultState,
    visibility: patch.visibility ?? topic.visibility,
    updatedAt: app.clock.now(),
  };
  announce(app, topic);
  return app.db.update(topics).set(changed).where(eq(topics.seq, topic.seq)).returning().get();
}

/** The templates of the topic, and the other objects that name it. */
function usersOf({ db, references }: App, topic: TopicRow): TopicUser[] {
  const { seq, projectSeq, id, key } = topic;
  const own = db
    .select({ id: templates.id, name: templates.name })
    .from(templates)
    .where(eq(templates.topicSeq, seq))
    .all();
  const conditional = db
    .select({ id: segments.id, name: segments.name })
    .from(segments)
    .where(
      and(
        eq(segments.projectSeq, projectSeq),
        isNull(segments.deletedAt),
        // A key has no quotes, so that it stands in a condition as it is.
        sql`instr(${segments.condition}, ${`"topic.${key}"`}) > 0`,
      ),
    )
    .all();
  return [
    ...own.map((user): TopicUser => ({ kind: "template", ...user })),
    ...conditional.map((user): TopicUser => ({ kind: "segment", ...user })),
    ...references.usesOf("topic", projectSeq, id),
  ];
}

function deleteTopic(app: App, topic: TopicRow): void {
  const names = usersOf(app, topic).map(({ kind, name }) => `${kind} "${name}"`);
  if (names.length > 0) throw inUse(names);
  app.db.delete(topics).where(eq(topics.seq, topic.seq)).run();
  announce(app, topic);
}

/** Most users that a refusal names. */
const MAX_NAMED = 5;

function inUse(names: readonly string[]): AppError {
  const shown = names.slice(0, MAX_NAMED).join(", ");
  const more = names.length > MAX_NAMED ? ` and ${names.length - MAX_NAMED} more` : "";
  return new AppError(409, "CONFLICT", `This topic is used by ${shown}${more}.`, {
    suggestion: "Give them another topic or none first, or make the topic PRIVATE.",
  });
}

function tooMany(): AppError {
  return new AppError(409, "CONFLICT", `A project has at most ${MAX_TOPICS} topics.`, {
    suggestion: "Delete topics that are not used, or use segments to group contacts.",
  });
}

function keyTaken(key: string): AppError {
  return new AppError(409, "CONFLICT", `Another topic has the key ${key}.`, {
    suggestion: "Choose another key, or leave it out.",
  });
}

function presentTopic(row: TopicRow, counts: Subscribers): Topic {
  const { id, key, name, description, visibility } = row;
  return {
    id,
    key,
    name,
    description,
    default: row.defaultState,
    visibility,
    subscribers: counts(row),
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

function shownChoices(app: App, contact: { seq: number; projectSeq: number }): ContactTopics {
  const shown = topicChoices(app, contact).map(({ topic, isSubscribed, changedAt }) => {
    const { key, name, description, visibility } = topic;
    const state = { subscribed: isSubscribed, chosenAt: isoTimeOrNull(changedAt) };
    return { topicId: topic.id, key, name, description, visibility, ...state };
  });
  return { topics: shown };
}
