/** Decides whether a contact is in a topic, and so gets the marketing mail of the topic. */

import { statement } from "../db/statement.ts";

const findState = statement<{ isIn: number }, [number, number]>(`
  SELECT coalesce(
    (SELECT is_subscribed FROM topic_subscriptions WHERE topic_seq = t.seq AND contact_seq = +?),
    t.default_state = 'SUBSCRIBED') AS isIn
  FROM topics t WHERE t.seq = +?`);

/** False for a topic that was deleted. */
export function isInTopic(
  app: Parameters<typeof findState>[0],
  { topicSeq, contactSeq }: { topicSeq: number; contactSeq: number },
): boolean {
  return findState(app).get(contactSeq, topicSeq)?.isIn === 1;
}
