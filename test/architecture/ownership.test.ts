/** Each table has one owner: only the owner's folder inserts, updates or deletes its rows. */

import { describe, expect, test } from "bun:test";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type Source, sources } from "../support/sources.ts";

/** Folder of the owner, below src/. */
const OWNERS: Readonly<Record<string, string>> = {
  ab_hold_outs: "modules/campaigns/",
  ab_tests: "modules/campaigns/",
  ab_variants: "modules/campaigns/",
  alert_notices: "modules/alerts/",
  alerts: "modules/alerts/",
  api_keys: "modules/keys.ts",
  attachment_contents: "outbox/",
  attempts: "outbox/",
  audit: "modules/accounts/",
  campaign_counts: "modules/campaigns/",
  campaign_hours: "modules/campaigns/",
  campaign_links: "modules/campaigns/",
  campaigns: "modules/campaigns/",
  captured_messages: "outbox/",
  consent_wordings: "modules/consents/",
  consents: "modules/consents/",
  contact_counts: "migrations", // Maintained by triggers.
  contact_events: "events/",
  contacts: "modules/contacts/",
  direct_sites: "outbox/",
  disk_samples: "modules/alerts/",
  dkim_keys: "modules/domains/",
  domains: "modules/domains/",
  email_reports: "outbox/",
  emails: "outbox/",
  erasure_keys: "modules/privacy/",
  erasures: "modules/privacy/",
  event_names: "events/",
  events: "events/",
  form_days: "modules/forms/",
  form_submissions: "modules/forms/",
  forms: "modules/forms/",
  idempotency_keys: "http/",
  inbox_messages: "modules/inboxes/",
  inbox_parts: "modules/inboxes/",
  inbox_raw: "modules/inboxes/",
  inbox_rules: "modules/inboxes/",
  inbox_sessions: "modules/inboxes/",
  inbox_texts: "modules/inboxes/",
  inboxes: "modules/inboxes/",
  inbound_routes: "modules/inbound-routes/",
  installation_settings: "modules/settings/",
  installation_values: "db/",
  import_faults: "modules/contacts/",
  jobs: "modules/contacts/",
  memberships: "modules/accounts/",
  message_attachments: "outbox/",
  message_pieces: "outbox/",
  messages: "outbox/",
  migrations: "db/",
  mta_sts_policies: "outbox/",
  project_hours: "modules/stats/",
  project_relays: "modules/delivery/",
  project_usage: "db/",
  tracking_hosts: "modules/delivery/",
  page_fill: "modules/privacy/",
  projects: "modules/projects.ts",
  purge_marks: "db/",
  readers: "events/",
  received_mails: "modules/inbound-routes/",
  received_pieces: "modules/inbound-routes/",
  readiness: "db/",
  report_mailboxes: "modules/report-mailboxes/",
  report_mailbox_messages: "modules/report-mailboxes/",
  report_sources: "modules/relay-reports/",
  saved_views: "modules/views/",
  segment_members: "modules/segments/",
  segments: "modules/segments/",
  suppressions: "modules/suppressions.ts",
  system_mails: "modules/accounts/",
  templates: "modules/templates.ts",
  template_versions: "modules/templates/",
  preference_requests: "modules/preferences/",
  topics: "modules/topics/",
  topic_subscriptions: "modules/topics/",
  layouts: "modules/layouts.ts",
  image_contents: "modules/images/",
  images: "modules/images/",
  user_sessions: "modules/accounts/",
  user_tokens: "modules/accounts/",
  totp_secrets: "modules/accounts/",
  recovery_codes: "modules/accounts/",
  passkeys: "modules/accounts/",
  users: "modules/accounts/",
  webhook_deliveries: "modules/webhooks/",
  webhooks: "modules/webhooks/",
  workflow_entry_runs: "modules/workflows/",
  workflow_execution_steps: "modules/workflows/",
  workflow_executions: "modules/workflows/",
  workflow_exits: "modules/workflows/",
  workflow_step_counts: "modules/workflows/",
  workflow_versions: "modules/workflows/",
  workflows: "modules/workflows/",
};

