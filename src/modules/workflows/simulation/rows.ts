/**
 * Reads the rows for a sandbox (sandbox-app.ts): those of the project, and those of some contacts. They are
 * read in threads, as one text for each table, so that the event loop only passes them on.
 */

import type { App } from "../../../core/app.ts";
import { inTimeBy } from "../../../db/queries.ts";
import { isServiceEvent } from "../../../lib/service-events.ts";
import type { WorkflowRow } from "../store.ts";
import { type ConditionNeeds, type Needs, readsMails, type TestedMails } from "./needs.ts";
import type { TableRows } from "./sandbox-app.ts";

type Rows = { table: string; where: string; values: (string | number)[]; without?: string[] };

/** Most events of one group of contacts. */
const MAX_EVENTS = 20_000;
/** Most octets of the data of these events. */
const MAX_DATA_BYTES = 16 * 1024 * 1024;
const LIMIT_MS = 20_000;

/** The rows that are the same for all contacts. */
export async function readProjectRows(
  app: App,
  { seq, projectSeq, versionSeq }: WorkflowRow,
  { templateIds, mails, hasSegments }: Needs,
): Promise<TableRows[]> {
  const ids = JSON.stringify(templateIds);
  const ofTemplates = "SELECT value FROM json_each(?)";
  const values = [projectSeq];
  return readAll(app, projectSeq, [
    { table: "projects", where: "seq = ?", values },
    { table: "project_usage", where: "project_seq = ?", values },
    { table: "domains", where: "project_seq = ?", values },
    { table: "workflows", where: "seq = ?", values: [seq] },
    { table: "workflow_versions", where: "seq = ?", values: [versionSeq] },
    { table: "workflow_exits", where: "version_seq = ?", values: [versionSeq] },
    { table: "topics", where: "project_seq = ?", values },
    {
      table: "templates",
      where: `project_seq = ? AND id IN (${ofTemplates})`,
      values: [projectSeq, ids],
      without: ["design"],
    },
    {
      table: "layouts",
      where: `seq IN (SELECT layout_seq FROM templates
                      WHERE project_seq = ? AND id IN (${ofTemplates}))`,
      values: [projectSeq, ids],
    },
    ...(hasSegments ? [{ table: "segments", where: "project_seq = ?", values }] : []),
    campaignRows(projectSeq, mails.ofCampaigns),
  ]);
}

/** The rows that the conditions of a segment read, and that are the same for all contacts. */
export const readConditionRows = (
  app: App,
  projectSeq: number,
  {
    eventNames,
    mails,
    hasReferences,
  }: Pick<ConditionNeeds, "eventNames" | "mails"> & { hasReferences: boolean },
): Promise<TableRows[]> =>
  readAll(app, projectSeq, [
    ...(hasReferences
      ? [{ table: "segments", where: "project_seq = ?", values: [projectSeq] }]
      : []),
    { table: "topics", where: "project_seq = ?", values: [projectSeq] },
    {
      table: "event_names",
      where: "project_seq = ? AND name IN (SELECT value FROM json_each(?))",
      values: [projectSeq, JSON.stringify([...eventNames])],
    },
    campaignRows(projectSeq, mails.ofCampaigns),
  ]);

/** Conditions find the mails of a campaign by its id. */
const campaignRows = (projectSeq: number, ids: readonly string[]): Rows => ({
  table: "campaigns",
  where: "id IN (SELECT value FROM json_each(?)) AND project_seq = ?",
  values: [JSON.stringify(ids), projectSeq],
  without: ["design"],
});

/** The rows of contacts, and of the addresses that steps mail to. */
export async function readContactRows(
  app: App,
  projectSeq: number,
  contactSeqs: readonly number[],
  { addresses, hasSegments, mails }: Pick<Needs, "addresses" | "hasSegments" | "mails">,
): Promise<TableRows[]> {
  const seqs = JSON.stringify(contactSeqs);
  const others = JSON.stringify(addresses);
  const selected = `seq IN (SELECT value FROM json_each(?))
    OR (project_seq = ? AND email IN (SELECT value FROM json_each(?)))`;
  const values = [seqs, projectSeq, others];
  const ofContacts = "contact_seq IN (SELECT value FROM json_each(?))";
  return readAll(app, projectSeq, [
    { table: "contacts", where: selected, values },
    {
      table: "suppressions",
      where: `project_seq = ? AND email IN (SELECT email FROM contacts WHERE ${selected})`,
      values: [projectSeq, ...values],
    },
    { table: "topic_subscriptions", where: ofContacts, values: [seqs] },
    ...(hasSegments ? [{ table: "segment_members", where: ofContacts, values: [seqs] }] : []),
    ...(readsMails(mails) ? [mailRows(seqs, mails)] : []),
  ]);
}

