/** What lists of mails are filtered by: a whole address, or `@` and a domain. */

import { trimBlanks } from "../lib/trim.ts";
import { canonicalDomain, parseAddress } from "../protocols/mime/address.ts";

/** In the spelling in which addresses are kept. `ending`: `@` and the domain. */
export type AddressFilter = { address: string } | { ending: string };

/** Null for text that is neither. */
export function parseAddressFilter(text: string): AddressFilter | null {
  const trimmed = trimBlanks(text);
  if (trimmed.startsWith("@")) {
    const domain = canonicalDomain(trimmed.slice(1));
    return domain === null ? null : { ending: `@${domain}` };
  }
  const parsed = parseAddress(text);
  return parsed.ok ? { address: parsed.address } : null;
}
