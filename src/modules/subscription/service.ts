/**
 * The pages behind the unsubscribe, subscribe and manage links of a mail.
 *
 * 1. `routes.ts` reads the signed token of the link and finds the mail and its recipient.
 * 2. A POST is parsed to a decision, which `decide` applies to the contact in one change.
 * 3. `view.ts` builds the page that the recipient sees.
 */

import { eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { emails } from "../../db/schema/emails.ts";
import { projects } from "../../db/schema/projects.ts";
import type { Change } from "../../db/writer.ts";
import type { ContactRow, Contacts } from "../contacts/service.ts";
import { ensureStorage } from "../quotas.ts";

/** The mail that a link belongs to, with its project and the contact whom the link changes. */
export type Recipient = {
  emailSeq: number;
  projectName: string;
  /** BCP 47 tag of the project's language. */
  language: string;
  /** The address to which the mail was sent; null if its contact was deleted. */
  to: string | null;
  /** It has another address than the mail if its address was changed. Null if there is none. */
  contact: ContactRow | null;
};

export type Decision = {
  isSubscribed: boolean;
  /** The button of our page, or the one-click request of a mail program (RFC 8058). */
  via: "page" | "one-click";
};

export type Subscriptions = ReturnType<typeof createSubscriptions>;

export function createSubscriptions(deps: { db: Db; contacts: Contacts; app: App }) {
  const { app, db, contacts } = deps;
  const findMail = db
    .select({
      emailSeq: emails.seq,
      projectSeq: emails.projectSeq,
      contactSeq: emails.contactSeq,
      to: emails.to,
      projectName: projects.name,
      language: projects.language,
    })
    .from(emails)
    .innerJoin(projects, eq(projects.seq, emails.projectSeq))
    .where(eq(emails.id, bound("emailId")))
    .limit(1)
    .prepare();

  function find(emailId: string): Recipient | null {
    const mail = findMail.get({ emailId });
    return mail === undefined ? null : { ...mail, contact: contacts.findRecipient(mail) };
  }

  return {
    find,

    /**
     * Returns the recipient after the decision. A decision that the contact already has changes
     * nothing. Null if the mail does not exist. An unsubscription is always stored; a subscription
     * is refused with 409 if strangers have filled their part of the storage quota, because who
     * has the link could change between both for ever.
     */
    decide(emailId: string, { isSubscribed, via }: Decision): Change<Recipient | null> {
      return () => {
        const recipient = find(emailId);
        if (recipient === null || recipient.contact === null) return recipient;
        if (isSubscribed) ensureStorage(app, recipient.contact.projectSeq, true);
        const cause = { emailSeq: recipient.emailSeq, data: { via } };
        return {
          ...recipient,
          contact: contacts.setSubscription(recipient.contact, isSubscribed, cause),
        };
      };
    },
  };
}
