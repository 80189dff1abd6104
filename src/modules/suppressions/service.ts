/** Addresses that must not be written to: checked at acceptance and again when a mail leaves. */

import { and, eq } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { suppressions } from "../../db/schema/contacts.ts";
import type { Change } from "../../db/writer.ts";
import { AppError } from "../../lib/errors.ts";
import { parseAddress } from "../../mail/address.ts";

export type SuppressionRow = typeof suppressions.$inferSelect;
export type SuppressionReason = SuppressionRow["reason"];
export type Suppressions = ReturnType<typeof createSuppressions>;

type Entry = { reason: SuppressionReason; at: number };

export function createSuppressions({ db }: { db: Db }) {
  const find = db
    .select()
    .from(suppressions)
    .where(
      and(eq(suppressions.projectSeq, bound("projectSeq")), eq(suppressions.email, bound("email"))),
    )
    .limit(1)
    .prepare();

  // Asked for every mail, at acceptance and when it leaves.
  const findReason = db.sqlite.prepare<{ reason: SuppressionReason }, [number, string]>(
    "SELECT reason FROM suppressions WHERE project_seq = +? AND email = +?",
  );

  /** Null if the address is there already: the first reason stays. */
  function insert(projectSeq: number, email: string, entry: Entry): SuppressionRow | null {
    const row = db
      .insert(suppressions)
      .values({ projectSeq, email, reason: entry.reason, createdAt: entry.at })
      .onConflictDoNothing()
      .returning()
      .get();
    return row ?? null;
  }

  return {
    reasonFor: (projectSeq: number, email: string): SuppressionReason | null =>
      findReason.get(projectSeq, email)?.reason ?? null,

    /** Part of a change. The first reason stays. */
    add(projectSeq: number, email: string, entry: Entry): void {
      insert(projectSeq, email, entry);
    },

    /** Part of a change: the same, and what is there then. */
    put(projectSeq: number, email: string, entry: Entry): { row: SuppressionRow; isNew: boolean } {
      const inserted = insert(projectSeq, email, entry);
      const row = inserted ?? find.get({ projectSeq, email });
      if (row === undefined) throw new Error("a suppression is neither new nor there");
      return { row, isNew: inserted !== null };
    },

    /** `text` as it was sent: in any spelling of the address. */
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
