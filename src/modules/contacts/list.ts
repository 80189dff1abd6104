/**
 * Pages of contacts, each with the exact total: of a whole list from stored counters, of filtered and
 * sorted ones from a read in a thread (`search.ts`).
 */

import { and, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { contactCounts, contacts } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { listPage, newestPage, newestRows, sortedPage } from "../../http/pagination.ts";
import { trimBlanks } from "../../lib/trim.ts";
import type { Contact, ContactQuery } from "./model.ts";
import { contactFilter, sortOrder } from "./search.ts";
import { presentContact } from "./service.ts";

export function listContacts(
  app: App,
  project: { seq: number },
  query: ContactQuery,
): Promise<Page<Contact>> {
  const { search, data, sort, order } = query;
  const ofProject = eq(contacts.projectSeq, project.seq);
  const filter = and(ofProject, contactFilter(query));
  const list = { name: "contacts", query, table: contacts, filter, present: presentContact };
  if (sort !== undefined) {
    const isByTime = sort === "createdAt" || sort === "updatedAt";
    const direction = order ?? (isByTime ? "desc" : "asc");
    return sortedPage(app, project, { ...list, order: sortOrder(sort, direction) });
  }
  if (trimBlanks(search ?? "") !== "" || data !== undefined) return newestPage(app, project, list);
  return listPage(app)(
    { scope: `${project.seq}:contacts`, query },
    newestRows(app.db, {
      table: contacts,
      filter,
      select: app.db.select().from(contacts),
      total: () => countContacts(app, project.seq, query.subscribed),
    }),
    (rows) => rows.map(presentContact),
  );
}

function countContacts({ db }: App, projectSeq: number, subscribed?: "true" | "false"): number {
  const [counts = { total: 0, subscribed: 0 }] = db
    .select()
    .from(contactCounts)
    .where(eq(contactCounts.projectSeq, projectSeq))
    .all();
  if (subscribed === undefined) return counts.total;
  return subscribed === "true" ? counts.subscribed : counts.total - counts.subscribed;
}
