/**
 * The address of a mail at which its recipient unsubscribes by sending any mail (RFC 2369 §3.2):
 * `u+<token>@<bounce host>`. It is signed with the key of the unsubscribe link, and like the link it
 * does not expire.
 */

import { hasSignedForm, makeSignedAddress, openSignedAddress } from "../lib/signed-address.ts";

const PREFIX = "u+";

/** Null where the host is too long for an address. */
export function makeUnsubscribeAddress(
  linkKey: Uint8Array,
  emailId: string,
  host: string,
): string | null {
  return makeSignedAddress(PREFIX, linkKey, { id: emailId, host });
}

/** The id of the email from which the address comes; null if it is none of ours. */
export function openUnsubscribeAddress(linkKey: Uint8Array, address: string): string | null {
  return openSignedAddress(PREFIX, linkKey, address);
}

/** Whether the address has this form; its signature may be wrong. */
export function isUnsubscribeForm(address: string): boolean {
  return hasSignedForm(PREFIX, address);
}
