/**
 * Finds an event by its id. The log has no index of ids, because every event would write to it. An
 * id begins with the time of its event (lib/id.ts), by which `events_page` finds the few events of
 * that time. After 4,096 ids of one millisecond, further ones have the time of the next.
 */

import type { Db } from "../../db/open.ts";
import { timeOfId } from "../../lib/id.ts";
import type { StoredEvent } from "../../events/log.ts";
import type { Event } from "./model.ts";
import { presentEvent } from "./service.ts";

/** By how much the time of an id may be ahead of its event. */
const AHEAD_MS = 1_000;

export type FindEvent = (projectSeq: number, id: string) => Event | null;

export function createFindEvent({ sqlite }: Db): FindEvent {
  const find = sqlite.prepare<StoredEvent, [number, number, number, string]>(`
    SELECT e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
           c.email AS contactEmail, m.id AS emailId
    FROM events e INDEXED BY events_page
    LEFT JOIN contacts c ON c.seq = e.contact_seq LEFT JOIN emails m ON m.seq = e.email_seq
    WHERE e.project_seq = +? AND e.created_at BETWEEN +? AND +? AND e.id = +? LIMIT 1`);
  return (projectSeq, id) => {
    const at = timeOfId(id);
    const found = at === null ? null : find.get(projectSeq, at - AHEAD_MS, at, id);
    return found === null ? null : presentEvent(found);
  };
}
