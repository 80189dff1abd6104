/**
 * Pages of contacts, newest first, each with the exact total: of a list from stored counters, of a
 * search from a scan of the addresses (`address-search.ts`).
 */

import { searchedAddress } from "../../protocols/mime/mailbox.ts";
import { and, desc, eq, inArray } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { contactCounts, contacts } from "../../db/schema/contacts.ts";
import type { Page } from "../../http/envelope.ts";
import { bySeq, type ListPage, newestRows, type PageRequest } from "../../http/pagination.ts";
import { storedSpellings } from "../../protocols/mime/address.ts";
import type { AddressPart, AddressSearch } from "./address-search.ts";
import type { Contact, ContactQuery } from "./model.ts";
import { presentContact } from "./service.ts";

export type ContactList = ReturnType<typeof createContactList>;

/** `part` is null for no search. */
type Filter = { isSubscribed: boolean | undefined; part: AddressPart | null };

export function createContactList(deps: {
  db: Db;
  listPage: ListPage;
  searchAddresses: AddressSearch;
}) {
  const { db, listPage, searchAddresses } = deps;

  function count(projectSeq: number, isSubscribed: boolean | undefined): number {
    const [counts = { total: 0, subscribed: 0 }] = db
      .select()
      .from(contactCounts)
      .where(eq(contactCounts.projectSeq, projectSeq))
      .all();
    if (isSubscribed === undefined) return counts.total;
    return isSubscribed ? counts.subscribed : counts.total - counts.subscribed;
  }

  async function search(
    projectSeq: number,
    { isSubscribed, part }: { isSubscribed: Filter["isSubscribed"]; part: AddressPart },
    request: PageRequest,
  ) {
    const { total, seqs } = await searchAddresses(projectSeq, {
      isSubscribed,
      part,
      before: request.after?.[0],
      limit: request.limit,
    });
    const rows = db
      .select()
      .from(contacts)
      .where(inArray(contacts.seq, seqs))
      .orderBy(desc(contacts.seq))
      .all();
    return { rows, total, positionOf: bySeq };
  }

  return (projectSeq: number, query: ContactQuery): Promise<Page<Contact>> => {
    const { isSubscribed, part } = filterOf(query);
    const readAll = newestRows(db, {
      table: contacts,
      filter: and(
        eq(contacts.projectSeq, projectSeq),
        isSubscribed === undefined ? undefined : eq(contacts.isSubscribed, isSubscribed),
      ),
      select: db.select().from(contacts),
      total: () => count(projectSeq, isSubscribed),
    });
    return listPage(
      { scope: `${projectSeq}:contacts`, query },
      part === null ? readAll : (request) => search(projectSeq, { isSubscribed, part }, request),
      (rows) => rows.map(presentContact),
    );
  };
}

/** The filter of a list or an export. */
export function filterOf({
  subscribed,
  search,
}: Pick<ContactQuery, "subscribed" | "search">): Filter {
  const [spelling = "", other = null] = storedSpellings(searchedAddress(search ?? ""));
  return {
    isSubscribed: subscribed === undefined ? undefined : subscribed === "true",
    part: spelling === "" ? null : [spelling, other],
  };
}
