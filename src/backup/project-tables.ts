/**
 * The rows that belong to one project: in which tables they are, and to which rows of other tables their
 * columns refer. Most is read from the schema: a table belongs to a project by its column `project_seq`,
 * or by a reference to a table that has it. The rest is written down here, and a test fails for a new
 * table that is in neither.
 */

import type { Database } from "bun:sqlite";

/** Tables whose rows stay where they are, and why. */
export const LEFT_OUT: Readonly<Record<string, string>> = {
  contact_counts: "A trigger counts the contacts that arrive.",
  idempotency_keys: "Their scope is a digest that contains the number of the project.",
  import_faults: "They belong to jobs.",
  inbox_messages: "Mail that was caught for tests belongs to the machine where it was caught.",
  inbox_parts: "See inbox_messages.",
  inbox_raw: "See inbox_messages.",
  inbox_rules: "See inbox_messages.",
  inbox_search: "See inbox_messages.",
  inbox_search_config: "See inbox_messages.",
  inbox_search_data: "See inbox_messages.",
  inbox_search_docsize: "See inbox_messages.",
  inbox_search_idx: "See inbox_messages.",
  inbox_sessions: "See inbox_messages.",
  inbox_texts: "See inbox_messages.",
  inboxes: "See inbox_messages.",
  jobs: "They are done within minutes, and their files are in the data folder.",
  memberships: "Users belong to an installation: they are invited again.",
  page_fill: "It is empty, except while an erasure overwrites free pages.",
  project_usage: "It is stored at the end, because triggers count rows that arrive.",
  saved_views: "They belong to users.",
  user_tokens: "They belong to users.",
};

/** References that the schema does not declare. */
const UNDECLARED: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ab_variants: { message_seq: "messages" },
  campaigns: { audience_cursor: "contacts", audience_end: "contacts", message_seq: "messages" },
  consents: { topic_seq: "topics" },
  contact_events: { contact_seq: "contacts", name_seq: "event_names", last_seq: "events" },
  emails: { campaign_seq: "campaigns", execution_seq: "workflow_executions" },
  events: { contact_seq: "contacts", previous_seq: "events" },
  messages: { topic_seq: "topics" },
  suppressions: { email_seq: "emails" },
  webhook_deliveries: { contact_seq: "contacts" },
  webhooks: { start_seq: "events" },
  workflow_entry_runs: { cursor: "contacts", end_seq: "contacts" },
  workflow_executions: { version_seq: "workflow_versions", event_seq: "events" },
  workflows: { version_seq: "workflow_versions" },
};

/** Columns with a secret, sealed with a key that is derived from the secret of the installation. */
export const SEALED: readonly { table: string; column: string; purpose: string }[] = [
  { table: "dkim_keys", column: "private_key", purpose: "dkim-keys" },
  { table: "erasure_keys", column: "key", purpose: "erasure-keys" },
  { table: "erasures", column: "subject", purpose: "erasure-subjects" },
  { table: "project_relays", column: "password", purpose: "project-relay-passwords" },
  { table: "report_mailboxes", column: "password", purpose: "report-mailbox-passwords" },
  { table: "report_sources", column: "signing_key", purpose: "report-source-keys" },
  { table: "tracking_hosts", column: "certificate", purpose: "tracking-host-certificates" },
  { table: "webhooks", column: "secret", purpose: "webhook-secrets" },
  { table: "webhooks", column: "previous_secret", purpose: "webhook-secrets" },
];

export type ProjectTable = {
  name: string;
  columns: readonly string[];
  /** The tables whose `seq` the columns contain. */
  references: Readonly<Record<string, string>>;
  /** SQL condition for the rows of the project `?1`, for a schema with this name. */
  where: (schema: string) => string;
};

/** The tables of a database that may have rows of a project; `projects` is the first. */
export function projectTables(sqlite: Database): ProjectTable[] {
  const names = sqlite
    .query<{ name: string }, []>(
      "SELECT name FROM main.sqlite_schema WHERE type = 'table' ORDER BY name",
    )
    .all()
    .map(({ name }) => name);
  const tables = names.flatMap((name) => (name in LEFT_OUT ? [] : (tableOf(sqlite, name) ?? [])));
  return tables.toSorted((a, b) => Number(b.name === "projects") - Number(a.name === "projects"));
}

function tableOf(sqlite: Database, name: string): ProjectTable | null {
  const columns = columnsOf(sqlite, name);
  const references = { ...declared(sqlite, name), ...UNDECLARED[name] };
  const table = { name, columns, references };
  if (name === "projects") return { ...table, where: () => "seq = ?1" };
  if (columns.includes("project_seq")) return { ...table, where: () => "project_seq = ?1" };
  const parent = Object.entries(references).find(([, to]) =>
    columnsOf(sqlite, to).includes("project_seq"),
  );
  if (parent === undefined) return null;
  const [column, to] = parent;
  const rows = (schema: string) => `SELECT seq FROM ${schema}.${to} WHERE project_seq = ?1`;
  return { ...table, where: (schema) => `${column} IN (${rows(schema)})` };
}

function columnsOf(sqlite: Database, table: string): string[] {
  return sqlite
    .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)")
    .all(table)
    .map(({ name }) => name);
}

function declared(sqlite: Database, table: string): Record<string, string> {
  const keys = sqlite
    .query<{ from: string; table: string; to: string }, [string]>(
      `SELECT "from", "table", "to" FROM pragma_foreign_key_list(?)`,
    )
    .all(table);
  return Object.fromEntries(
    keys.filter(({ to }) => to === "seq").map(({ from, table: to }) => [from, to]),
  );
}
