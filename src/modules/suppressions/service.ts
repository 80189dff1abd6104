/**
 * Suppressions: addresses to which a project sends no mail.
 *
 * 1. `routes.ts` lists, adds and removes them; a hard bounce adds one as well.
 * 2. `reasonFor` is called when a mail is accepted and again just before it is sent.
 * 3. `list.ts` reads the pages of `GET /suppressions`, which `search.ts` finds in slices.
 * 4. An entry that repeated soft bounces made is removed when it expires (`module.ts`).
 */

import { and, eq, lte } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Change } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import { parseAddress } from "../../protocols/mime/address.ts";

export type SuppressionRow = typeof suppressions.$inferSelect;
type SuppressionReason = SuppressionRow["reason"];
export type Suppressions = ReturnType<typeof createSuppressions>;

type Entry = {
  reason: SuppressionReason;
  at: number;
  /** The mail whose bounce or complaint is the cause. */
  emailSeq?: number;
  /** When the entry is removed; never if absent or null. */
  expiresAt?: number | null;
};

export function createSuppressions({ db }: { db: Db }) {
  const find = db
    .select()
    .from(suppressions)
    .where(
      and(eq(suppressions.projectSeq, bound("projectSeq")), eq(suppressions.email, bound("email"))),
    )
    .limit(1)
    .prepare();

  // Runs twice for every mail, so it is raw SQL that reads one index.
  const findReason = db.sqlite.prepare<{ reason: SuppressionReason }, [number, string]>(
    "SELECT reason FROM suppressions WHERE project_seq = +? AND email = +?",
  );

  const insertOrReplace = db.sqlite.prepare<SuppressionRow, [Omit<SuppressionRow, "seq">]>(`
    INSERT INTO suppressions (project_seq, email, reason, created_at, email_seq, expires_at)
    VALUES ($projectSeq, $email, $reason, $createdAt, $emailSeq, $expiresAt)
    ON CONFLICT (project_seq, email) DO UPDATE
    SET reason = excluded.reason, created_at = excluded.created_at,
        email_seq = excluded.email_seq, expires_at = excluded.expires_at
    WHERE expires_at IS NOT NULL
    RETURNING seq, project_seq AS projectSeq, email, reason, created_at AS createdAt,
              email_seq AS emailSeq, expires_at AS expiresAt`);

  /**
   * Returns null if the address is suppressed for good; its first reason is not changed. A new entry
   * replaces one that expires.
   */
  function insert(projectSeq: number, email: string, entry: Entry): SuppressionRow | null {
    const { reason, at, emailSeq = null, expiresAt = null } = entry;
    return insertOrReplace.get({ projectSeq, email, reason, createdAt: at, emailSeq, expiresAt });
  }

  return {
    /** Returns null if the address is not suppressed. */
    reasonFor: (projectSeq: number, email: string): SuppressionReason | null =>
      findReason.get(projectSeq, email)?.reason ?? null,

    /** Runs inside a change. Does nothing if the address is already suppressed for good. */
    add(projectSeq: number, email: string, entry: Entry): void {
      insert(projectSeq, email, entry);
    },

    /** Runs inside a change. Like `add`, and returns the stored row, new or old. */
    put(projectSeq: number, email: string, entry: Entry): { row: SuppressionRow; isNew: boolean } {
      const before = find.get({ projectSeq, email });
      const row = insert(projectSeq, email, entry) ?? before;
      if (row === undefined) throw new Error("a suppression was neither inserted nor found");
      return { row, isNew: before === undefined };
    },

    /** Removes the entries that expire by now. */
    removeExpired(now: number): Change<void> {
      return () => {
        db.delete(suppressions).where(lte(suppressions.expiresAt, now)).run();
      };
    },

    /** Finds the address in any spelling. The change throws 404 if it is not suppressed. */
    remove(projectSeq: number, text: string): Change<void> {
      return () => {
        const parsed = parseAddress(text);
        const row = parsed.ok ? find.get({ projectSeq, email: parsed.address }) : undefined;
        if (row === undefined) throw notSuppressed();
        db.delete(suppressions).where(eq(suppressions.seq, row.seq)).run();
      };
    },
  };
}

function notSuppressed(): AppError {
  return new AppError(404, "SUPPRESSION_NOT_FOUND", "This address is not suppressed.", {
    suggestion: "GET /suppressions lists the addresses of the project.",
  });
}
