/**
 * Counters for each project in `project_usage`: the bytes that its data takes, those among them that
 * strangers sent to its inbound routes, and the number of its mails that wait. They are kept in the transaction of every change. A row counts a fixed size
 * for its short columns and index entries, plus the length of its texts as often as they are stored.
 * So the sum is about the space of the rows on disk; free pages and the write-ahead log are not in it.
 *
 * METERED is the definition. Triggers keep the counters, except for rows that are inserted with every
 * mail: the code that inserts those counts them (`createUsageCounter`), because a trigger would make
 * SQLite copy every page that the statement changes. The triggers are in the migrations; a test
 * compares them with `usageTriggers`.
 */

type Metered = {
  table: string;
  /** SQL of the `seq` of the project of a row `r`. */
  project: string;
  fixedBytes: number;
  /** Columns of text or bytes, and how often each is stored: in the table and in indexes. */
  texts?: Readonly<Record<string, number>>;
  /** Columns that hold a number of bytes. */
  numbers?: readonly string[];
  /** SQL condition of the rows that strangers make with mail to inbound routes. */
  received?: string;
  /** The code counts the rows that it inserts or changes; there are no triggers for it. */
  isInsertCounted?: true;
  isUpdateCounted?: true;
  /** Deleting the row of this table that `key` refers to deletes the row, too. */
  parent?: { table: string; key: string };
};

const OWN = "r.project_seq";
/** The event of a mail that arrived for an inbound route. */
export const RECEIVED_EVENT = "email.received";

function ofParent(table: string, key: string): Pick<Metered, "project" | "parent"> {
  return {
    project: `(SELECT project_seq FROM ${table} WHERE seq = r.${key})`,
    parent: { table, key },
  };
}

/** Tables whose new rows are counted by the code that inserts them. */
const COUNTED_BY_CODE = {
  contacts: {
    table: "contacts",
    project: OWN,
    fixedBytes: 200,
    texts: { email: 2, data: 1 },
    isInsertCounted: true,
    isUpdateCounted: true,
  },
  events: {
    table: "events",
    project: OWN,
    fixedBytes: 170,
    texts: { name: 2, data: 1 },
    received: `r.name = '${RECEIVED_EVENT}'`,
    isInsertCounted: true,
  },
  consents: {
    table: "consents",
    project: OWN,
    fixedBytes: 80,
    texts: { source_id: 1, client_address: 1 },
    isInsertCounted: true,
    isUpdateCounted: true,
  },
  emails: {
    table: "emails",
    project: OWN,
    fixedBytes: 350,
    texts: { variables: 1, tags: 1 },
    isInsertCounted: true,
  },
  attempts: {
    table: "attempts",
    ...ofParent("emails", "email_seq"),
    fixedBytes: 80,
    texts: { conversations: 1 },
    isInsertCounted: true,
  },
  messages: {
    table: "messages",
    project: OWN,
    fixedBytes: 200,
    texts: { html: 1, headers: 1, text: 1, recipients: 1 },
    isInsertCounted: true,
  },
  message_pieces: {
    table: "message_pieces",
    ...ofParent("messages", "message_seq"),
    fixedBytes: 20,
    texts: { bytes: 1 },
    isInsertCounted: true,
  },
} as const satisfies Record<string, Metered>;

