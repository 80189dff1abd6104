/**
 * Finds the places where a project itself uses an address. An erasure cannot replace it there, because
 * mail would leave with a false sender or go to a false recipient.
 */

import type { App } from "../../core/app.ts";
import { mentions, spellingsOf } from "../../lib/address-spellings.ts";

/**
 * Each query finds the names of objects that have the address `?2` in the project `?1`, and the texts in
 * which it may be a part of a longer address.
 */
const USES: readonly { what: string; sql: string }[] = [
  {
    what: "the sender of the project",
    sql: "SELECT name FROM projects WHERE seq = ?1 AND lower(from_address) = ?2",
  },
  {
    what: "a template",
    sql: `SELECT name, concat_ws(char(10), from_address, reply_to) AS text FROM templates
          WHERE project_seq = ?1 AND (lower(from_address) = ?2 OR instr(lower(reply_to), ?2) > 0)`,
  },
  {
    what: "a campaign that was not sent yet",
    sql: `SELECT name, concat_ws(char(10), from_address, reply_to) AS text FROM campaigns
          WHERE project_seq = ?1 AND status NOT IN ('SENT', 'CANCELLED')
          AND (lower(from_address) = ?2 OR instr(lower(reply_to), ?2) > 0)`,
  },
  {
    what: "a variant of a campaign that was not sent yet",
    sql: `SELECT c.name, concat_ws(char(10), v.from_address, v.reply_to) AS text
          FROM campaigns c JOIN ab_variants v ON v.campaign_seq = c.seq
          WHERE c.project_seq = ?1 AND c.status NOT IN ('SENT', 'CANCELLED')
          AND (lower(v.from_address) = ?2 OR instr(lower(v.reply_to), ?2) > 0)`,
  },
  {
    what: "a workflow",
    sql: `SELECT w.name, v.graph AS text FROM workflows w JOIN workflow_versions v ON v.seq = w.version_seq
          WHERE w.project_seq = ?1 AND w.deleted_at IS NULL AND instr(lower(v.graph), ?2) > 0`,
  },
  {
    what: "an inbound route",
    sql: `SELECT address AS name FROM inbound_routes WHERE project_seq = ?1
          AND (lower(address) = ?2 OR lower(forward_to) = ?2)`,
  },
  {
    what: "the login at the relay of the project",
    sql: "SELECT host AS name FROM project_relays WHERE project_seq = ?1 AND lower(username) = ?2",
  },
  {
    what: "the login at a mailbox for reports",
    sql: "SELECT name FROM report_mailboxes WHERE project_seq = ?1 AND lower(username) = ?2",
  },
  {
    what: "a webhook",
    sql: "SELECT url AS name, url AS text FROM webhooks WHERE project_seq = ?1 AND deleted_at IS NULL AND instr(lower(url), ?2) > 0",
  },
];

/** The first use in words; null if there is none. */
export function useOfAddress({ db }: App, projectSeq: number, email: string): string | null {
  const address = email.toLowerCase();
  const spellings = spellingsOf(address);
  for (const { what, sql } of USES) {
    const found = db.sqlite
      .query<{ name: string; text?: string }, [number, string]>(sql)
      .all(projectSeq, address)
      .find(({ text }) => text === undefined || mentions(text, spellings));
    if (found !== undefined) return what.startsWith("the ") ? what : `${what}, “${found.name}”`;
  }
  return null;
}