/** The mails of contacts that conditions test; contacts may have many thousands of others. */
function mailRows(
  contactSeqs: string,
  { ofCampaigns, ofTemplates, withClicks }: TestedMails,
): Rows {
  const isInTime = inTimeBy("mail.seq");
  const contacts = (parameter: string) => `FROM json_each(${parameter}) AS contact`;
  return {
    table: "emails",
    where: `seq IN (
      SELECT mail.seq ${contacts("?1")} CROSS JOIN campaigns
      CROSS JOIN emails AS mail INDEXED BY emails_campaign_contact
        ON mail.campaign_seq = campaigns.seq AND mail.contact_seq = contact.value
      WHERE campaigns.id IN (SELECT value FROM json_each(?2)) AND ${isInTime}
      UNION ALL
      SELECT mail.seq ${contacts("?1")} CROSS JOIN json_each(?3) AS template
      CROSS JOIN emails AS mail INDEXED BY emails_template
        ON mail.template_id = template.value AND mail.contact_seq = contact.value
      WHERE ${isInTime}
      UNION ALL
      SELECT mail.seq ${contacts("?4")} CROSS JOIN emails AS mail INDEXED BY emails_contact
        ON mail.contact_seq = contact.value AND mail.clicked_at IS NOT NULL
      WHERE ${isInTime})`,
    values: [
      contactSeqs,
      JSON.stringify(ofCampaigns),
      JSON.stringify(ofTemplates),
      withClicks ? contactSeqs : "[]",
    ],
    // The executions of the sandbox have other numbers; conditions read none of the others.
    without: ["execution_seq", "variables", "to_address", "to_name", "tags", "last_error"],
  };
}

/**
 * The time of the last event of contacts and names of which the log has none any more: it stays when
 * events are removed.
 */
export const readRemovedEvents = (
  app: App,
  projectSeq: number,
  contactSeqs: readonly number[],
  { eventNames }: ConditionNeeds,
): Promise<TableRows> =>
  readRows(app, projectSeq, {
    table: "contact_events",
    where: `count = 0 AND contact_seq IN (SELECT value FROM json_each(?))
      AND name_seq IN (SELECT seq FROM event_names
                       WHERE project_seq = ? AND name IN (SELECT value FROM json_each(?)))`,
    values: [JSON.stringify(contactSeqs), projectSeq, JSON.stringify([...eventNames])],
  });

async function readAll(app: App, projectSeq: number, all: readonly Rows[]): Promise<TableRows[]> {
  const found: TableRows[] = [];
  for (const rows of all) found.push(await readRows(app, projectSeq, rows));
  return found;
}

async function readRows(
  app: App,
  projectSeq: number,
  { table, where, values, without = [] }: Rows,
): Promise<TableRows> {
  const columns = app.db.sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name)
    .filter((name) => !without.includes(name));
  const list = columns.map((name) => `"${name}"`).join(", ");
  const sql = `SELECT json_group_array(json_array(${list})) FROM ${table}
    WHERE in_time() AND (${where})`;
  const { rows } = await app.reader.find(projectSeq, { sql, values }, LIMIT_MS);
  return { table, columns, rows: String(rows[0]?.[0]) };
}

type ContactEvents = {
  /** JSON: lists of seq, name, contact, data, time and mail, in any order. */
  events: string;
  /** The size of the events divided by the limit of one read; above 1, some were left out. */
  share: number;
};

/**
 * The events of contacts that the workflow reads, the newest first. The chains of each contact and name
 * lead to them, so that no other events are read.
 */
