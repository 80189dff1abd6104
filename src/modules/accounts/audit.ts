/**
 * The audit log: who changed what. A row is written in the transaction of its change, is never
 * edited, and is removed after a year.
 */

import { and, desc, eq, gte, lt, lte, type SQL } from "drizzle-orm";
import type { SQLiteColumn } from "drizzle-orm/sqlite-core";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { NO_OWNER } from "../../db/reader.ts";
import { audit } from "../../db/schema/accounts.ts";
import { statement } from "../../db/statement.ts";
import type { Page } from "../../http/envelope.ts";
import { asQuery, inTime, newestPage, type PageQuery, toRow } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { newId } from "../../lib/id.ts";
import { compareRows, nameOfRow } from "./audit-changes.ts";
import {
  type Audited,
  auditedField,
  type AuditedRow,
  isPersonal,
  readAudited,
} from "./audit-subjects.ts";

export type AuditRow = typeof audit.$inferSelect;

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

export type AuditFilter = {
  /** Null selects the entries of all projects, and those that belong to none. */
  projectSeq: number | null;
  actorId?: string | undefined;
  actorKind?: AuditRow["actorKind"] | undefined;
  action?: string | undefined;
  objectId?: string | undefined;
  objectType?: string | undefined;
  /** Unix milliseconds, both included. */
  from?: number | undefined;
  to?: number | undefined;
};

const KEPT_MS = 365 * 24 * 60 * 60_000;
/** Rows that one change removes, which takes a few milliseconds. */
const PURGED_AT_ONCE = 500;
const MAX_FIELDS = 100;
const LONGEST_TEXT = 320;

/** Rows that an export reads at once. */
const EXPORTED_AT_ONCE = 200;

const findUserName = statement<{ name: string }, [string]>("SELECT name FROM users WHERE id = +?");
const findProject = statement<{ id: string; name: string }, [number]>(
  "SELECT id, name FROM projects WHERE seq = +?",
);

export function createAudit({ db, clock }: { db: Db; clock: Pick<Clock, "now"> }) {
  return {
    /** Part of a change, before it: the object as it is, for `before` of its entry. */
    read: (object: Audited): AuditedRow | null => readAudited(db, object),

    /** The name of the object of an entry, also if none was stored. */
    nameOf: (row: AuditRow): string | null => row.objectName ?? nameOfRow(readAudited(db, row)),

    /** The project of an entry, with its name at that time. */
    projectOf({ projectSeq, projectName }: AuditRow): { id: string; name: string } | null {
      const found = projectSeq === null ? null : findProject({ db }).get(projectSeq);
      return found && { id: found.id, name: projectName ?? found.name };
    },

    /** Part of a change, after it: adds an entry for it, with the name of the object. */
    record({ actor, fields = [], before = null, ...entry }: AuditEntry): void {
      const now = clock.now();
      const isNamed = !isPersonal(entry.objectType);
      const after = isNamed || before !== null ? readAudited(db, entry) : null;
      const { changes, unchanged } = compareRows(before, after);
      const name = isNamed ? nameOfRow(after ?? before) : null;
      const { projectSeq } = entry;
      const user =
        actor.kind === "USER" && actor.id !== null ? findUserName({ db }).get(actor.id) : null;
      const project = projectSeq === null ? null : findProject({ db }).get(projectSeq);
      db.insert(audit)
        .values({
          id: newId(now),
          at: now,
          actorKind: actor.kind,
          actorId: actor.id,
          actorLabel: shortened(actor.label),
          actorName: user === null || user.name === "" ? null : shortened(user.name),
          projectSeq,
          projectName: project === null ? null : shortened(project.name),
          action: entry.action,
          objectType: entry.objectType,
          objectId: entry.objectId === null ? null : shortened(entry.objectId),
          objectName: name === null ? null : shortened(name),
          fields: JSON.stringify(
            [...new Set(fields.map(auditedField))]
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
  filter: AuditFilter,
  query: PageQuery,
  present: (row: AuditRow) => Item,
): Promise<Page<Item>> {
  return newestPage(
    app,
    { seq: filter.projectSeq ?? NO_OWNER },
    { name: "audit", query, table: audit, filter: conditionOf(filter), present },
  );
}

/** All entries that match, newest first, some at a time. */
export async function* auditPages(app: App, filter: AuditFilter): AsyncGenerator<AuditRow[]> {
  let before = Number.MAX_SAFE_INTEGER;
  let rows: AuditRow[];
  do {
    const query = app.db
      .select()
      .from(audit)
      .where(and(inTime(audit), conditionOf(filter), lt(audit.seq, before)))
      .orderBy(desc(audit.seq))
      .limit(EXPORTED_AT_ONCE);
    const found = await app.reader.find(filter.projectSeq ?? NO_OWNER, asQuery(query));
    rows = found.rows.map((values) => toRow(audit, values));
    if (rows.length > 0) yield rows;
    before = rows.at(-1)?.seq ?? 0;
  } while (rows.length === EXPORTED_AT_ONCE);
}

function conditionOf({ projectSeq, from, to, ...filter }: AuditFilter): SQL | undefined {
  return and(
    projectSeq === null ? undefined : eq(audit.projectSeq, projectSeq),
    matches(audit.actorId, filter.actorId),
    matches(audit.actorKind, filter.actorKind),
    matches(audit.action, filter.action),
    matches(audit.objectId, filter.objectId),
    matches(audit.objectType, filter.objectType),
    from === undefined ? undefined : gte(audit.at, from),
    to === undefined ? undefined : lte(audit.at, to),
  );
}

function matches(column: SQLiteColumn, value: string | undefined): SQL | undefined {
  return value === undefined ? undefined : eq(column, value);
}

function shortened(text: string): string {
  return text.slice(0, LONGEST_TEXT).toWellFormed();
}
