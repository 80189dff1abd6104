/** Creates a migrated database with one project, into which a test inserts mails as rows. */

import { migrate } from "../../src/db/migrate.ts";
import { type Db, openDatabase } from "../../src/db/open.ts";
import type { EmailStatus } from "../../src/db/schema/emails.ts";
import { createMailReader, type LeasedMail } from "../../src/outbox/lane/rows.ts";
import { migratedDatabase } from "./database.ts";

export type Outbox = ReturnType<typeof openOutbox>;

export type MailOptions = {
  to?: string;
  status?: EmailStatus;
  /** 0 for transactional mail, 1 for campaign mail. */
  priority?: number;
  /** `seq` of the campaign of campaign mail (default 1); its status is SENDING. */
  campaign?: number;
  /** `seq` of the project (default 1). */
  project?: number;
  attempts?: number;
  nextAt?: number | null;
  createdAt?: number;
  html?: string;
  isMarketing?: boolean;
  isSubscribed?: boolean;
};

export type EmailRow = {
  status: EmailStatus;
  attempts: number;
  nextAt: number | null;
  sentAt: number | null;
  deliveredAt: number | null;
  bouncedAt: number | null;
  lastError: string | null;
};

export type AttemptRow = {
  number: number;
  startedAt: number;
  durationMs: number;
  outcome: string;
  class: string;
  reason: string | null;
  conversations: string | null;
};

export type EventRow = {
  name: string;
  contactSeq: number | null;
  emailSeq: number | null;
  data: string | null;
  createdAt: number;
};

/** Opens the database in `file`, which may have the project already; without it, one in memory. */
export function openOutbox(file?: string) {
  const db = file === undefined ? migratedDatabase() : openDatabase(file);
  migrate(db.sqlite);
  db.sqlite.run(
    "INSERT OR IGNORE INTO projects (seq, id, name, created_at) VALUES (1, 'acme', 'acme', 0)",
  );
  const readMail = createMailReader(db);
  const insert = (sql: string, values: (string | number | null)[]): number =>
    db.sqlite.query<{ seq: number }, typeof values>(`${sql} RETURNING seq`).get(...values)?.seq ??
    0;

  function ensureProject(seq: number): void {
    db.sqlite.run(
      "INSERT OR IGNORE INTO projects (seq, id, name, created_at) VALUES (?, ?, ?, 0)",
      [seq, `project ${seq}`, `project ${seq}`],
    );
  }

  function ensureCampaign(seq: number, project: number): void {
    db.sqlite.run(
      `INSERT OR IGNORE INTO campaigns (seq, id, project_seq, name, subject, body, from_address,
         audience_type, status, created_at, updated_at)
       VALUES (?, ?, ?, 'News', 'Hi', 'Hi', 'news@acme.test', 'ALL', 'SENDING', 0, 0)`,
      [seq, `campaign ${seq}`, project],
    );
  }

  function addContact(email: string, isSubscribed: boolean): number {
    return insert(
      `INSERT INTO contacts (id, project_seq, email, is_subscribed, data, created_at, updated_at)
       VALUES (?, 1, ?, ?, '{}', 0, 0)`,
      [crypto.randomUUID(), email, Number(isSubscribed)],
    );
  }

  function addMessage(html: string, isMarketing: boolean): number {
    return insert(
      `INSERT INTO messages (project_seq, digest, from_address, html, headers, is_marketing,
         has_attachments, created_at)
       VALUES (1, ?, 'news@acme.test', ?, '[]', ?, 0, 0)`,
      [crypto.randomUUID(), html, Number(isMarketing)],
    );
  }

  return {
    db,

    /** Adds a mail with a new contact and a new message, due at 0 by default; returns its `seq`. */
    add(options: MailOptions = {}): number {
      const { to = `${crypto.randomUUID()}@example.net`, createdAt = 0, nextAt = 0 } = options;
      const { priority = 0, project = 1 } = options;
      const campaign = priority === 0 ? null : (options.campaign ?? 1);
      ensureProject(project);
      if (campaign !== null) ensureCampaign(campaign, project);
      const contactSeq = addContact(to, options.isSubscribed ?? true);
      const messageSeq = addMessage(options.html ?? "<p>Hello</p>", options.isMarketing ?? false);
      return insert(
        `INSERT INTO emails (id, project_seq, campaign_seq, contact_seq, message_seq, source,
           to_address, subject, variables, status, priority, attempts, next_at, created_at)
         VALUES (?, ?, ?, ?, ?, 'TRANSACTIONAL', ?, 'Hi', '{}', ?, ?, ?, ?, ?)`,
        [
          crypto.randomUUID(),
          project,
          campaign,
          contactSeq,
          messageSeq,
          to,
          options.status ?? "QUEUED",
          priority,
          options.attempts ?? 0,
          nextAt,
          createdAt,
        ],
      );
    },

    /** Adds a mail that is leased for its first attempt, so that its outcome can be recorded. */
    addLeased(options: MailOptions = {}): LeasedMail {
      const seq = this.add({ status: "SENDING", attempts: 1, ...options });
      return this.loaded(seq);
    },

    loaded(seq: number): LeasedMail {
      const { attempts } = this.row(seq);
      const mail = readMail(seq);
      if (mail === null) throw new Error(`no email ${seq}`);
      return { ...mail, attempts };
    },

    row(seq: number): EmailRow {
      const row = db.sqlite
        .query<EmailRow, [number]>(
          `SELECT status, attempts, next_at AS nextAt, sent_at AS sentAt,
             delivered_at AS deliveredAt, bounced_at AS bouncedAt, last_error AS lastError
           FROM emails WHERE seq = ?`,
        )
        .get(seq);
      if (row === null) throw new Error(`no email ${seq}`);
      return row;
    },

    attemptsOf: (seq: number): AttemptRow[] =>
      db.sqlite
        .query<AttemptRow, [number]>(
          `SELECT number, started_at AS startedAt, duration_ms AS durationMs, outcome, class,
             reason, conversations
           FROM attempts WHERE email_seq = ? ORDER BY seq`,
        )
        .all(seq),

    events: (): EventRow[] =>
      db.sqlite
        .query<EventRow, []>(
          `SELECT name, contact_seq AS contactSeq, email_seq AS emailSeq, data,
             created_at AS createdAt
           FROM events ORDER BY seq`,
        )
        .all(),

    suppressed: (): string[] =>
      db.sqlite
        .query<{ email: string }, []>("SELECT email FROM suppressions ORDER BY email")
        .all()
        .map(({ email }) => email),

    /** Deletes a contact and its address in emails, as the application does. */
    deleteContact(contactSeq: number | null): void {
      const values = [contactSeq];
      db.sqlite.run(
        "UPDATE emails SET to_address = NULL, to_name = NULL, variables = NULL WHERE contact_seq = ?",
        values,
      );
      db.sqlite.run("DELETE FROM contacts WHERE seq = ?", values);
    },
  };
}

/** Returns the query plan of a statement, which shows the indexes that it uses. */
export function planOf({ sqlite }: Db, sql: string): string {
  const named = new Set(sql.match(/\$\w+/g));
  const values = named.size > 0 ? Object.fromEntries([...named].map((n) => [n.slice(1), 1])) : null;
  const statement = sqlite.query<{ detail: string }, Record<string, number>[] | number[]>(
    `EXPLAIN QUERY PLAN ${sql}`,
  );
  const rows =
    values === null
      ? statement.all(...Array<number>(statement.paramsCount).fill(1))
      : statement.all(values);
  return rows.map(({ detail }) => detail).join("\n");
}
