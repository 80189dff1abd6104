/**
 * The audit log: who changed what. A row is written in the transaction of its change, is never
 * edited, and is removed after a year.
 */

import { and, eq, type SQL } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { NO_OWNER } from "../../db/reader.ts";
import { audit } from "../../db/schema/accounts.ts";
import type { Page } from "../../http/envelope.ts";
import { newestPage, type PageQuery } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { compareRows, nameOfRow } from "./audit-changes.ts";
import { type Audited, type AuditedRow, isPersonal, readAudited } from "./audit-subjects.ts";

type AuditRow = typeof audit.$inferSelect;

/** The user, key or command that made a change. `id` is null for CLI and SYSTEM. */
type Actor = { kind: AuditRow["actorKind"]; id: string | null; label: string };

export type AuditEntry = {
  actor: Actor;
  /** Null if the change belongs to no project. */
  projectSeq: number | null;
  /** Such as `contact.update`. */
  action: string;
  objectType: string;
  objectId: string | null;
  /** Names of the changed fields. */
  fields?: readonly string[];
  /** The object before the change; without it, no old and new values are kept. */
  before?: AuditedRow | null;
  /** Address of the client; null if the change came from no request. */
  address: string | null;
};

type AuditFilter = {
  /** Null selects the entries of all projects, and those that belong to none. */
  projectSeq: number | null;
  actorId?: string | undefined;
  action?: string | undefined;
  objectId?: string | undefined;
};

const KEPT_MS = 365 * 24 * 60 * 60_000;
/** Rows that one change removes, which takes a few milliseconds. */
const PURGED_AT_ONCE = 500;
const MAX_FIELDS = 100;
const LONGEST_TEXT = 320;

export function createAudit({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  return {
    /** Part of a change, before it: the object as it is, for `before` of its entry. */
    read: (object: Audited): AuditedRow | null => readAudited(db, object),

    /** The name of the object of an entry, also if none was stored. */
    nameOf: (row: AuditRow): string | null => row.objectName ?? nameOfRow(readAudited(db, row)),

    /** Part of a change, after it: adds an entry for it, with the name of the object. */
    record({ actor, fields = [], before = null, ...entry }: AuditEntry): void {
      const now = clock.now();
      const isNamed = !isPersonal(entry.objectType);
      const after = isNamed || before !== null ? readAudited(db, entry) : null;
      const { changes, unchanged } = compareRows(before, after);
      const name = isNamed ? nameOfRow(after ?? before) : null;
      db.insert(audit)
        .values({
          id: newId(now),
          at: now,
          actorKind: actor.kind,
          actorId: actor.id,
          actorLabel: shortened(actor.label),
          projectSeq: entry.projectSeq,
          action: entry.action,
          objectType: entry.objectType,
          objectId: entry.objectId === null ? null : shortened(entry.objectId),
          objectName: name === null ? null : shortened(name),
          fields: JSON.stringify(
            fields
              .filter((field) => !unchanged.has(field))
              .slice(0, MAX_FIELDS)
              .map(shortened),
          ),
          changes: JSON.stringify(changes),
          address: entry.address,
        })
        .run();
    },

    /** Part of a change: removes some entries that are older than a year. True if more may follow. */
    purge(): boolean {
      const removed = db.sqlite
        .query(
          `DELETE FROM audit WHERE seq IN
             (SELECT seq FROM audit WHERE at < +? ORDER BY at LIMIT ${PURGED_AT_ONCE})`,
        )
        .run(clock.now() - KEPT_MS).changes;
      return removed === PURGED_AT_ONCE;
    },
  };
}

/** A page of the entries that match all given filters, newest first. */
export function listAudit<Item>(
  app: App,
  { projectSeq, actorId, action, objectId }: AuditFilter,
  query: PageQuery,
  present: (row: AuditRow) => Item,
): Promise<Page<Item>> {
  return newestPage(
    app,
    { seq: projectSeq ?? NO_OWNER },
    {
      name: "audit",
      query,
      table: audit,
      filter: and(
        projectSeq === null ? undefined : eq(audit.projectSeq, projectSeq),
        matches(audit.actorId, actorId),
        matches(audit.action, action),
        matches(audit.objectId, objectId),
      ),
      present,
    },
  );
}

type AuditColumn = typeof audit.actorId | typeof audit.action | typeof audit.objectId;

function matches(column: AuditColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value);
}

function shortened(text: string): string {
  return text.slice(0, LONGEST_TEXT).toWellFormed();
}
