/**
 * The address to which bounces go (docs/delivery.md#C5): `b+<token>@<bounce host>`. The token holds the
 * email's id and a keyed digest of it.
 */

import { makeSignedAddress, openSignedAddress } from "../lib/signed-address.ts";

const PREFIX = "b+";

/** The host that bounces of a sending domain go to, and the name that SPF is asked about. */
export function bounceHostOf(domain: string): string {
  return `bounce.${domain}`;
}

/** 47 octets before the @. Null where the host is too long for an address. */
export function makeReturnPath(key: Uint8Array, emailId: string, host: string): string | null {
  return makeSignedAddress(PREFIX, key, { id: emailId, host });
}

/** The id of the email that a bounce to this address is about; null if it is none of ours. */
export function openReturnPath(key: Uint8Array, address: string): string | null {
  return openSignedAddress(PREFIX, key, address);
}
