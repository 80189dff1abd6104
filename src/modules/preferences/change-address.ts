/**
 * Another address of a contact, which both addresses have confirmed. If another contact of the project
 * has the new address, the choices move to that one: the person confirmed both addresses, so they may
 * know of it. It gains the choices of the other one and loses none, and the former address gets no more
 * newsletters.
 */

import type { App } from "../../core/app.ts";
import type { Brand } from "../../http/brand.ts";
import { fillPlaceholders, type Texts } from "../../render/language.ts";
import { preferenceTexts } from "../../render/preference-texts.ts";
import { recordConsent } from "../consents/record.ts";
import type { ConsentCause, ContactRow } from "../contacts/service.ts";
import { contactService } from "../contacts/service.ts";
import { setTopicChoices, topicChoices } from "../topics/choices.ts";
import { endRequests } from "./end-requests.ts";
import { tellFormerAddress } from "./requests.ts";

type Cause = {
  consent: Pick<ConsentCause, "source" | "clientAddress">;
  page: { texts: Texts; brand: Brand };
};

/** Part of a change. The former address is told. */
export function changeAddress(
  app: App,
  contact: ContactRow,
  newAddress: string,
  { consent, page }: Cause,
): void {
  if (contact.email === newAddress) return;
  const withWording = { ...consent, wording: wordingOf(page) };
  tellFormerAddress(app, contact, { ...page, newAddress });
  // Links in mails to the former address must not hand over the data of the new one.
  endRequests(app, contact, null);
  const holder = contactService(app).findByEmail(contact.projectSeq, newAddress);
  if (holder === null) {
    const { projectSeq, id } = contact;
    const moved = contactService(app).patch(projectSeq, id, { email: newAddress }, withWording)();
    if (moved.isSubscribed) confirm(app, moved, withWording);
    return;
  }
  if (!contact.isSubscribed) return;
  const joined = topicChoices(app, contact)
    .filter(({ isSubscribed, changedAt }) => isSubscribed && changedAt !== null)
    .map(({ topic }) => ({ topicId: topic.id, isSubscribed: true }));
  setTopicChoices(app, holder, joined, { consent: withWording });
  const cause = { data: { via: "page" }, consent: withWording };
  contactService(app).setSubscription(holder, true, cause);
  contactService(app).setSubscription(contact, false, cause);
}

function confirm(app: App, contact: ContactRow, consent: ConsentCause): void {
  const { source, clientAddress = null, wording = null } = consent;
  recordConsent(app, {
    contact,
    kind: "CONFIRMED",
    topicSeq: null,
    source,
    clientAddress,
    wording,
  });
}

/**
 * The text above the last button, for the ledger. It is without the address, so that it is the same for
 * all.
 */
function wordingOf({ texts, brand }: Cause["page"]): string {
  const { askNewAddress, confirmAddress } = preferenceTexts(texts);
  const text = fillPlaceholders(askNewAddress.text, { project: brand.name });
  return [askNewAddress.title, text, `[${confirmAddress}]`].join("\n\n");
}
