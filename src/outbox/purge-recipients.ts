/**
 * Removes To and Cc of messages one of whose recipients was deleted while copies of them still waited.
 * These copies show the same addresses as those that had left; then they are removed.
 */

import type { Db } from "../db/open.ts";
import type { Purge } from "../db/purge.ts";

/** The digest of such a message begins with it, so no new mail reuses the message. */
export const LEAVING = "leaving";
/** SQL that forgets the addresses of a message. */
export const FORGET_RECIPIENTS = "recipients = NULL, digest = 'forgotten ' || seq";
/** SQL that is true for a message `messages` of which no mail waits or is under way. */
export const HAS_LEFT =
  "NOT EXISTS (SELECT 1 FROM emails WHERE message_seq = messages.seq AND next_at IS NOT NULL)";

/** Messages of one step. */
const PAGE = 100;

/** Creates the purge for one scan. It does not depend on the age of the messages. */
export function createRecipientsPurge({ sqlite }: Db): Purge {
  // The index of the digests finds the rows in each project.
  const forget = sqlite.prepare<unknown, []>(`
    UPDATE messages SET ${FORGET_RECIPIENTS}
    WHERE seq IN (
      SELECT seq FROM messages WHERE project_seq IN (SELECT seq FROM projects)
        AND digest > '${LEAVING} ' AND digest < '${LEAVING}!' AND ${HAS_LEFT} LIMIT ${PAGE})`);
  return () => forget.run().changes >= PAGE;
}
