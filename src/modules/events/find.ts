/**
 * Finds an event by its id. The log has no index of ids, because every event would write to it. An
 * id begins with the time of its event (lib/id.ts), by which `events_page` finds the few events of
 * the same millisecond.
 */

import type { Db } from "../../db/open.ts";
import { timeOfId } from "../../lib/id.ts";
import type { StoredEvent } from "../../events/log.ts";
import type { Event } from "./model.ts";
import { presentEvent } from "./service.ts";

export type FindEvent = (projectSeq: number, id: string) => Event | null;

export function createFindEvent({ sqlite }: Db): FindEvent {
  const find = sqlite.prepare<StoredEvent, [number, number, string]>(`
    SELECT e.id, e.name, e.data, e.created_at AS createdAt, c.id AS contactId,
           c.email AS contactEmail, m.id AS emailId
    FROM events e INDEXED BY events_page
    LEFT JOIN contacts c ON c.seq = e.contact_seq LEFT JOIN emails m ON m.seq = e.email_seq
    WHERE e.project_seq = +? AND e.created_at = +? AND e.id = +? LIMIT 1`);
  return (projectSeq, id) => {
    const at = timeOfId(id);
    const found = at === null ? null : find.get(projectSeq, at, id);
    return found === null ? null : presentEvent(found);
  };
}
