/**
 * Versions of a template: its content at each revision, the author of the change, and the changed
 * fields. An editor saves every few seconds, so the changes that one author makes within five
 * minutes are one version. It gets the revision of the last of them. A revision that was created,
 * copied, restored, tested or sent keeps a version of its own. A template has at most 100 versions;
 * the oldest are removed.
 */

import { and, desc, eq, lte } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { templateVersions } from "../../db/schema/templates.ts";
import { statement } from "../../db/statement.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { notFound } from "../../lib/errors.ts";
import { perApp } from "../../lib/per-app.ts";

/** The fields of a template that a version has. */
const VERSIONED = [
  "name",
  "description",
  "subject",
  "preheader",
  "body",
  "design",
  "format",
  "layoutId",
  "from",
  "fromName",
  "replyTo",
  "type",
  "topicId",
] as const;

export type VersionRow = typeof templateVersions.$inferSelect;
export type ListedVersionRow = Pick<
  VersionRow,
  "revision" | "createdAt" | "authorKind" | "authorName" | "changed" | "subject"
>;
/** The members of a template that each version stores. */
export type VersionContent = Pick<VersionRow, (typeof VERSIONED)[number]>;
type VersionedTemplate = VersionContent & { seq: number; revision: number };

const FOLD_MS = 5 * 60_000;
const MAX_VERSIONS = 100;

/**
 * The latest revision of each template that was sent, since this server has begun to watch. A version
 * that began before is not joined to later changes, because it may have been sent.
 */
const sent = perApp(({ clock }: App) => ({
  since: clock.now(),
  revisions: new Map<number, number>(),
}));

/** Notes that a mail is made of the template as it was read. */
export function noteSent(app: App, { seq, revision }: { seq: number; revision: number }): void {
  const { revisions } = sent(app);
  revisions.set(seq, Math.max(revision, revisions.get(seq) ?? 0));
}

const columns = `template_seq AS templateSeq, revision, name, description, subject, preheader, body,
  design, format, layout_id AS layoutId, from_address AS "from", from_name AS fromName,
  reply_to AS replyTo, type, topic_id AS topicId, changed, author_kind AS authorKind, author_id AS authorId,
  author_name AS authorName, is_kept AS isKept, started_at AS startedAt, created_at AS createdAt`;

/** The newest version and the one before. */
const findLatest = statement<LatestRow, [number]>(
  `SELECT ${columns} FROM template_versions WHERE template_seq = +? ORDER BY revision DESC LIMIT 2`,
);
type LatestRow = Omit<VersionRow, "isKept"> & { isKept: number };

/** The names of the fields in which two contents differ. */
export function changedFields(before: VersionContent, after: VersionContent): string[] {
  return VERSIONED.filter((name) => before[name] !== after[name]);
}

/**
 * Part of a change: stores the present content of the template. `isKept`: neither joined to the
 * version before, nor is a later change joined to it.
 */
export function storeVersion(
  app: App,
  template: VersionedTemplate,
  { actor, isKept = false }: { actor: RequestActor; isKept?: boolean },
): void {
  const now = app.clock.now();
  const watch = sent(app);
  const [newest, before] = findLatest(app).all(template.seq);
  const isFolded =
    !isKept &&
    newest !== undefined &&
    isOpenFor(newest, { actor, now }) &&
    newest.startedAt >= watch.since &&
    watch.revisions.get(template.seq) !== newest.revision;
  const compared = isFolded ? before : newest;
  const values = {
    ...contentOf(template),
    templateSeq: template.seq,
    revision: template.revision,
    changed: JSON.stringify(compared === undefined ? [] : changedFields(compared, template)),
    authorKind: actor.kind,
    authorId: actor.id,
    authorName: actor.label,
    isKept,
    startedAt: isFolded ? newest.startedAt : now,
    createdAt: now,
  };
  if (isFolded) {
    app.db.update(templateVersions).set(values).where(isVersion(newest)).run();
  } else {
    app.db.insert(templateVersions).values(values).run();
    removeOldest(app, template.seq);
  }
}

/** Part of a change: a later change gets a version of its own. */
export function keepVersion(app: App, { seq, revision }: { seq: number; revision: number }): void {
  const version = isVersion({ templateSeq: seq, revision });
  app.db.update(templateVersions).set({ isKept: true }).where(version).run();
}

/** The newest one first, without their contents. */
export function listVersions(app: App, templateSeq: number): ListedVersionRow[] {
  const { revision, createdAt, authorKind, authorName, changed, subject } = templateVersions;
  return app.db
    .select({ revision, createdAt, authorKind, authorName, changed, subject })
    .from(templateVersions)
    .where(eq(templateVersions.templateSeq, templateSeq))
    .orderBy(desc(templateVersions.revision))
    .all();
}

/** Throws 404 without such a version. */
export function getVersion(app: App, templateSeq: number, revision: string): VersionRow {
  const version = /^[1-9]\d{0,14}$/.test(revision)
    ? app.db
        .select()
        .from(templateVersions)
        .where(isVersion({ templateSeq, revision: Number(revision) }))
        .limit(1)
        .get()
    : undefined;
  if (version === undefined) throw notFound("VERSION");
  return version;
}

function contentOf(row: VersionContent): VersionContent {
  const { name, description, subject, preheader, body, design, format, layoutId } = row;
  return {
    name,
    description,
    subject,
    preheader,
    body,
    design,
    format,
    layoutId,
    from: row.from,
    fromName: row.fromName,
    replyTo: row.replyTo,
    type: row.type,
    topicId: row.topicId,
  };
}

function isOpenFor(
  { authorKind, authorId, isKept, startedAt }: LatestRow,
  { actor, now }: { actor: RequestActor; now: number },
): boolean {
  const isSameAuthor = authorKind === actor.kind && authorId === actor.id;
  return isSameAuthor && isKept === 0 && now >= startedAt && now < startedAt + FOLD_MS;
}

const isVersion = ({ templateSeq, revision }: { templateSeq: number; revision: number }) =>
  and(eq(templateVersions.templateSeq, templateSeq), eq(templateVersions.revision, revision));

const findFirstTooMany = statement<{ revision: number }, [number]>(
  `SELECT revision FROM template_versions WHERE template_seq = +?
   ORDER BY revision DESC LIMIT 1 OFFSET ${MAX_VERSIONS}`,
);

function removeOldest(app: App, templateSeq: number): void {
  const first = findFirstTooMany(app).get(templateSeq);
  if (first === null) return;
  const isOld = lte(templateVersions.revision, first.revision);
  app.db
    .delete(templateVersions)
    .where(and(eq(templateVersions.templateSeq, templateSeq), isOld))
    .run();
}
