/** SQL of the live stream: the events, mails and caught messages after a position. */

import type { Db } from "../../db/open.ts";

/** The `seq` of the latest event, mail and caught message that a client knows. */
export type LivePosition = { event: number; mail: number; message: number };

/** One line of the stream. `type` is the name of the event. */
export type LiveItem = { seq: number; projectSeq: number; type: string; id: string };

type Latest = { event: number; mail: number; message: number };

export type LiveRows = ReturnType<typeof prepareLiveRows>;

export function prepareLiveRows({ sqlite }: Db) {
  // The id is that of the mail or the contact that the event is about, or else of the event.
  const eventsAfter = sqlite.prepare<LiveItem, [number, number]>(`
    SELECT e.seq, e.project_seq AS projectSeq, e.name AS type, coalesce(m.id, c.id, e.id) AS id
    FROM events e LEFT JOIN emails m ON m.seq = e.email_seq
                  LEFT JOIN contacts c ON c.seq = e.contact_seq
    WHERE e.seq > +? ORDER BY e.seq LIMIT +?`);
  const mailsAfter = sqlite.prepare<LiveItem, [number, number]>(`
    SELECT seq, project_seq AS projectSeq, 'email.queued' AS type, id
    FROM emails WHERE seq > +? ORDER BY seq LIMIT +?`);
  const messagesAfter = sqlite.prepare<LiveItem, [number, number]>(`
    SELECT m.seq, i.project_seq AS projectSeq, 'inbox.message' AS type, m.id
    FROM inbox_messages m JOIN inboxes i ON i.seq = m.inbox_seq
    WHERE m.seq > +? AND m.state IN ('PARSED', 'UNREADABLE') ORDER BY m.seq LIMIT +?`);
  const latest = sqlite.prepare<Latest, []>(`
    SELECT coalesce((SELECT max(seq) FROM events), 0) AS event,
           coalesce((SELECT max(seq) FROM emails), 0) AS mail,
           coalesce((SELECT max(seq) FROM inbox_messages), 0) AS message`);
  const projectOf = sqlite.prepare<{ projectSeq: number }, [number]>(
    "SELECT project_seq AS projectSeq FROM inboxes WHERE seq = +?",
  );

  return {
    eventsAfter: (seq: number, limit: number): LiveItem[] => eventsAfter.all(seq, limit),
    mailsAfter: (seq: number, limit: number): LiveItem[] => mailsAfter.all(seq, limit),
    messagesAfter: (seq: number, limit: number): LiveItem[] => messagesAfter.all(seq, limit),
    latest: (): LivePosition => latest.get() ?? { event: 0, mail: 0, message: 0 },
    /** The project of an inbox; null if the inbox was removed. */
    projectOfInbox: (inboxSeq: number): number | null =>
      projectOf.get(inboxSeq)?.projectSeq ?? null,
  };
}
