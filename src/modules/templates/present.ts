/** Templates and their versions in responses. */

import type { templates } from "../../db/schema/templates.ts";
import { isRecord } from "../../http/validation.ts";
import { isoTime } from "../../lib/clock.ts";
import type { ListedTemplate, ListedVersion, Template, TemplateVersion } from "./model.ts";
import type { ListedVersionRow, VersionRow } from "./versions.ts";

/** A row with the ids of its layout and its topic. */
export type PresentedRow = typeof templates.$inferSelect & {
  layoutId: string | null;
  topicId: string | null;
};

type SharedContent<From> = Pick<
  PresentedRow,
  "name" | "description" | "subject" | "body" | "fromName" | "replyTo"
> & { from: From };

/** The fields that templates and campaigns share. `From` is null only for templates. */
export function contentOf<From extends string | null>(
  row: SharedContent<From>,
): SharedContent<From> {
  const { name, description, subject, body, from, fromName, replyTo } = row;
  return { name, description, subject, body, from, fromName, replyTo };
}

export function presentListed(row: PresentedRow): ListedTemplate {
  const { id, preheader, format, layoutId, type, topicId, revision } = row;
  return {
    id,
    ...contentOf(row),
    preheader,
    format,
    layoutId,
    type,
    topicId,
    revision,
    createdAt: isoTime(row.createdAt),
    updatedAt: isoTime(row.updatedAt),
  };
}

export function present(row: PresentedRow): Template {
  return { ...presentListed(row), design: parseDesign(row.design) };
}

function parseDesign(design: string | null): Template["design"] {
  if (design === null) return null;
  const parsed: unknown = JSON.parse(design);
  return isRecord(parsed) ? parsed : null;
}

export function presentListedVersion(row: ListedVersionRow): ListedVersion {
  const { revision, subject, authorKind, authorName } = row;
  const changed: unknown = JSON.parse(row.changed);
  return {
    revision,
    createdAt: isoTime(row.createdAt),
    author: authorKind === null ? null : { kind: authorKind, name: authorName ?? "" },
    changed: Array.isArray(changed) ? changed.map(String) : [],
    subject,
  };
}

export function presentVersion(row: VersionRow): TemplateVersion {
  const { preheader, format, layoutId, type, topicId } = row;
  return {
    ...presentListedVersion(row),
    ...contentOf(row),
    preheader,
    format,
    layoutId,
    type,
    topicId,
    design: parseDesign(row.design),
  };
}
