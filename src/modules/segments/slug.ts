/** Slugs: the readable part of a segment's event names, which never changes, and these names. */

import { and, eq, like } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { segments } from "../../db/schema/segments.ts";

/** Longest slug of a name, in characters. */
const LONGEST = 60;

/** Changes of a membership that are events. */
export const MEMBERSHIP_CHANGES = ["entry", "exit"] as const;
type MembershipChange = (typeof MEMBERSHIP_CHANGES)[number];

/** The name of the event of a contact that enters or leaves a segment. */
export const membershipEventName = (slug: string, change: MembershipChange): string =>
  `segment.${slug}.${change}`;

/** Makes "grosste-kunden" of "Größte Kunden!" and keeps letters of other scripts. */
export function slugOf(name: string, ifEmpty = "segment"): string {
  const plain = name
    .replaceAll("ß", "ss")
    .normalize("NFKD")
    .replaceAll(/\p{M}/gu, "")
    .normalize("NFC")
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}]+/gu, "-");
  return trimHyphens(Array.from(trimHyphens(plain)).slice(0, LONGEST).join("")) || ifEmpty;
}

/**
 * Returns the slug for a new segment: the first of `vip`, `vip-2`, `vip-3` and so on that no other
 * segment of the project has.
 */
export function chooseSlug(db: Db, projectSeq: number, name: string): string {
  const base = slugOf(name);
  const similar = db
    .select({ slug: segments.slug })
    .from(segments)
    .where(and(eq(segments.projectSeq, projectSeq), like(segments.slug, `${base}%`)))
    .all();
  const taken = new Set(similar.map(({ slug: other }) => other));
  let slug = base;
  for (let n = 2; taken.has(slug); n++) slug = `${base}-${n}`;
  return slug;
}

/** One hyphen stands for every run of other characters, so there is at most one at either end. */
function trimHyphens(text: string): string {
  return text.replace(/^-/, "").replace(/-$/, "");
}
