/** Finds the users of a domain, which prevent its removal. */

import { and, eq, like } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { projects } from "../../db/schema/projects.ts";
import { templates } from "../../db/schema/templates.ts";

const MAX_NAMED = 5;
const DEFAULT_SENDER = "the default sender of the project (mailstead project set --no-from)";

/** Descriptions of the users of a domain: templates and the default sender of the project. */
export function usesOf(db: Db, projectSeq: number, domain: string): string[] {
  return [
    ...(isDefaultSender(db, projectSeq, domain) ? [DEFAULT_SENDER] : []),
    ...templatesFrom(db, projectSeq, domain).map((name) => `the template “${name}”`),
  ];
}

function isDefaultSender(db: Db, projectSeq: number, domain: string): boolean {
  const sendsFrom = and(eq(projects.seq, projectSeq), like(projects.fromAddress, `%@${domain}`));
  return db.select({ seq: projects.seq }).from(projects).where(sendsFrom).all().length > 0;
}

/** A domain contains no wildcard of LIKE. */
function templatesFrom(db: Db, projectSeq: number, domain: string): string[] {
  return db
    .select({ name: templates.name })
    .from(templates)
    .where(and(eq(templates.projectSeq, projectSeq), like(templates.from, `%@${domain}`)))
    .limit(MAX_NAMED)
    .all()
    .map(({ name }) => name);
}
