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

export const contactRemoval = perApp(createRemoval);

function createRemoval(app: App) {
  const deleteContact = app.db.sqlite.prepare<unknown, [number]>(
    "DELETE FROM contacts WHERE seq = ?",
  );
  const handlers: RemoveContact[] = [];
  return {
    /** Registers a handler. It is called in the change that removes a contact, before it is deleted. */
    onRemove(handler: RemoveContact): void {
      handlers.push(handler);
    },

    /** The contact is deleted last, and rows that refer to it are deleted with it. */
    remove(contactSeq: number): void {
      for (const handle of handlers) handle(contactSeq);
      contactMails(app).forget(contactSeq);
      eventsOfContact(app).detach(contactSeq);
      deleteContact.run(contactSeq);
    },
  };
}
