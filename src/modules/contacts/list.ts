/**
 * Pages of contacts, newest first, each with the exact total: of a list from stored counters, of a
 * search from a scan of the addresses (`address-search.ts`).
 */

import { and, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { contactCounts, contacts } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type Cursors, olderThan, type PageRequest } from "../../http/pagination.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { AddressSearch } from "./address-search.ts";
import type { Contact, ContactQuery } from "./model.ts";
import { type ContactRow, presentContact } from "./service.ts";

export type ContactList = ReturnType<typeof createContactList>;

type Filter = { isSubscribed: boolean | undefined; term: string };

export function createContactList(deps: {
  db: Db;
  cursors: Cursors;
  searchAddresses: AddressSearch;
}) {
  const { db, cursors, searchAddresses } = deps;

  function count(projectSeq: number, isSubscribed: boolean | undefined): number {
    const [counts = { total: 0, subscribed: 0 }] = db
      .select()
      .from(contactCounts)
      .where(eq(contactCounts.projectSeq, projectSeq))
      .all();
    if (isSubscribed === undefined) return counts.total;
    return isSubscribed ? counts.subscribed : counts.total - counts.subscribed;
  }

  function listPage(projectSeq: number, { isSubscribed }: Filter, request: PageRequest) {
    const rows = db
      .select()
      .from(contacts)
      .where(
        and(
          eq(contacts.projectSeq, projectSeq),
          isSubscribed === undefined ? undefined : eq(contacts.isSubscribed, isSubscribed),
          olderThan(contacts.seq, request),
        ),
      )
      .orderBy(desc(contacts.seq))
      .limit(request.limit + 1)
      .all();
    return { rows, total: count(projectSeq, isSubscribed) };
  }

  async function searchPage(projectSeq: number, filter: Filter, request: PageRequest) {
    const { total, seqs } = await searchAddresses(projectSeq, {
      ...filter,
      before: request.after?.[0],
      limit: request.limit + 1,
    });
    const rows = db
      .select()
      .from(contacts)
      .where(inArray(contacts.seq, seqs))
      .orderBy(desc(contacts.seq))
      .all();
    return { rows, total };
  }

  return async (projectSeq: number, query: ContactQuery): Promise<Page<Contact>> => {
    const scope = `${projectSeq}:contacts`;
    const request = cursors.read(scope, query);
    const filter = filterOf(query);
    const { rows, total } =
      filter.term === ""
        ? listPage(projectSeq, filter, request)
        : await searchPage(projectSeq, filter, request);
    return cursors.page<ContactRow, Contact>(scope, request, rows, {
      total,
      positionOf: bySeq,
      present: presentContact,
    });
  };
}

/**
 * The filter of a list or an export. `term` has the stored form of addresses; it is empty for no
 * search.
 */
export function filterOf({
  subscribed,
  search,
}: Pick<ContactQuery, "subscribed" | "search">): Filter {
  const [local = "", domain = local] = storedSpellings(search ?? "");
  return {
    isSubscribed: subscribed === undefined ? undefined : subscribed === "true",
    term: domain.includes(".") ? domain : local,
  };
}
