/** The addresses of this machine that mail leaves from. */

import { isIP } from "node:net";
import { networkInterfaces } from "node:os";
import type { IpFamily } from "./route.ts";

export type Sources = {
  /** With source addresses given, only their families are dialled: SPF names these addresses. */
  families: ReadonlySet<IpFamily>;
  /** The next one in turn of the target's family; undefined leaves the choice to the system. */
  next(target: string): string | undefined;
};

export function createSources(addresses: readonly string[]): Sources {
  const byFamily = new Map<IpFamily, string[]>();
  for (const address of addresses) {
    const family = isIP(address) === 6 ? 6 : 4;
    byFamily.set(family, [...(byFamily.get(family) ?? []), address]);
  }
  const turns = new Map<IpFamily, number>();
  return {
    families: addresses.length === 0 ? new Set([4, 6]) : new Set(byFamily.keys()),
    next(target) {
      const family = isIP(target) === 6 ? 6 : 4;
      const own = byFamily.get(family) ?? [];
      const turn = turns.get(family) ?? 0;
      turns.set(family, turn + 1);
      return own[turn % own.length];
    },
  };
}

/** Whether this machine has an IPv6 address beyond itself and its own link. */
export function hasIPv6(): boolean {
  return Object.values(networkInterfaces()).some((addresses = []) =>
    addresses.some(
      ({ family, internal, address }) =>
        family === "IPv6" && !internal && !address.toLowerCase().startsWith("fe80:"),
    ),
  );
}
