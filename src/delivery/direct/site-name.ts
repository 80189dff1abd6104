/**
 * The site behind a set of MX hosts: what shares a receiver's limits (delivery rule S7). Not the
 * recipient's domain: thousands of them lie with one provider.
 */

import { sha256 } from "../../lib/crypto.ts";

/**
 * Providers that give customers MX hosts of their own, or several groups of them, and count what
 * comes from one sender over all. The host is the name or lies below it.
 */
const PROVIDERS: readonly string[] = [
  "barracudanetworks.com",
  "gmx.net",
  "google.com",
  "googlemail.com",
  "gpphosted.com",
  "hornetsecurity.com",
  "icloud.com",
  "iphmx.com",
  "kundenserver.de",
  "mail.protection.outlook.com",
  "messagelabs.com",
  "mimecast.com",
  "mx.microsoft",
  "olc.protection.outlook.com",
  "ovh.net",
  "ppe-hosted.com",
  "pphosted.com",
  "secureserver.net",
  "trendmicro.com",
  "trendmicro.eu",
  "yahoodns.net",
];

/** Asked for every mail. */
const ENDS = PROVIDERS.map((name) => [name, `.${name}`] as const);

const LONGEST_NAME = 120;

/**
 * `best` are the hosts of the best preference, sorted. A provider's name, or the hosts themselves:
 * domains with the same ones share a site. Two small servers never become one by chance.
 */
export function siteName(best: readonly string[]): string {
  const providers = new Set(best.map(providerOf));
  const [provider = null] = providers;
  if (provider !== null && providers.size === 1) return provider;
  const name = best.join(" ");
  return name.length <= LONGEST_NAME ? name : sha256(name);
}

function providerOf(host: string): string | null {
  return ENDS.find(([name, end]) => host === name || host.endsWith(end))?.[0] ?? null;
}
