/** The address filter of the list of mails: a whole address, or `@` and a domain. */

import { trimBlanks } from "../lib/trim.ts";
import { canonicalDomain, parseAddress } from "../protocols/mime/address.ts";
import { searchedAddress } from "../protocols/mime/mailbox.ts";

/** The address or the domain in its stored spelling. `ending` is `@` and the domain. */
type AddressFilter = { address: string } | { ending: string };

/** Returns null if the text is neither an address nor `@` and a domain. */
export function parseAddressFilter(text: string): AddressFilter | null {
  const trimmed = trimBlanks(searchedAddress(text));
  if (trimmed.startsWith("@")) {
    const domain = canonicalDomain(trimmed.slice(1));
    return domain === null ? null : { ending: `@${domain}` };
  }
  const parsed = parseAddress(trimmed);
  return parsed.ok ? { address: parsed.address } : null;
}
