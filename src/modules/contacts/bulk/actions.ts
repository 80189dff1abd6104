/**
 * The bulk actions on one contact. They follow the same rules as the requests for a single contact.
 */

import type { Db } from "../../../db/open.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { EventLog } from "../../../events/log.ts";
import type { BulkAction } from "./model.ts";
import type { RemoveContact } from "../remove.ts";

/** Applies an action inside a change. Returns true if the contact was changed or deleted. */
export type ContactAction = (projectSeq: number, contactSeq: number) => boolean;

export function createBulkActions(deps: {
  db: Db;
  clock: Clock;
  events: EventLog;
  remove: RemoveContact;
}): Readonly<Record<BulkAction, ContactAction>> {
  const { db, clock, events, remove } = deps;
  const exists = db.sqlite.prepare<{ seq: number }, [number]>(
    "SELECT seq FROM contacts WHERE seq = ?",
  );
  const change = db.sqlite.prepare<{ seq: number }, [number, number, number, number]>(`
    UPDATE contacts SET is_subscribed = ?, updated_at = ?
    WHERE seq = ? AND is_subscribed <> ? RETURNING seq`);

  function setSubscription(isSubscribed: boolean): ContactAction {
    const flag = Number(isSubscribed);
    const name = isSubscribed ? "contact.subscribed" : "contact.unsubscribed";
    return (projectSeq, contactSeq) => {
      const at = clock.now();
      if (change.get(flag, at, contactSeq, flag) === null) return false;
      events.record({ projectSeq, name, contactSeq, at });
      return true;
    };
  }

  return {
    subscribe: setSubscription(true),
    unsubscribe: setSubscription(false),
    delete(_, contactSeq) {
      if (exists.get(contactSeq) === null) return false;
      remove(contactSeq);
      return true;
    },
  };
}
