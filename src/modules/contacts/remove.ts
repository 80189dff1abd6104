/**
 * Removes a contact. Its mails and events stay, without personal data. Its queued mails are
 * cancelled, because their address is removed. Other modules register what they have to do.
 */

import type { App } from "../../core/app.ts";
import { eventsOfContact } from "../../events/contact-events.ts";
import { perApp } from "../../lib/per-app.ts";
import { contactMails } from "../../outbox/contact-mails.ts";

/** Removes a contact. It must be called inside a change. */
export type RemoveContact = (contactSeq: number) => void;
/** Removes what identifies the contact of these mails or events, inside a change. */
type ForgetRows = (seqs: readonly number[]) => void;
/** Removes up to `limit` rows of a contact inside a change, and returns their number. */
type RemoveRows = (contactSeq: number, limit: number) => number;

/** Rows of one call of the handlers, for a contact that is removed in one change. */
const ROWS = 1_000;

export const contactRemoval = perApp(createRemoval);

function createRemoval(app: App) {
  const deleteContact = app.db.sqlite.prepare<unknown, [number]>(
    "DELETE FROM contacts WHERE seq = ?",
  );
  const unsubscribe = app.db.sqlite.prepare<unknown, [number]>(
    "UPDATE contacts SET is_subscribed = 0 WHERE seq = ?",
  );
  const handlers: RemoveContact[] = [];
  const mailHandlers: ForgetRows[] = [];
  const eventHandlers: ForgetRows[] = [];
  const rowHandlers: RemoveRows[] = [];

  function forgetMails(mails: readonly number[]): void {
    for (const handle of mailHandlers) handle(mails);
    contactMails(app).forget(mails);
  }

  function callHandlers(contactSeq: number): void {
    for (const handle of handlers) handle(contactSeq);
  }

  /** Returns false if there are no more events. */
  function forgetEvents(contactSeq: number, limit: number): boolean {
    const events = eventsOfContact(app).detach(contactSeq, limit);
    for (const handle of eventHandlers) handle(events);
    return events.length === limit;
  }

  /** Returns false if there are no more rows. */
  const removeRows = (contactSeq: number, limit: number): boolean =>
    rowHandlers.some((handle) => handle(contactSeq, limit) > 0);

  return {
    /**
     * Registers a handler. It is called in the change that removes a contact, before it is deleted. For a
     * contact that is removed in parts it is called at the beginning as well.
     */
    onRemove(handler: RemoveContact): void {
      handlers.push(handler);
    },
    /** Registers a handler for mails that lose their contact, which they still have. */
    onForgetMails(handler: ForgetRows): void {
      mailHandlers.push(handler);
    },
    /** Registers a handler for events that have lost their contact. */
    onForgetEvents(handler: ForgetRows): void {
      eventHandlers.push(handler);
    },
    /** Registers a handler for rows that may be many or large, so that they are removed in parts. */
    onRemoveRows(handler: RemoveRows): void {
      rowHandlers.push(handler);
    },

    /** The contact is deleted last, and rows that refer to it are deleted with it. */
    remove(contactSeq: number): void {
      callHandlers(contactSeq);
      contactMails(app).cancel(contactSeq);
      forgetMails(contactMails(app).all(contactSeq));
      while (forgetEvents(contactSeq, ROWS));
      while (removeRows(contactSeq, ROWS));
      deleteContact.run(contactSeq);
    },

    /**
     * The removal of a contact with many mails and events in parts. `begin` cancels its executions of
     * workflows and its queued mails, and lets no campaign choose it, so that no mail leaves between the
     * parts. After the parts follows `remove`, which also removes the data that came meanwhile. All are parts of changes.
     */
    begin(contactSeq: number): void {
      callHandlers(contactSeq);
      unsubscribe.run(contactSeq);
      contactMails(app).cancel(contactSeq);
    },
    forgetMails,
    forgetEvents,
    removeRows,
  };
}
