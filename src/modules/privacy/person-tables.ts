/**
 * The list of all tables of the database, with the part of each that an export shows, and its
 * treatment by an erasure. A test fails for a table that is not listed, and for a column of bytes
 * without a reason.
 *
 * - DELETED: rows of the contact are deleted with it.
 * - EMPTIED: rows of the contact stay for the statistics, without the data of the person.
 * - SEARCHED: rows belong to no contact, but may mention the address.
 * - NONE: rows cannot mention a person.
 *
 * In the tables of the first three kinds, all columns of text are searched for the address (sweep.ts),
 * except those that are listed here.
 */

type PersonTable = {
  erasure: "DELETED" | "EMPTIED" | "SEARCHED" | "NONE";
  /** The part that an export shows; null for nothing. */
  exported: string | null;
  /** The reason why nothing of it is exported, or why it cannot mention a person. */
  reason?: string;
  /** Columns of text that are not searched, and why. */
  unsearched?: Readonly<Record<string, string>>;
  /** Columns of bytes: how they are searched, or why not. */
  bytes?: Readonly<Record<string, string>>;
};

const none = (reason: string, bytes: PersonTable["bytes"] = {}): PersonTable => ({
  erasure: "NONE",
  exported: null,
  reason,
  bytes,
});

const searched = (reason: string, rest: Partial<PersonTable> = {}): PersonTable => ({
  erasure: "SEARCHED",
  exported: null,
  reason,
  ...rest,
});

const OWN_CONTENT = "It is content that the owner wrote for many people.";
const SEALED = "sealed";
const PICTURE = "a picture that the owner uploaded";
const CAUGHT = "Mail that was caught for tests is shown as a mail or not at all.";

