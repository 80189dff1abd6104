/**
 * Removes a contact. Its mails and events stay, without personal data. Its queued mails are
 * cancelled, because their address is removed. Other modules register what they have to do.
 */

import type { Db } from "../../db/open.ts";
import type { ContactEvents } from "../../events/contact-events.ts";
import type { ContactMails } from "../../outbox/contact-mails.ts";

/** Removes a contact. It must be called inside a change. */
export type RemoveContact = (contactSeq: number) => void;

export type Removal = ReturnType<typeof createRemoval>;

export function createRemoval(deps: {
  db: Db;
  mails: Pick<ContactMails, "forget">;
  events: Pick<ContactEvents, "detach">;
}) {
  const deleteContact = deps.db.sqlite.prepare<unknown, [number]>(
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
      deps.mails.forget(contactSeq);
      deps.events.detach(contactSeq);
      deleteContact.run(contactSeq);
    },
  };
}
