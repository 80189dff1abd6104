/** What recipients decide by the links in their mail. */

import { eq } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { contacts as contactRows } from "../../db/schema/contacts.ts";
import { emails } from "../../db/schema/emails.ts";
import { projects } from "../../db/schema/projects.ts";
import type { Change } from "../../db/writer.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";

/** Who holds a link: the mail it came with, and the contact of that mail. */
export type Holder = {
  emailSeq: number;
  projectName: string;
  /** BCP 47: of the project. */
  language: string;
  /** Null once it was deleted. */
  contact: ContactRow | null;
};

export type Decision = {
  isSubscribed: boolean;
  /** The button of a page, or the mail program's own (RFC 8058). */
  via: "page" | "one-click";
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions({ db, contacts }: { db: Db; contacts: Contacts }) {
  const findHolder = db
    .select({
      emailSeq: emails.seq,
      projectName: projects.name,
      language: projects.language,
      contact: contactRows,
    })
    .from(emails)
    .innerJoin(projects, eq(projects.seq, emails.projectSeq))
    .leftJoin(contactRows, eq(contactRows.seq, emails.contactSeq))
    .where(eq(emails.id, bound("emailId")))
    .limit(1)
    .prepare();

  function find(emailId: string): Holder | null {
    return findHolder.get({ emailId }) ?? null;
  }

  return {
    find,

    /** Deciding what is so already changes nothing. Returns how it is then. */
    decide(emailId: string, { isSubscribed, via }: Decision): Change<Holder | null> {
      return () => {
        const holder = find(emailId);
        if (holder === null || holder.contact === null) return holder;
        const cause = { emailSeq: holder.emailSeq, data: { via } };
        return { ...holder, contact: contacts.decide(holder.contact, isSubscribed, cause) };
      };
    },
  };
}
