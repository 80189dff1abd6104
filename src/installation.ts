/** Properties of this installation that derive from its settings. */

import type { Config } from "./config/settings.ts";
import { isPublicAddress } from "./lib/ip-addresses.ts";
import type { Installation } from "./modules/domains/records.ts";

/** An IPv6 address in a URL is in brackets. */
export function hostInUrl(host: string): string {
  return host.includes(":") ? `[${host}]` : host;
}

/** The public base of links, without a slash at the end. */
export function linkBase({ url, host, port }: Pick<Config, "url" | "host" | "port">): string {
  return url ?? `http://${hostInUrl(host)}:${port}`;
}

type Settings = Pick<Config, "transport" | "relayUrl" | "hostname" | "sourceAddresses">;

/**
 * The facts on which the DNS records of sending domains depend. The source addresses go into the
 * records only if all are public. Behind network address translation the public addresses are
 * unknown, so the records name the host instead.
 */
export function installationOf(config: Settings): Installation {
  const { transport, relayUrl, hostname, sourceAddresses } = config;
  const isAllPublic = sourceAddresses.every(isPublicAddress);
  return {
    mode: transport === "relay" ? "relay" : "direct",
    hostname,
    addresses: isAllPublic ? sourceAddresses : [],
    relayHost: relayUrl?.host ?? null,
  };
}
