/** What a webhook of an execution is told about, read from the rows. */

import type { Db } from "../../db/open.ts";
import { parseData } from "../contacts/data.ts";
import type { Contacts } from "../contacts/service.ts";
import type { Execution } from "./agenda.ts";
import type { Situation } from "./webhook.ts";

type EventRow = { id: string; name: string; data: string | null; createdAt: number };

export function createSituations(deps: {
  db: Pick<Db, "sqlite">;
  contacts: Pick<Contacts, "findBySeq">;
}) {
  const { sqlite } = deps.db;
  const findWorkflow = sqlite.prepare<{ id: string; name: string }, [number]>(
    "SELECT id, name FROM workflows WHERE seq = +?",
  );
  const findEvent = sqlite.prepare<EventRow, [number]>(
    "SELECT id, name, data, created_at AS createdAt FROM events WHERE seq = +?",
  );

  /** Null also once it was purged. */
  function eventOf(seq: number | null): Situation["event"] {
    const row = seq === null ? null : findEvent.get(seq);
    return row === null ? null : { ...row, data: row.data === null ? null : parseData(row.data) };
  }

  /** Null where the contact or the workflow is gone. */
  return ({ id, startedAt, workflowSeq, contactSeq, progress }: Execution): Situation | null => {
    const workflow = findWorkflow.get(workflowSeq);
    const contact = contactSeq === null ? null : deps.contacts.findBySeq(contactSeq);
    if (workflow === null || contact === null) return null;
    return {
      workflow,
      execution: { id, startedAt },
      contact,
      event: eventOf(progress.eventSeq),
      context: progress.context,
      number: progress.stepCount + 1,
    };
  };
}
