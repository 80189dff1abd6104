/**
 * Mail that a project sends over HTTP with the transport `capture`: it appears in the project's
 * inbox `default`, in the transaction of its outcome. It is removed with its contact.
 */

import type { Db } from "../../db/open.ts";
import type { Writer } from "../../db/writer.ts";
import type { OnCaptured } from "../../outbox/record.ts";
import type { InboxChanges } from "./changes.ts";
import { localEnvelope } from "./envelope.ts";
import type { Intake } from "./messages/intake.ts";
import type { MessageStore } from "./messages/store.ts";
import { type Inboxes, REHEARSAL_INBOX } from "./service.ts";

export function createSentMail(deps: {
  db: Db;
  writer: Pick<Writer, "afterCommit">;
  inboxes: Pick<Inboxes, "defaultOf">;
  intake: Pick<Intake, "insert">;
  store: Pick<MessageStore, "removeAll">;
  changes: InboxChanges;
}) {
  const { writer, inboxes, intake, store, changes } = deps;
  const ofContact = deps.db.sqlite.prepare<
    { seq: number; id: string; inboxSeq: number },
    [number]
  >(`
    SELECT m.seq, m.id, m.inbox_seq AS inboxSeq
    FROM emails e CROSS JOIN inbox_messages m ON m.email_id = e.id
    WHERE e.contact_seq = +?`);

  // An inbox of rehearsals has a few hundred messages (campaigns/rehearsal.ts).
  const rehearsed = deps.db.sqlite.prepare<
    { seq: number; id: string; inboxSeq: number },
    [string, number]
  >(`
    SELECT m.seq, m.id, m.inbox_seq AS inboxSeq
    FROM contacts c CROSS JOIN inboxes i ON i.project_seq = c.project_seq AND i.name = +?
    CROSS JOIN inbox_messages m ON m.inbox_seq = i.seq
    WHERE c.seq = +? AND json_extract(m.envelope, '$.to[0].address') = c.email`);

  const onCaptured: OnCaptured = ({ id, projectSeq, fromAddress, to }, message) => {
    const { seq } = inboxes.defaultOf(projectSeq);
    const envelope = localEnvelope(fromAddress, to === null ? [] : [to]);
    intake.insert({ inboxSeq: seq, envelope, username: "", emailId: id }, message);
  };

  return {
    onCaptured,

    /** Part of a change: removes the messages to a contact that is removed. */
    forgetContact(contactSeq: number): void {
      const messages = [
        ...ofContact.all(contactSeq),
        ...rehearsed.all(REHEARSAL_INBOX, contactSeq),
      ];
      store.removeAll(messages.map(({ seq }) => seq));
      for (const { id, inboxSeq } of messages) {
        writer.afterCommit(() => changes.publish(inboxSeq, { type: "deleted", id }));
      }
    },
  };
}
