/** The bulk actions on one contact. They follow the same rules as the requests for a single contact. */

import type { Db } from "../../../db/open.ts";
import type { Clock } from "../../../lib/clock.ts";
import type { EventLog } from "../../../events/log.ts";
import type { RecordOwnConsent } from "../../consents/record.ts";
import type { RemoveContact } from "../remove.ts";
import type { Contacts } from "../service.ts";
import type { FindAudience } from "./bulk.ts";
import type { BulkJob } from "./model.ts";

/** Applies an action inside a change. Returns true if the contact was changed or deleted. */
export type ContactAction = (projectSeq: number, contactSeq: number) => boolean;
/** The action of a job with its values. */
export type ActionOf = (jobId: string, job: BulkJob) => ContactAction;

/** Part of a change: true if the contact entered the topic, or left it. False if it was deleted. */
type SetTopic = (
  contact: { projectSeq: number; seq: number },
  choice: { topicId: string; isSubscribed: boolean },
  jobId: string,
) => boolean;

export function createBulkActions(deps: {
  db: Db;
  clock: Clock;
  events: EventLog;
  contacts: Pick<Contacts, "findBySeq" | "patch">;
  audience: Pick<FindAudience, "move">;
  remove: RemoveContact;
  recordConsent: RecordOwnConsent;
  /** True if the person had unsubscribed before their address was erased. */
  hasLeft: (contactSeq: number) => boolean;
  setTopic: SetTopic;
}): ActionOf {
  const { db, clock, events, contacts, audience, remove, recordConsent, hasLeft, setTopic } = deps;
  const exists = db.sqlite.prepare<{ seq: number }, [number]>(
    "SELECT seq FROM contacts WHERE seq = ?",
  );
  const change = db.sqlite.prepare<{ seq: number }, [number, number, number, number]>(`
    UPDATE contacts SET is_subscribed = ?, updated_at = ?
    WHERE seq = ? AND is_subscribed <> ? RETURNING seq`);

  function setSubscription(jobId: string, isSubscribed: boolean): ContactAction {
    const flag = Number(isSubscribed);
    const name = isSubscribed ? "contact.subscribed" : "contact.unsubscribed";
    return (projectSeq, contactSeq) => {
      const at = clock.now();
      if (isSubscribed && hasLeft(contactSeq)) return false;
      if (change.get(flag, at, contactSeq, flag) === null) return false;
      events.record({ projectSeq, name, contactSeq, at });
      const source = { type: "BULK", id: jobId } as const;
      recordConsent({ projectSeq, seq: contactSeq }, isSubscribed, source);
      return true;
    };
  }

  function setData(data: NonNullable<BulkJob["data"]>): ContactAction {
    return (projectSeq, contactSeq) => {
      const contact = contacts.findBySeq(contactSeq);
      if (contact === null) return false;
      return contacts.patch(projectSeq, contact.id, { data })().data !== contact.data;
    };
  }

  const move =
    (direction: "enter" | "leave", id: string): ContactAction =>
    (projectSeq, contactSeq) =>
      audience.move(direction, { projectSeq, id }, contactSeq);

  const choose =
    (jobId: string, topicId: string, isSubscribed: boolean): ContactAction =>
    (projectSeq, seq) =>
      exists.get(seq) !== null && setTopic({ projectSeq, seq }, { topicId, isSubscribed }, jobId);

  return (jobId, { action, segmentId = "", topicId = "", data = {} }) => {
    switch (action) {
      case "subscribe":
        return setSubscription(jobId, true);
      case "unsubscribe":
        return setSubscription(jobId, false);
      case "addToSegment":
        return move("enter", segmentId);
      case "removeFromSegment":
        return move("leave", segmentId);
      case "joinTopic":
        return choose(jobId, topicId, true);
      case "leaveTopic":
        return choose(jobId, topicId, false);
      case "set":
        return setData(data);
      case "delete":
        return (_, contactSeq) => {
          if (exists.get(contactSeq) === null) return false;
          remove(contactSeq);
          return true;
        };
    }
  };
}
