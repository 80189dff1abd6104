/**
 * Tests of who gets a mail: subscription, topic, pause and suppression. They are made here, not by a filter
 * of a request. Pure.
 */

import { bind, type Fragment } from "../sql/bind.ts";
import type { Context, FieldTest, RowSource } from "./field-test.ts";
import { SUBSCRIBED } from "./operators.ts";

/** Matches subscribed contacts. */
export const IS_SUBSCRIBED: FieldTest = SUBSCRIBED.equals.test({ kind: "subscribed" }, true);

/** Matches contacts who are not subscribed. */
export const IS_UNSUBSCRIBED: FieldTest = SUBSCRIBED.equals.test({ kind: "subscribed" }, false);

/** A test of who gets a mail, which no filter of a request has. */
const audienceTest = (where: FieldTest["where"]): FieldTest => ({
  kind: "field",
  target: { kind: "email" },
  takes: "nothing",
  where,
  source: () => null,
});

const isSuppressed = (projectSeq: number, reason: Fragment) => bind`EXISTS (
    SELECT 1 FROM suppressions
    WHERE suppressions.project_seq = ${projectSeq} AND suppressions.email = contacts.email
      AND ${reason})`;

export const IS_NOT_SUPPRESSED = audienceTest(
  ({ projectSeq }) => bind`NOT ${isSuppressed(projectSeq, bind`1`)}`,
);

/** Matches contacts whose address is suppressed for a reason. */
export const isSuppressedFor = (reason: string): FieldTest =>
  audienceTest(({ projectSeq }) => isSuppressed(projectSeq, bind`suppressions.reason = ${reason}`));

/** Matches no contact. */
export const IS_NOBODY = audienceTest(() => bind`0`);

/** The topic of an audience. */
export type TopicOfAudience = { seq: number; defaultState: "SUBSCRIBED" | "UNSUBSCRIBED" };

/** Matches contacts who are in a topic: an index has all of them if they had to join it. */
export function inTopic({ seq, defaultState }: TopicOfAudience): FieldTest {
  const where = () => isIn({ seq, defaultState });
  const chosen = (): RowSource => ({
    from: bind`topic_subscriptions AS chosen`,
    key: bind`chosen.contact_seq`,
    stretch: bind`chosen.topic_seq = ${seq}`,
    filter: bind`chosen.is_subscribed = 1`,
  });
  return { ...audienceTest(where), source: defaultState === "UNSUBSCRIBED" ? chosen : () => null };
}

/** Matches contacts who are not in a topic. */
export const notInTopic = (topic: TopicOfAudience): FieldTest =>
  audienceTest(() => bind`NOT ${isIn(topic)}`);

/** SQL condition for a row of `contacts`. */
export function isIn({ seq, defaultState }: TopicOfAudience): Fragment {
  const chose = (isSubscribed: number) => bind`EXISTS (
    SELECT 1 FROM topic_subscriptions AS chosen
    WHERE chosen.topic_seq = ${seq} AND chosen.contact_seq = contacts.seq
      AND chosen.is_subscribed = ${isSubscribed})`;
  return defaultState === "SUBSCRIBED" ? bind`(NOT ${chose(0)})` : chose(1);
}

/**
 * SQL condition: the contact has paused. The few who have are read once from their index, because the
 * column stands behind the data of a contact, which may be large.
 */
export const hasPaused = ({ projectSeq, now }: Context): Fragment => bind`contacts.seq IN (
  SELECT paused.seq FROM contacts AS paused INDEXED BY contacts_paused
  WHERE paused.project_seq = ${projectSeq} AND paused.paused_until > ${now})`;

export const IS_PAUSED = audienceTest(hasPaused);
export const IS_NOT_PAUSED = audienceTest((context) => bind`NOT (${hasPaused(context)})`);
