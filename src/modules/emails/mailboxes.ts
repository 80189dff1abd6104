/** Addresses in a request: texts with or without a display name, or objects with the name beside it. */

import { mailboxIn } from "../../http/formats.ts";
import { displayName, type Mailbox } from "../../protocols/mime/mailbox.ts";

/** An address that its schema has checked. */
type GivenAddress = string | { email: string; name?: string };

/** A name beside the address wins over one in the text of the address. */
export function mailboxOf(given: GivenAddress): Mailbox {
  if (typeof given === "string") return mailboxIn(given);
  const { address, name } = mailboxIn(given.email);
  return { address, name: given.name === undefined ? name : displayName(given.name) };
}

/** The mailboxes of a field that takes one address or several; none if it is absent. */
export function mailboxesOf(given: GivenAddress | readonly GivenAddress[] | undefined): Mailbox[] {
  if (given === undefined) return [];
  return isOne(given) ? [mailboxOf(given)] : given.map(mailboxOf);
}

const isOne = (given: GivenAddress | readonly GivenAddress[]): given is GivenAddress =>
  !Array.isArray(given);
