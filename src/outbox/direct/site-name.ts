/**
 * Names the site of a set of MX hosts. All mail to one site shares its limits
 * (docs/delivery.md#S7). The recipient's domain would not do, because one provider hosts thousands
 * of domains.
 */

import { sha256 } from "../../lib/crypto.ts";

/**
 * Providers that give each customer different MX hosts but count the mail of one sender over all of
 * them. A host belongs to the provider if it has this name or is a subdomain of it.
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

/** Computed once, because each mail compares them. */
const SUFFIXES = PROVIDERS.map((name) => [name, `.${name}`] as const);

const LONGEST_NAME = 120;

/**
 * Returns the provider's name, or else the hosts themselves, so that unrelated servers never share
 * a site. `best` are the hosts of the best preference, sorted.
 */
export function siteName(best: readonly string[]): string {
  const providers = new Set(best.map(providerOf));
  const [provider = null] = providers;
  if (provider !== null && providers.size === 1) return provider;
  const name = best.join(" ");
  return name.length <= LONGEST_NAME ? name : sha256(name);
}

function providerOf(host: string): string | null {
  return SUFFIXES.find(([name, end]) => host === name || host.endsWith(end))?.[0] ?? null;
}