export const PERSON_TABLES: Readonly<Record<string, PersonTable>> = {
  ab_hold_outs: {
    erasure: "DELETED",
    exported: null,
    reason: "It says which contacts a campaign left out on purpose.",
  },
  ab_tests: none("They are about campaigns."),
  ab_variants: searched(OWN_CONTENT),
  alert_notices: none("They are about the installation."),
  alerts: none("They are about the installation."),
  api_keys: searched("Keys belong to the owner."),
  attachment_contents: searched("The files are named in `mails`.", {
    unsearched: { digest: "It is the digest of the bytes." },
    bytes: { bytes: "searched for the address, also in base64 and quoted-printable" },
  }),
  attempts: { erasure: "EMPTIED", exported: "mails[].attempts" },
  audit: searched("It tells what users did.", {
    unsearched: { actor_label: "It names the user of the dashboard who made a change." },
  }),
  campaign_counts: none("They are numbers."),
  campaign_hours: none("They are numbers."),
  campaign_links: searched(OWN_CONTENT),
  campaigns: searched(OWN_CONTENT),
  captured_messages: {
    erasure: "DELETED",
    exported: "mails[].body",
    bytes: { raw: "searched for the address, also in base64 and quoted-printable" },
  },
  consent_wordings: searched("Each text is shown in `consents`."),
  consents: { erasure: "DELETED", exported: "consents" },
  contact_counts: none("They are numbers."),
  contact_events: { erasure: "DELETED", exported: null, reason: "They count what `events` shows." },
  contacts: {
    erasure: "DELETED",
    exported: "contact",
    unsearched: { email: "The contact is deleted; a later one is a person who came back." },
  },
  direct_sites: none("They are about mail servers."),
  disk_samples: none("They are numbers."),
  dkim_keys: none("They are keys.", { private_key: SEALED }),
  domains: searched("They belong to the owner."),
  email_reports: { erasure: "EMPTIED", exported: "mails[].reports" },
  emails: { erasure: "EMPTIED", exported: "mails" },
  erasure_keys: none("They are keys.", { key: SEALED }),
  erasures: none("A receipt has a keyed digest, and the address only sealed while it runs.", {
    subject: SEALED,
  }),
  event_names: none("They are names of kinds of events."),
  events: { erasure: "EMPTIED", exported: "events" },
  form_days: none("They are numbers."),
  form_submissions: { erasure: "DELETED", exported: "formSubmissions" },
  forms: searched(OWN_CONTENT),
  idempotency_keys: searched("They repeat answers of the last 24 hours."),
  image_contents: none("They are pictures.", { bytes: PICTURE }),
  images: searched(OWN_CONTENT),
  import_faults: {
    erasure: "SEARCHED",
    exported: "importFaults",
  },
  inbound_routes: searched("They belong to the owner; an erasure of their address is refused."),
  inbox_messages: { erasure: "DELETED", exported: null, reason: CAUGHT },
  inbox_parts: searched(CAUGHT),
  inbox_raw: searched(CAUGHT, {
    bytes: { bytes: "unpacked and searched; the message is deleted" },
  }),
  inbox_rules: searched("They belong to the owner."),
  inbox_search: none("It has no texts of its own, only their trigrams."),
  inbox_search_config: none("It has settings of the index."),
  inbox_search_data: none("It has trigrams; the index is merged after an erasure.", {
    block: "trigrams",
  }),
  inbox_search_docsize: none("They are numbers.", { sz: "numbers" }),
  inbox_search_idx: none("It has trigrams."),
  inbox_sessions: searched("They are transcripts of tests."),
  inbox_texts: searched(CAUGHT, {
    bytes: {
      signature: "which trigrams a text has",
      rest: "unpacked and searched; the message is deleted",
    },
  }),
  inboxes: searched("They belong to the owner."),
  installation_settings: none("They belong to the operator.", { sealed: SEALED }),
  installation_values: none("They belong to the operator."),
  jobs: searched("They tell what users did."),
  layouts: searched(OWN_CONTENT),
  memberships: none("They tell which users may open a project."),
  message_attachments: { erasure: "SEARCHED", exported: "mails[].attachments" },
  message_pieces: {
    erasure: "EMPTIED",
    exported: "mails[].body",
    bytes: { bytes: "unpacked and searched" },
  },
  messages: { erasure: "EMPTIED", exported: "mails[].body" },
  migrations: none("They are names of changes of the schema."),
  mta_sts_policies: none("They are about mail servers."),
  page_fill: none("It has zeros.", { bytes: "zeros" }),
  passkeys: none("They belong to users of the dashboard.", { public_key: "a key" }),
  preference_requests: {
    erasure: "DELETED",
    exported: null,
    reason: "They are links that work for some hours.",
  },
  project_hours: none("They are numbers."),
  project_relays: searched("They belong to the owner; an erasure of their user name is refused.", {
    bytes: { password: SEALED },
  }),
  project_usage: none("They are numbers."),
  projects: none("A project is the owner's; an erasure of its sender is refused."),
  purge_marks: none("They are numbers."),
  readers: none("They are numbers."),
  readiness: none("It is one number."),
  received_mails: { erasure: "DELETED", exported: "receivedMails" },
  received_pieces: {
    erasure: "DELETED",
    exported: null,
    reason: "The texts of the mail are in `receivedMails`.",
    bytes: { bytes: "unpacked and searched; the mail is deleted" },
  },
  recovery_codes: none("They belong to users of the dashboard."),
  report_mailbox_messages: none("They are numbers."),
  report_mailboxes: searched(
    "They belong to the owner; an erasure of their user name is refused.",
    {
      bytes: { password: SEALED },
    },
  ),
  report_sources: searched("They belong to the owner.", { bytes: { signing_key: SEALED } }),
  saved_views: searched("They are filters of users of the dashboard."),
  segment_members: { erasure: "DELETED", exported: "segments" },
  segments: searched("Those of the contact are in `segments`."),
  sqlite_sequence: none("They are numbers."),
  suppressions: { erasure: "DELETED", exported: "suppression" },
  system_mails: none("They go to users of the dashboard.", { content: SEALED }),
  template_versions: searched(OWN_CONTENT),
  templates: searched(OWN_CONTENT),
  topic_subscriptions: { erasure: "DELETED", exported: "topics" },
  topics: searched(OWN_CONTENT),
  totp_secrets: none("They belong to users of the dashboard.", { secret: SEALED }),
  tracking_hosts: none("They are names of hosts.", { certificate: SEALED }),
  user_sessions: none("They belong to users of the dashboard."),
  user_tokens: none("They belong to users of the dashboard."),
  users: none("A user of the dashboard is another matter than a contact."),
  webhook_deliveries: searched("They repeat `events`."),
  webhooks: searched("They belong to the owner.", {
    bytes: { secret: SEALED, previous_secret: SEALED },
  }),
  workflow_entry_runs: searched("They tell what users did."),
  workflow_execution_steps: { erasure: "EMPTIED", exported: "workflows[].steps" },
  workflow_executions: { erasure: "EMPTIED", exported: "workflows" },
  workflow_exits: none("They name events and reasons."),
  workflow_step_counts: none("They are numbers."),
  workflow_versions: searched("They belong to the owner."),
  workflows: searched("They belong to the owner."),
};
