/**
 * Why a mail goes nowhere: what the operator and the sender read about it, whether it is for now or
 * for good, and whose matter it is (delivery rules R1, R2).
 */

import type { ReplyClass } from "../../mail/reply-classes.ts";

/** `reason` begins with the enhanced status code (RFC 3463). */
export type Obstacle = Finding<"deferred"> | Finding<"bounced"> | Finding<"failed">;
type Finding<Kind> = { kind: Kind; class: ReplyClass; reason: string };

export function invalidDomain(): Obstacle {
  const reason = "5.1.3 the recipient's domain is no domain name";
  return { kind: "failed", class: "content", reason };
}

/** Delivery rule W2; whether it is our resolver or theirs cannot be told from here. */
export function unanswered(domain: string, reason: string): Obstacle {
  const text = `4.4.3 the DNS does not say where mail for ${domain} goes: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

export function missingDomain(domain: string): Obstacle {
  const reason = `5.1.2 the domain ${domain} does not exist`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** RFC 3463 §3.2: 5.1.2 is also for a system that is "incapable of accepting mail". */
export function domainWithoutHost(domain: string): Obstacle {
  const reason = `5.1.2 the domain ${domain} has neither MX records nor an address`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

export function nullMx(domain: string): Obstacle {
  const reason = `5.1.10 the domain ${domain} takes no mail: its MX record says so (RFC 7505)`;
  return { kind: "bounced", class: "no_such_recipient", reason };
}

/** What we know of ourselves is wrong, or their DNS: for the operator, not against the recipient. */
export function loop(domain: string): Obstacle {
  const reason = `5.4.6 mail for ${domain} would come back: its MX records name this server`;
  return { kind: "bounced", class: "infrastructure", reason };
}

/** Never the domain's own address instead (delivery rule W3); such a slip is soon mended. */
export function unusableHosts(domain: string): Obstacle {
  const reason = `4.4.4 no MX record of ${domain} names a host that can be reached`;
  return { kind: "deferred", class: "temporary", reason };
}

export function suspended(domain: string, reason: string): Obstacle {
  const text = `4.4.1 not tried, no host of ${domain} could be reached a moment ago: ${reason}`;
  return { kind: "deferred", class: "infrastructure", reason: text };
}

/** RFC 8461 §5: such a host must not get the mail; the policy or the MX records may be mended. */
export function forbiddenHosts(domain: string, hosts: readonly string[]): Obstacle {
  const names = hosts.slice(0, 3).join(", ");
  const reason = `4.7.5 the MTA-STS policy of ${domain} allows none of its hosts: ${names}`;
  return { kind: "deferred", class: "infrastructure", reason };
}
