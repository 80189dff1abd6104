/** The source addresses of outgoing connections. */

import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { IpFamily } from "./route.ts";

type Sources = {
  /**
   * Only the families of the configured addresses are dialled, because SPF names these addresses.
   */
  families: ReadonlySet<IpFamily>;
  /** The next address of the target's family, in rotation; undefined means any address. */
  next(target: string): string | undefined;
};

export function createSources(addresses: readonly string[]): Sources {
  const byFamily = new Map<IpFamily, string[]>();
  for (const address of addresses) {
    const family = isIP(address) === 6 ? 6 : 4;
    byFamily.set(family, [...(byFamily.get(family) ?? []), address]);
  }
  const counters = new Map<IpFamily, number>();
  return {
    families: addresses.length === 0 ? new Set([4, 6]) : new Set(byFamily.keys()),
    next(target) {
      const family = isIP(target) === 6 ? 6 : 4;
      const own = byFamily.get(family) ?? [];
      const count = counters.get(family) ?? 0;
      counters.set(family, count + 1);
      return own[count % own.length];
    },
  };
}

/** True if this machine has an IPv6 address that is neither loopback nor link-local. */
export function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some(
      ({ family, internal, address }) =>
        family === "IPv6" && !internal && !address.toLowerCase().startsWith("fe80:"),
    ),
  );
}
