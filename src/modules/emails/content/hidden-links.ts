/**
 * Hides the links by which only the recipient of a mail may confirm something: a subscription by a form
 * (forms/), or a request from the preference page (preferences/). A user who reads the mails of a
 * project could otherwise confirm in the name of the person, and erase them. Pure.
 */

const LINK = /\/(confirm|preference-requests)\/\w{43}/g;

/** The variables of a mail, as JSON, without the tokens of such links. */
export function hideConfirmations(variables: string): string {
  return variables.replace(LINK, "/$1/(hidden)");
}
