/** How mail leaves this installation, as far as the DNS records of sending domains depend on it. */

import type { Config } from "./config.ts";
import { isPublicAddress } from "./lib/ip-addresses.ts";
import type { Installation } from "./modules/domains/records.ts";

type Settings = Pick<Config, "transport" | "relayUrl" | "hostname" | "sourceAddresses">;

/** Behind a translator the public addresses are not ours to know: then our name stands for them. */
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