export const METERED: readonly Metered[] = [
  COUNTED_BY_CODE.contacts,
  COUNTED_BY_CODE.consents,
  { table: "suppressions", project: OWN, fixedBytes: 60, texts: { email: 2 } },
  COUNTED_BY_CODE.emails,
  COUNTED_BY_CODE.attempts,
  {
    table: "email_reports",
    ...ofParent("emails", "email_seq"),
    fixedBytes: 150,
    texts: { reason: 1, excerpt: 1 },
  },
  {
    table: "captured_messages",
    ...ofParent("emails", "email_seq"),
    fixedBytes: 20,
    texts: { raw: 1 },
  },
  COUNTED_BY_CODE.messages,
  COUNTED_BY_CODE.message_pieces,
  { table: "inbound_routes", project: OWN, fixedBytes: 300 },
  {
    table: "received_mails",
    project: OWN,
    fixedBytes: 200,
    texts: { content: 1 },
    received: "true",
  },
  {
    table: "received_pieces",
    ...ofParent("received_mails", "mail_seq"),
    fixedBytes: 20,
    texts: { bytes: 1 },
    received: "true",
  },
  {
    table: "message_attachments",
    ...ofParent("messages", "message_seq"),
    fixedBytes: 200,
    texts: { filename: 1 },
  },
  { table: "attachment_contents", project: OWN, fixedBytes: 150, texts: { bytes: 1 } },
  COUNTED_BY_CODE.events,
  { table: "event_names", project: OWN, fixedBytes: 60, texts: { name: 2 } },
  {
    table: "templates",
    project: OWN,
    fixedBytes: 200,
    texts: { subject: 1, body: 1, preheader: 1, design: 1 },
  },
  {
    table: "template_versions",
    ...ofParent("templates", "template_seq"),
    fixedBytes: 250,
    texts: { subject: 1, body: 1, preheader: 1, design: 1 },
  },
  { table: "layouts", project: OWN, fixedBytes: 200, texts: { body: 1 } },
  { table: "images", project: OWN, fixedBytes: 250, numbers: ["size_bytes"] },
  {
    table: "campaigns",
    project: OWN,
    fixedBytes: 500,
    texts: { subject: 1, body: 1, design: 1, audience_filter: 1, audience_condition: 1 },
  },
  {
    table: "ab_variants",
    ...ofParent("campaigns", "campaign_seq"),
    fixedBytes: 200,
    texts: { subject: 1, body: 1, design: 1 },
  },
  { table: "ab_hold_outs", ...ofParent("campaigns", "campaign_seq"), fixedBytes: 30 },
  {
    table: "campaign_links",
    ...ofParent("campaigns", "campaign_seq"),
    fixedBytes: 50,
    texts: { url: 2 },
  },
  {
    table: "forms",
    project: OWN,
    fixedBytes: 500,
    texts: { description: 1, fields: 1, topics: 1, consent: 1 },
  },
  {
    table: "form_submissions",
    project: OWN,
    fixedBytes: 300,
    texts: { email: 2, data: 1, topics: 1, wording: 1 },
  },
  { table: "segments", project: OWN, fixedBytes: 300, texts: { condition: 1 } },
  { table: "segment_members", ...ofParent("segments", "segment_seq"), fixedBytes: 30 },
  { table: "topic_subscriptions", ...ofParent("topics", "topic_seq"), fixedBytes: 40 },
  { table: "workflows", project: OWN, fixedBytes: 600 },
  {
    table: "workflow_versions",
    ...ofParent("workflows", "workflow_seq"),
    fixedBytes: 100,
    texts: { graph: 1 },
  },
  { table: "workflow_executions", project: OWN, fixedBytes: 250, texts: { context: 1 } },
  {
    table: "workflow_execution_steps",
    ...ofParent("workflow_executions", "execution_seq"),
    fixedBytes: 90,
    texts: { detail: 1 },
  },
  { table: "webhooks", project: OWN, fixedBytes: 600, texts: { url: 1, events: 1 } },
  { table: "webhook_deliveries", ...ofParent("webhooks", "webhook_seq"), fixedBytes: 400 },
  {
    table: "jobs",
    project: OWN,
    fixedBytes: 200,
    texts: { input: 1, errors: 1 },
    numbers: ["file_bytes"],
  },
  {
    table: "import_faults",
    ...ofParent("jobs", "job_seq"),
    fixedBytes: 30,
    texts: { message: 1, cells: 1 },
  },
  { table: "domains", project: OWN, fixedBytes: 8_000 },
  { table: "idempotency_keys", project: OWN, fixedBytes: 260, texts: { body: 1 } },
];

/** A mail of the queue that no campaign made. Only these count as queued, for the quota. */
const IS_QUEUED = "(r.next_at IS NOT NULL AND r.campaign_seq IS NULL)";

/** SQL of the bytes of a row `r`. */
function bytesOf({ fixedBytes, texts = {}, numbers = [] }: Metered): string {
  const lengths = Object.entries(texts).map(
    ([column, times]) => `${times === 1 ? "" : `${times} * `}${lengthOf(column)}`,
  );
  return [fixedBytes, ...lengths, ...numbers.map((column) => `r.${column}`)].join(" + ");
}

const lengthOf = (column: string) => `coalesce(octet_length(r.${column}), 0)`;

