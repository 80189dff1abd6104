/** The properties of this installation that the DNS records of sending domains depend on. */

import type { Config } from "./config/settings.ts";
import { isPublicAddress } from "./lib/ip-addresses.ts";
import type { Installation } from "./modules/domains/records.ts";

type Settings = Pick<Config, "transport" | "relayUrl" | "hostname" | "sourceAddresses">;

/**
 * The source addresses go into the records only if all are public. Behind network address
 * translation the public addresses are unknown, so the records name the host instead.
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
