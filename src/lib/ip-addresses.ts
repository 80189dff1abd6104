/** Which IP addresses belong to the open internet, and so may be dialled for strangers. */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

/**
 * False for everything that is not a globally reachable host address: private, loopback,
 * link-local, carrier-grade NAT, multicast, broadcast, unspecified, documentation, benchmarking,
 * reserved, unique local, and addresses in which such a one is wrapped (docs/delivery.md#W6; the
 * registries of RFC 6890). False as well for text that is no address: `0x7f.1`, `fe80::1%eth0`.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes("%") || COMPATIBLE.test(text)) return false;
  const address = ipaddr.parse(text);
  if (address instanceof ipaddr.IPv4) return isPublicIPv4(address);
  const wrapped = embeddedIPv4(address);
  return wrapped === null ? isPublicIPv6(address) : isPublicIPv4(wrapped);
}

/** `::8.8.8.8` (RFC 4291 §2.5.5.1); ipaddr.js takes it for `::ffff:8.8.8.8`, the system does not. */
const COMPATIBLE = /^::\d+\./;

function isPublicIPv4(address: ipaddr.IPv4): boolean {
  return address.range() === "unicast";
}

const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Only 2000::/3 is given out (RFC 4291 §2.4). 6to4 and Teredo lie in it and are refused whatever
 * they wrap: nobody receives mail there (RFC 7526, RFC 4380).
 */
function isPublicIPv6(address: ipaddr.IPv6): boolean {
  return address.match(GLOBAL_UNICAST) && address.range() === "unicast";
}

const NAT64 = ipaddr.IPv6.parseCIDR("64:ff9b::/96");

/**
 * The IPv4 host that is reached by a mapped address (RFC 4291 §2.5.5.2) or through a translator
 * (RFC 6052 §2.1): on a machine with IPv6 only, all of the IPv4 internet looks like the latter. The
 * local-use translators of 64:ff9b:1::/48 (RFC 8215) may hold the IPv4 address anywhere: refused.
 */
export function embeddedIPv4(address: ipaddr.IPv6): ipaddr.IPv4 | null {
  if (address.isIPv4MappedAddress()) return address.toIPv4Address();
  return address.match(NAT64) ? new ipaddr.IPv4(address.toByteArray().slice(12)) : null;
}