/** The bytes of a row of a table that the code counts, from its metered texts. */
export function bytesOfRow<T extends keyof typeof COUNTED_BY_CODE>(
  table: T,
  row: Readonly<Record<keyof (typeof COUNTED_BY_CODE)[T]["texts"], string | Uint8Array | null>>,
): number {
  const metered: Metered = COUNTED_BY_CODE[table];
  const texts: Readonly<Record<string, unknown>> = row;
  let bytes = metered.fixedBytes;
  for (const column in metered.texts) {
    const text = texts[column];
    const isCounted = typeof text === "string" || text instanceof Uint8Array;
    if (isCounted) bytes += (metered.texts[column] ?? 0) * Buffer.byteLength(text);
  }
  return bytes;
}

/** SQL of the amount that a row adds to each counter. */
export function addedBy(metered: Metered): [column: string, sql: string][] {
  const added = byteCounters(metered, bytesOf(metered));
  if (metered.table !== "emails") return added;
  return [...added, ["emails", "1"], ["queued_mails", IS_QUEUED]];
}

/** SQL of the number that the bytes of a row add to each counter of bytes. */
function byteCounters({ received }: Metered, bytes: string): [column: string, sql: string][] {
  const stored: [string, string] = ["stored_bytes", bytes];
  if (received === undefined) return [stored];
  return [
    stored,
    ["received_bytes", received === "true" ? bytes : `iif(${received}, ${bytes}, 0)`],
  ];
}

/** The statements that create the triggers, in the order of their names. */
export function usageTriggers(): string[] {
  const ofProjects = trigger("usage_of_projects", "AFTER INSERT ON projects", [
    "INSERT INTO project_usage (project_seq) VALUES (new.seq);",
  ]);
  return [ofProjects, ...METERED.flatMap(triggersOf)].toSorted();
}

function triggersOf(metered: Metered): string[] {
  const { table, project, parent } = metered;
  const added = addedBy(metered);
  const change = (sign: "+" | "-", row: "new" | "old") =>
    `UPDATE project_usage SET ${added
      .map(([column, sql]) => `${column} = ${column} ${sign} (${as(row, sql)})`)
      .join(", ")} WHERE project_seq = ${as(row, project)};`;
  return [
    ...(metered.isInsertCounted === true
      ? []
      : [trigger(`usage_of_${table}_in`, `AFTER INSERT ON ${table}`, [change("+", "new")])]),
    trigger(`usage_of_${table}_out`, `AFTER DELETE ON ${table}`, [change("-", "old")]),
    ...(metered.isUpdateCounted === true
      ? []
      : columnsOf(metered).map((column) => columnTrigger(metered, column))),
    // The cascade comes when the parent is gone, and with it the project of the row.
    ...(parent === undefined
      ? []
      : [
          trigger(`usage_of_${table}_cascade`, `BEFORE DELETE ON ${parent.table}`, [
            `UPDATE project_usage SET ${added
              .map(
                ([column, sql]) =>
                  `${column} = ${column} - (SELECT coalesce(sum(${sql}), 0) FROM ${table} r WHERE r.${parent.key} = old.seq)`,
              )
              .join(", ")} WHERE project_seq = old.project_seq;`,
          ]),
        ]),
  ];
}

type Column = { name: string; bytes: string };

function columnsOf({ texts = {}, numbers = [] }: Metered): Column[] {
  return [
    ...Object.entries(texts).map(([name, times]) => ({
      name,
      bytes: times === 1 ? lengthOf(name) : `${times} * ${lengthOf(name)}`,
    })),
    ...numbers.map((name) => ({ name, bytes: `r.${name}` })),
  ];
}

/** One trigger for each column: an update that does not name the column does not read it either. */
function columnTrigger(metered: Metered, { name, bytes }: Column): string {
  const { table, project } = metered;
  const [now, before] = [as("new", bytes), as("old", bytes)];
  const changes = byteCounters(metered, bytes).map(
    ([column, sql]) => `${column} = ${column} + ${as("new", sql)} - ${as("old", sql)}`,
  );
  return trigger(
    `usage_of_${table}_${name}`,
    `AFTER UPDATE OF ${name} ON ${table} WHEN ${now} <> ${before}`,
    [`UPDATE project_usage SET ${changes.join(", ")} WHERE project_seq = ${as("new", project)};`],
  );
}

function as(row: "new" | "old", sql: string): string {
  return sql.replaceAll(/\br\./g, `${row}.`);
}

function trigger(name: string, event: string, statements: readonly string[]): string {
  return `CREATE TRIGGER \`${name}\` ${event} BEGIN\n\t${statements.join("\n\t")}\nEND`;
}