const SANDBOX =
  "It gives the rows of a database in memory the values that they had at an earlier time.";

/** Files that write a table of another owner, each with its reason. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  "modules/workflows/simulation/contact-states.ts contacts": SANDBOX,
  "modules/workflows/simulation/contact-states.ts topic_subscriptions": SANDBOX,
  "modules/workflows/simulation/segment-replay.ts contacts": SANDBOX,
  "modules/workflows/simulation/segment-replay.ts emails": SANDBOX,
  "modules/workflows/simulation/segment-replay.ts contact_events": SANDBOX,
  "modules/workflows/simulation/sandbox.ts suppressions": SANDBOX,
  "clock-steps.ts readiness": "It stores the new time together with the due times that it moves.",
};

const SQL_WRITE =
  /\b(?:INSERT(?:\s+OR\s+\w+)?\s+INTO|REPLACE\s+INTO|UPDATE|DELETE\s+FROM)\s+`?(\w+)`?/g;
const BUILDER_WRITE = /\.(?:insert|update|delete)\(\s*(\w+)\s*[),]/g;

const schema = readSchema();

/** The name of each table by the name of the constant that describes it. */
function readSchema(): Map<string, string> {
  const folder = join(import.meta.dir, "../../src/db/schema");
  const found = readdirSync(folder).flatMap((file) => {
    const text = readFileSync(join(folder, file), "utf8");
    return [...text.matchAll(/export const (\w+) = sqliteTable\(\s*"(\w+)"/g)];
  });
  return new Map(found.map(([, constant = "", table = ""]) => [constant, table]));
}

/** The tables that a file writes. */
function writtenTables({ text }: Pick<Source, "text">): string[] {
  const bySql = [...text.matchAll(SQL_WRITE)].map(([, table = ""]) => table);
  const byBuilder = [...text.matchAll(BUILDER_WRITE)].map(
    ([, name = ""]) => schema.get(name) ?? "",
  );
  return [...new Set([...bySql, ...byBuilder])].filter((table) => OWNERS[table] !== undefined);
}

function isAllowed(file: string, table: string): boolean {
  const owner = OWNERS[table] ?? "";
  return file.startsWith(owner) || file.startsWith("db/") || `${file} ${table}` in EXCEPTIONS;
}

test("every table of the schema has an owner", () => {
  expect([...schema.values()].filter((table) => OWNERS[table] === undefined)).toEqual([]);
});

test("only the owner of a table writes it", () => {
  const foreign = sources.flatMap((source) =>
    writtenTables(source)
      .filter((table) => !isAllowed(source.file, table))
      .map((table) => `${source.file} writes ${table}, which belongs to ${OWNERS[table]}`),
  );
  expect(foreign).toEqual([]);
});

test("every exception is needed", () => {
  const used = sources.flatMap((source) =>
    writtenTables(source).map((table) => `${source.file} ${table}`),
  );
  expect(Object.keys(EXCEPTIONS).filter((exception) => !used.includes(exception))).toEqual([]);
});

describe("a write is found", () => {
  const cases: [text: string, table: string][] = [
    ["UPDATE emails SET status = 'SENT'", "emails"],
    ["INSERT INTO contacts (id)", "contacts"],
    ["INSERT OR IGNORE INTO\n  readers (name)", "readers"],
    ["DELETE FROM `events` WHERE", "events"],
    ["db.update(campaigns)", "campaigns"],
    ["db.insert(webhookDeliveries)", "webhook_deliveries"],
  ];
  for (const [text, table] of cases) {
    test(text, () => expect(writtenTables({ text })).toEqual([table]));
  }
});

test("the state of a mail changes only by the statements that name a transition", () => {
  const writesStatus = /UPDATE emails\s+SET(?:(?!WHERE)[^`])*?(?<=SET|,)\s+status = ['"i?]/;
  expect("UPDATE emails SET line = '', status = 'SENT' WHERE 1").toMatch(writesStatus);
  const found = sources.filter(({ text }) => writesStatus.test(text)).map(({ file }) => file);
  expect(found).toEqual([]);
});
