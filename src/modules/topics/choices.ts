/**
 * The choices of contacts: which topics they are in, and whether they may get a marketing mail.
 *
 * 1. A contact without a choice of its own has the default of the topic.
 * 2. `setTopicChoices` stores choices. Each one that changes the mail of the contact is an event.
 * 3. `mayGetMarketing` is asked when a mail is accepted; the outbox asks the same again when it sends it.
 */

import { and, asc, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { topics } from "../../db/schema/topics.ts";
import { statement } from "../../db/statement.ts";
import { eventLog } from "../../events/log.ts";
import { fieldError } from "../../lib/errors.ts";
import { isInTopic } from "../../outbox/topic-state.ts";
import { recordConsent } from "../consents/record.ts";
import type { JsonObject } from "../contacts/data.ts";
import { pausedUntilNow } from "../contacts/pause.ts";
import type { ConsentCause, ContactRow } from "../contacts/service.ts";

export type TopicRow = typeof topics.$inferSelect;

/** The topics of a project, in the order in which they were made. */
export function topicsOf({ db }: Pick<App, "db">, projectSeq: number): TopicRow[] {
  const match = eq(topics.projectSeq, projectSeq);
  return db.select().from(topics).where(match).orderBy(asc(topics.seq)).all();
}

/** Null without such a topic. */
export function findTopic({ db }: Pick<App, "db">, projectSeq: number, id: string) {
  const match = and(eq(topics.projectSeq, projectSeq), eq(topics.id, id));
  return db.select().from(topics).where(match).limit(1).get() ?? null;
}

const findByKey = statement<Pick<TopicRow, "seq">, [number, string]>(
  "SELECT seq FROM topics WHERE project_seq = +? AND key = +?",
);

/** Null without such a topic. */
export const topicByKey = (app: Pick<App, "db">, projectSeq: number, key: string) =>
  topicBySeq(app, findByKey(app).get(projectSeq, key)?.seq ?? null);

/** The topic that a field of a request names. Throws 422 without such a topic. */
export function topicIn(app: App, projectSeq: number, id: string, field = "topicId"): TopicRow {
  const topic = findTopic(app, projectSeq, id);
  if (topic !== null) return topic;
  throw fieldError(field, "unknown_reference", "is not the id of a topic of this project");
}

/** Null for no topic, and for one that was deleted. */
export function topicBySeq({ db }: Pick<App, "db">, seq: number | null): TopicRow | null {
  if (seq === null) return null;
  return db.select().from(topics).where(eq(topics.seq, seq)).limit(1).get() ?? null;
}

/** The id of the topic of a row; null without a topic. */
export const topicIdOf = (app: Pick<App, "db">, seq: number | null): string | null =>
  topicBySeq(app, seq)?.id ?? null;

/** The column of the field `topicId` of a request, which changes nothing if it is omitted. */
export function topicColumn(
  app: App,
  projectSeq: number,
  id: string | null | undefined,
): { topicSeq?: number | null } {
  if (id === undefined) return {};
  return { topicSeq: id === null ? null : topicIn(app, projectSeq, id).seq };
}

/** Throws 422 for a notice: it also goes to contacts who have left all topics. */
export function requireMarketing(type: "MARKETING" | "TRANSACTIONAL"): void {
  if (type === "MARKETING") return;
  throw fieldError("topicId", "invalid_value", "must be null for TRANSACTIONAL mail");
}

const findChoices = statement<
  { topicSeq: number; isSubscribed: number; changedAt: number },
  [number]
>(`
  SELECT topic_seq AS topicSeq, is_subscribed AS isSubscribed, changed_at AS changedAt
  FROM topic_subscriptions INDEXED BY topic_subscriptions_contact WHERE contact_seq = +?`);

const findChoice = statement<{ isSubscribed: number }, [number, number]>(
  "SELECT is_subscribed AS isSubscribed FROM topic_subscriptions WHERE topic_seq = +? AND contact_seq = +?",
);

/** Whether a contact is in a topic, and whether that was chosen for it; null is a new contact. */
export function topicStateOf(
  app: Pick<App, "db">,
  { seq, defaultState }: Pick<TopicRow, "seq" | "defaultState">,
  contactSeq: number | null,
): { isIn: boolean; isChosen: boolean } {
  const choice = contactSeq === null ? null : findChoice(app).get(seq, contactSeq);
  const isIn = choice === null ? defaultState === "SUBSCRIBED" : choice.isSubscribed === 1;
  return { isIn, isChosen: choice !== null };
}

/** Whether a contact is in each of the topics of its project, in their order. */
export function topicStatesOf(
  app: Pick<App, "db">,
  topicRows: readonly Pick<TopicRow, "seq" | "defaultState">[],
  contactSeq: number,
): boolean[] {
  const chosen = new Map(
    findChoices(app)
      .all(contactSeq)
      .map(({ topicSeq, isSubscribed }) => [topicSeq, isSubscribed === 1]),
  );
  return topicRows.map(({ seq, defaultState }) => chosen.get(seq) ?? defaultState === "SUBSCRIBED");
}

type TopicChoice = {
  topic: TopicRow;
  isSubscribed: boolean;
  /** The time of the contact's choice; null while it has the default of the topic. */
  changedAt: number | null;
};

/** All topics of the project of a contact, each with the choice of the contact or the default. */
export function topicChoices(
  app: Pick<App, "db">,
  { seq, projectSeq }: Pick<ContactRow, "seq" | "projectSeq">,
): TopicChoice[] {
  const chosen = new Map(
    findChoices(app)
      .all(seq)
      .map((row) => [row.topicSeq, row]),
  );
  return topicsOf(app, projectSeq).map((topic) => {
    const choice = chosen.get(topic.seq);
    return {
      topic,
      isSubscribed: choice ? choice.isSubscribed === 1 : topic.defaultState === "SUBSCRIBED",
      changedAt: choice?.changedAt ?? null,
    };
  });
}

/** The cause of a changed choice: `consent` is the entry in the ledger; null if the caller adds it. */
type ChoiceCause = {
  consent: ConsentCause | null;
  /** The mail whose link or button was used. */
  emailSeq?: number;
  /** Further data of the event. */
  data?: JsonObject;
};

const storeChoice = statement<null, [number, number, number, number]>(`
  INSERT INTO topic_subscriptions (topic_seq, contact_seq, is_subscribed, changed_at)
  VALUES (?1, ?2, ?3, ?4)
  ON CONFLICT (topic_seq, contact_seq) DO UPDATE
  SET is_subscribed = excluded.is_subscribed, changed_at = excluded.changed_at
  WHERE is_subscribed <> excluded.is_subscribed`);

/**
 * Part of a change: stores the choices of a contact, also those that equal the default, so that a later
 * change of the default does not change them. Returns the topics that the contact has entered or left,
 * each with its event. Throws 422 for an unknown topic.
 */
export function setTopicChoices(
  app: App,
  contact: Pick<ContactRow, "seq" | "projectSeq">,
  choices: readonly { topicId: string; isSubscribed: boolean }[],
  cause: ChoiceCause,
): TopicRow[] {
  return choices.flatMap(({ topicId, isSubscribed }, at) => {
    const field = `topics.${at}.topicId`;
    const topic = topicIn(app, contact.projectSeq, topicId, field);
    return setChoice(app, contact, { topic, isSubscribed, cause }) ? [topic] : [];
  });
}

/** Part of a change: true if the contact has entered or left the topic. */
export function setChoice(
  app: App,
  contact: Pick<ContactRow, "seq" | "projectSeq">,
  { topic, isSubscribed, cause }: { topic: TopicRow; isSubscribed: boolean; cause: ChoiceCause },
): boolean {
  const now = app.clock.now();
  const was = isInTopic(app, { topicSeq: topic.seq, contactSeq: contact.seq });
  storeChoice(app).run(topic.seq, contact.seq, Number(isSubscribed), now);
  if (was === isSubscribed) return false;
  const { emailSeq, consent, data } = cause;
  eventLog(app).record({
    projectSeq: contact.projectSeq,
    name: isSubscribed ? "contact.topic_subscribed" : "contact.topic_unsubscribed",
    contactSeq: contact.seq,
    ...(emailSeq === undefined ? {} : { emailSeq }),
    data: { topicId: topic.id, topicKey: topic.key, topicName: topic.name, ...data },
    at: now,
  });
  if (consent !== null) {
    recordConsent(app, {
      contact,
      kind: isSubscribed ? "GIVEN" : "WITHDRAWN",
      topicSeq: topic.seq,
      clientAddress: null,
      wording: null,
      ...consent,
    });
  }
  return true;
}

const findTopicOfMail = statement<{ topicSeq: number | null }, [number]>(`
  SELECT m.topic_seq AS topicSeq FROM emails e JOIN messages m ON m.seq = e.message_seq
  WHERE e.seq = +?`);

/** The topic that the links in a mail are for; null for all marketing mail, also if it was deleted. */
export const topicOfMail = (app: Pick<App, "db">, emailSeq: number): TopicRow | null =>
  topicBySeq(app, findTopicOfMail(app).get(emailSeq)?.topicSeq ?? null);

/** The reason why a contact gets no marketing mail of a topic; the first one of several. */
export const MARKETING_REFUSALS = ["UNSUBSCRIBED", "TOPIC", "PAUSED"] as const;
export type MarketingRefusal = (typeof MARKETING_REFUSALS)[number];

/** Null if the contact may get the mail. `topicSeq` is null for mail without a topic. */
export function mayGetMarketing(
  app: Pick<App, "db">,
  contact: Pick<ContactRow, "seq" | "isSubscribed" | "pausedUntil">,
  topicSeq: number | null,
  now: number,
): MarketingRefusal | null {
  if (!contact.isSubscribed) return "UNSUBSCRIBED";
  if (topicSeq !== null && !isInTopic(app, { topicSeq, contactSeq: contact.seq })) return "TOPIC";
  return pausedUntilNow(contact, now) === null ? null : "PAUSED";
}
