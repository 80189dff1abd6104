/** Checks whether a name may be a sending domain, and names hosts as DNS providers want them. */

import { getDomain, getPublicSuffix } from "tldts";
import { trimBlanks } from "../../lib/trim.ts";
import { canonicalDomain } from "../../protocols/mime/address.ts";

type SendingDomain =
  | { ok: true; domain: string }
  /** `reason` is worded as the message of a field error. */
  | { ok: false; reason: string };

/**
 * Longest domain, in characters: the names of its DNS records are longer than the domain itself and
 * limited to 255 octets (RFC 1035 §2.3.4).
 */
const LONGEST_DOMAIN = 200;

/** Returns the domain in canonical form: lower case, A-labels, without the final dot. */
export function parseSendingDomain(text: string): SendingDomain {
  const domain = canonicalDomain(trimBlanks(text).replace(/\.$/, ""));
  if (domain === null) return refuse("must be a domain such as example.com");
  if (domain.length > LONGEST_DOMAIN) {
    return refuse(`must have at most ${LONGEST_DOMAIN} characters`);
  }
  if (getPublicSuffix(domain) === domain) {
    return refuse(
      `must not be a public suffix such as ${domain}, whose subdomains belong to many owners`,
    );
  }
  return { ok: true, domain };
}

function refuse(reason: string): SendingDomain {
  return { ok: false, reason };
}

/** The domain that was registered, of a name in it; null if there is none. */
export const registeredDomain = (name: string): string | null =>
  getDomain(name, { allowPrivateDomains: true });

/**
 * The name of a record in the zone of its domain, as most DNS providers want it: relative to the
 * domain that was registered, and `@` for that domain itself. `news.example.com` has no zone of its
 * own, unless its owner made one.
 */
export function hostInZone(name: string, domain: string): string {
  const zone = registeredDomain(domain) ?? domain;
  if (name === zone) return "@";
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}
