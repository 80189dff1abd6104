/** Ranges of IP addresses in settings: an address, or a CIDR range (RFC 4632 §3.1). */

import { isIP } from "node:net";
import ipaddr from "ipaddr.js";

type IpAddress = ipaddr.IPv4 | ipaddr.IPv6;
export type AddressRange = Readonly<{ base: IpAddress; prefixBits: number }>;

/** Number of bits before the IPv4 address in an IPv4-mapped address (RFC 4291 §2.5.5.2). */
const MAPPED_BITS = 96;
const PREFIX = /^(?:0|[1-9]\d{0,2})$/;

/** Returns null if the text is neither an address nor a range. */
export function parseAddressRange(text: string): AddressRange | null {
  const slash = text.indexOf("/");
  const address = slash === -1 ? text : text.slice(0, slash);
  if (isIP(address) === 0 || address.includes("%")) return null;
  const base = ipaddr.parse(address);
  const maxBits = base instanceof ipaddr.IPv4 ? 32 : 128;
  if (slash === -1) return unmapped(base, maxBits);
  const bits = text.slice(slash + 1);
  return PREFIX.test(bits) && Number(bits) <= maxBits ? unmapped(base, Number(bits)) : null;
}

/** The text of a range; that of a single address has no prefix. */
export function addressRangeText({ base, prefixBits }: AddressRange): string {
  const isSingle = prefixBits === (base instanceof ipaddr.IPv4 ? 32 : 128);
  return isSingle ? base.toString() : `${base.toString()}/${prefixBits}`;
}

function unmapped(base: IpAddress, prefixBits: number): AddressRange | null {
  if (base instanceof ipaddr.IPv4 || !base.isIPv4MappedAddress()) return { base, prefixBits };
  const bits = prefixBits - MAPPED_BITS;
  return bits < 0 ? null : { base: base.toIPv4Address(), prefixBits: bits };
}

/** Whether the address is in one of the ranges. False for text that is not an address. */
export function isInRanges(text: string, ranges: readonly AddressRange[]): boolean {
  if (ranges.length === 0) return false;
  const address = parseIpAddress(text);
  return address !== null && ranges.some((range) => isInRange(address, range));
}

function isInRange(address: IpAddress, { base, prefixBits }: AddressRange): boolean {
  if (address instanceof ipaddr.IPv4) {
    return base instanceof ipaddr.IPv4 && address.match(base, prefixBits);
  }
  return base instanceof ipaddr.IPv6 && address.match(base, prefixBits);
}

/** Parses an address, without its zone. An IPv4-mapped address becomes an IPv4 address. */
export function parseIpAddress(text: string): IpAddress | null {
  if (isIP(text) === 0) return null;
  const [withoutZone = ""] = text.split("%");
  const address = ipaddr.parse(withoutZone);
  const isMapped = address instanceof ipaddr.IPv6 && address.isIPv4MappedAddress();
  return isMapped ? address.toIPv4Address() : address;
}
