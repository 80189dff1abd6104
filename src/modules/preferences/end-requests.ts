/** The end of requests from the preference page: their links, which were mailed to an address, stop working. */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { preferenceRequests } from "../../db/schema/preferences.ts";
import type { ContactRow } from "../contacts/service.ts";

type Kind = typeof preferenceRequests.$inferSelect.kind;

/** Part of a change: ends the earlier requests of a contact, or those of one kind. */
export function endRequests(
  { db }: Pick<App, "db">,
  { seq }: Pick<ContactRow, "seq">,
  kind: Kind | null,
): void {
  const isTheirs = eq(preferenceRequests.contactSeq, seq);
  const isEnded = kind === null ? isTheirs : and(isTheirs, eq(preferenceRequests.kind, kind));
  db.update(preferenceRequests).set({ usesLeft: 0 }).where(isEnded).run();
}
