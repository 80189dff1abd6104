/** What keeps a domain from being removed. */

import { and, eq, like } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { templates } from "../../db/schema/templates.ts";

const MOST_NAMED = 5;

/** Templates that send from the domain, in words. */
export function usesOf(db: Db, projectSeq: number, domain: string): string[] {
  return templatesFrom(db, projectSeq, domain).map((name) => `the template “${name}”`);
}

/** A domain holds no character that LIKE takes for another. */
function templatesFrom(db: Db, projectSeq: number, domain: string): string[] {
  return db
    .select({ name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectSeq, projectSeq), like(templates.from, `%@${domain}`)))
    .limit(MOST_NAMED)
    .all()
    .map(({ name }) => name);
}
