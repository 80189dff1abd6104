/**
 * Links of a mail that others than its recipient do not see. Pure.
 *
 * Viewers see no link that names the mail: they could unsubscribe and subscribe people in their name.
 * Users do not see the links by which only the recipient may confirm something, a subscription by a
 * form (forms/) or a request from the preference page (preferences/): a user who reads the mails of a
 * project could otherwise confirm in the name of the person, and erase them.
 */

import type { LeasedMail } from "../../../outbox/lane/rows.ts";
import { SAMPLE_ID } from "../../../render/letter/tokens.ts";

const LINK = /\/(confirm|preference-requests)\/\w{43}/g;

/** The variables of a mail, as JSON, without the tokens of links that confirm something. */
export function hideConfirmations(variables: string): string {
  return variables.replace(LINK, "/$1/(hidden)");
}

/** The mail with links that name no mail, and with its own Message-ID. */
export function hideRecipientLinks(mail: LeasedMail): LeasedMail {
  return { ...mail, id: SAMPLE_ID, groupId: mail.groupId ?? mail.id };
}