export async function readContactEvents(
  app: App,
  { projectSeq, workflowSeq }: { projectSeq: number; workflowSeq: number },
  contactSeqs: readonly number[],
  names: readonly string[],
): Promise<ContactEvents> {
  const sql = `
    WITH RECURSIVE chain (seq, previous) AS (
      SELECT e.seq, e.previous_seq
      FROM json_each(?) AS asked
      CROSS JOIN json_each(?) AS named
      CROSS JOIN event_names ON event_names.project_seq = ? AND event_names.name = named.value
      CROSS JOIN contact_events
        ON contact_events.name_seq = event_names.seq AND contact_events.contact_seq = asked.value
      CROSS JOIN events AS e ON e.seq = contact_events.last_seq
      WHERE in_time()
      UNION ALL
      SELECT e.seq, e.previous_seq FROM chain CROSS JOIN events AS e ON e.seq = chain.previous
      WHERE ${inTimeBy("e.seq")}),
    sized AS (
      SELECT e.*, sum(coalesce(length(e.data), 0)) OVER (ORDER BY e.seq DESC) AS bytes,
             row_number() OVER (ORDER BY e.seq DESC) AS number
      FROM chain CROSS JOIN events AS e ON e.seq = chain.seq
      WHERE NOT ${MADE_BY_WORKFLOW})
    SELECT json_group_array(json_array(seq, name, contact_seq, data, created_at, email_seq))
             FILTER (WHERE number <= ? AND bytes <= ?),
           max(number), max(bytes)
    FROM sized`;
  const values = [
    JSON.stringify(contactSeqs),
    JSON.stringify(names),
    projectSeq,
    workflowSeq,
    MAX_EVENTS,
    MAX_DATA_BYTES,
  ];
  const { rows } = await app.reader.find(projectSeq, { sql, values }, LIMIT_MS);
  const [[events, number, bytes] = []] = rows;
  const share = Math.max(Number(number) / MAX_EVENTS, Number(bytes) / MAX_DATA_BYTES);
  return { events: String(events), share };
}

/** True for an event that the steps of this workflow have caused, and cause again in a sandbox. */
const MADE_BY_WORKFLOW = `(e.name = 'email.suppressed' AND EXISTS (
  SELECT 1 FROM emails AS mail JOIN workflow_executions AS of ON of.seq = mail.execution_seq
  WHERE mail.seq = e.email_seq AND of.workflow_seq = ?))`;

/** All names of events that a replay needs: if data is read, also those that set it. */
export async function namesToRead(
  app: App,
  projectSeq: number,
  { eventNames, readsData }: ConditionNeeds,
): Promise<string[]> {
  if (!readsData) return [...eventNames];
  const sql = `SELECT name FROM event_names WHERE in_time() AND project_seq = ?`;
  const { rows } = await app.reader.find(projectSeq, { sql, values: [projectSeq] });
  const own = rows.map(([name]) => String(name)).filter((name) => !isServiceEvent(name));
  return [...new Set([...eventNames, ...own])];
}

/** All contacts that were created until a time, in the order of their numbers. */
export async function readContactsUntil(
  app: App,
  projectSeq: number,
  { until, limit }: { until: number; limit: number },
): Promise<number[]> {
  const sql = `
    SELECT json_group_array(seq) FROM (
      SELECT seq FROM contacts WHERE project_seq = ? AND created_at <= ? AND ${inTimeBy("seq")}
      ORDER BY seq LIMIT ?)`;
  return readSeqs(app, projectSeq, { sql, values: [projectSeq, until, limit] });
}

/** The contacts that had an event in a period, in the order of their numbers. */
export async function readContactsWith(
  app: App,
  projectSeq: number,
  { name, from, until, limit }: { name: string; from: number; until: number; limit: number },
): Promise<number[]> {
  const sql = `
    SELECT json_group_array(contact_seq) FROM (
      SELECT DISTINCT contact_seq FROM events INDEXED BY events_name
      WHERE project_seq = ? AND name = ? AND created_at BETWEEN ? AND ?
        AND contact_seq IS NOT NULL AND ${inTimeBy("seq")}
      ORDER BY contact_seq LIMIT ?)`;
  return readSeqs(app, projectSeq, { sql, values: [projectSeq, name, from, until, limit] });
}

/** Reads a list of `seq`, which SQLite returns as one text. */
async function readSeqs(
  app: App,
  projectSeq: number,
  query: { sql: string; values: (string | number)[] },
): Promise<number[]> {
  const { rows } = await app.reader.find(projectSeq, query, LIMIT_MS);
  const seqs: unknown = JSON.parse(String(rows[0]?.[0]));
  return Array.isArray(seqs) ? seqs.map(Number) : [];
}
