/**
 * Outcomes of mails for which no host can be tried: the reason that operator and sender read,
 * whether it is temporary or permanent, and its class (docs/delivery.md#R1, docs/delivery.md#R2). A
 * reason begins with the enhanced status code (RFC 3463).
 */

import type { Decision } from "../outcome.ts";

export function invalidDomain(): Decision {
  const reason = "5.1.3 the recipient's domain is not a valid domain name";
  return { kind: "failed", class: "content", reason };
}

/** A DNS failure is temporary (docs/delivery.md#W2); either side's name servers may cause it. */
export function unanswered(domain: string, reason: string): Decision {
  const text = `4.4.3 the MX records of ${domain} could not be looked up: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

export function missingDomain(domain: string): Decision {
  const reason = `5.1.2 the domain ${domain} does not exist`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** The code 5.1.2 also means a system that is "incapable of accepting mail" (RFC 3463 §3.2). */
export function domainWithoutHost(domain: string): Decision {
  const reason = `5.1.2 the domain ${domain} has neither MX records nor an address`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

export function nullMx(domain: string): Decision {
  const reason = `5.1.10 the domain ${domain} accepts no mail: it has a null MX record (RFC 7505)`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** Either our own names or the domain's DNS are misconfigured; the recipient is not at fault. */
export function loop(domain: string): Decision {
  const reason = `5.4.6 mail for ${domain} would loop: its MX records name this server`;
  return { kind: "bounced", class: "infrastructure", reason };
}

/**
 * Temporary, because such a mistake in the DNS is usually fixed soon. The domain's own address is
 * not tried instead (docs/delivery.md#W3).
 */
export function unusableHosts(domain: string): Decision {
  const reason = `4.4.4 no MX record of ${domain} names a usable host`;
  return { kind: "deferred", class: "temporary", reason };
}

export function suspended(domain: string, reason: string): Decision {
  const text = `4.4.1 not tried, no host of ${domain} could be reached recently: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

/**
 * Such a host must not get the mail (RFC 8461 §5). Temporary: policy or MX records may be fixed.
 */
export function forbiddenHosts(domain: string, hosts: readonly string[]): Decision {
  const names = hosts.slice(0, 3).join(", ");
  const reason = `4.7.5 the MTA-STS policy of ${domain} allows none of its hosts: ${names}`;
  return { kind: "deferred", class: "infrastructure", reason };
}
