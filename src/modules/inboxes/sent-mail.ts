/**
 * Mail that a project sends over HTTP with the transport `capture`: it appears in the project's
 * inbox `default`, in the transaction of its outcome. It is removed with its contact.
 */

import type { OnCaptured } from "../../outbox/record.ts";
import { localEnvelope } from "./envelope.ts";
import { inboxService, REHEARSAL_INBOX } from "./service.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { messageIntake } from "./messages/intake.ts";
import { messageStore } from "./messages/store.ts";
import { inboxChanges } from "./changes.ts";

/** A message of an inbox that is the copy of a mail. */
type Copy = { seq: number; id: string; inboxSeq: number };

export const sentMail = perApp(createSentMail);

function createSentMail(app: App) {
  const { db, writer } = app;
  const [inboxes, intake] = [inboxService(app), messageIntake(app)];
  const [store, changes] = [messageStore(app), inboxChanges(app)];
  const copiesOf = db.sqlite.prepare<Copy, [string]>(`
    SELECT m.seq, m.id, m.inbox_seq AS inboxSeq
    FROM json_each(?) AS each CROSS JOIN emails e ON e.seq = each.value
    CROSS JOIN inbox_messages m ON m.email_id = e.id`);

  // An inbox of rehearsals has a few hundred messages (campaigns/rehearsal.ts).
  const rehearsed = db.sqlite.prepare<Copy, [string, number]>(`
    SELECT m.seq, m.id, m.inbox_seq AS inboxSeq
    FROM contacts c CROSS JOIN inboxes i ON i.project_seq = c.project_seq AND i.name = +?
    CROSS JOIN inbox_messages m ON m.inbox_seq = i.seq
    WHERE c.seq = +? AND json_extract(m.envelope, '$.to[0].address') = c.email`);

  const onCaptured: OnCaptured = ({ id, projectSeq, fromAddress, to }, message) => {
    const { seq } = inboxes.defaultOf(projectSeq);
    const envelope = localEnvelope(fromAddress, to === null ? [] : [to]);
    intake.insert({ inboxSeq: seq, envelope, username: "", emailId: id }, message);
  };

  function remove(copies: readonly Copy[]): void {
    store.removeAll(copies.map(({ seq }) => seq));
    for (const { id, inboxSeq } of copies) {
      writer.afterCommit(() => changes.publish(inboxSeq, { type: "deleted", id }));
    }
  }

  return {
    onCaptured,

    /** Part of a change: removes the copies of these mails. */
    forgetMails: (mails: readonly number[]): void => remove(copiesOf.all(JSON.stringify(mails))),

    /** Part of a change: removes the rehearsals of campaigns with a contact that is removed. */
    forgetContact: (contactSeq: number): void => remove(rehearsed.all(REHEARSAL_INBOX, contactSeq)),
  };
}
