/**
 * The workflows that a contact never entered, with the facts about their events that explain this.
 * Only the newest workflows of a project are read: each costs three look-ups by an index.
 */

import type { TriggerType } from "../../db/schema/workflows.ts";
import type { Db } from "../../db/open.ts";
import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import type { Contacts } from "../contacts/service.ts";
import type { UnenteredWorkflow } from "./unentered-model.ts";

export type ListUnentered = (projectSeq: number, contactId: string) => UnenteredWorkflow[];

const MAX_WORKFLOWS = 500;
const MAX_SHOWN = 100;

type Row = {
  id: string;
  name: string;
  isEnabled: number;
  triggerType: TriggerType;
  eventName: string;
  createdAt: number;
  lastEventAt: number | null;
};

export function createUnentered(deps: {
  db: Pick<Db, "sqlite">;
  contacts: Pick<Contacts, "get">;
}): ListUnentered {
  const { contacts } = deps;
  const find = deps.db.sqlite.prepare<Row, [number, number]>(`
    SELECT w.id, w.name, w.is_enabled AS isEnabled, w.trigger_type AS triggerType, w.trigger_event AS eventName,
           w.created_at AS createdAt, seen.last_at AS lastEventAt
    FROM (SELECT * FROM workflows INDEXED BY workflows_page
          WHERE project_seq = +?1 AND deleted_at IS NULL
          ORDER BY seq DESC LIMIT ${MAX_WORKFLOWS}) AS w
    LEFT JOIN event_names ON event_names.project_seq = +?1 AND event_names.name = w.trigger_event
    LEFT JOIN contact_events AS seen
      ON seen.name_seq = event_names.seq AND seen.contact_seq = +?2
    WHERE NOT EXISTS (
      SELECT 1 FROM workflow_executions AS execution INDEXED BY workflow_executions_contact
      WHERE execution.contact_seq = +?2 AND execution.workflow_seq = w.seq)
    ORDER BY w.is_enabled DESC, w.seq DESC LIMIT ${MAX_SHOWN}`);

  return (projectSeq, contactId) => {
    const contact = contacts.get(projectSeq, contactId);
    return find
      .all(projectSeq, contact.seq)
      .map(({ id, name, isEnabled, triggerType, eventName, createdAt, lastEventAt }) => ({
        id,
        name,
        enabled: isEnabled === 1,
        triggerType,
        eventName,
        createdAt: isoTime(createdAt),
        lastEventAt: isoTimeOrNull(lastEventAt),
      }));
  };
}
