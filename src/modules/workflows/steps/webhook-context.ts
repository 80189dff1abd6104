/** Reads the data that the templates of a WEBHOOK step can use from the database. */

import type { Db } from "../../../db/open.ts";
import { parseData } from "../../contacts/data.ts";
import type { Contacts } from "../../contacts/service.ts";
import type { Execution } from "../run/execution-rows.ts";
import type { WebhookContext } from "./webhook.ts";

type EventRow = { id: string; name: string; data: string | null; createdAt: number };

export function createWebhookContexts(deps: {
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

  /** null if there is no event or it was purged. */
  function eventOf(seq: number | null): WebhookContext["event"] {
    const row = seq === null ? null : findEvent.get(seq);
    return row === null ? null : { ...row, data: row.data === null ? null : parseData(row.data) };
  }

  /** null if the contact or the workflow was deleted. */
  return ({
    id,
    startedAt,
    workflowSeq,
    contactSeq,
    progress,
  }: Execution): WebhookContext | null => {
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
