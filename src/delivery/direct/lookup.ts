/** The look-ups behind a route: MX of a domain, addresses of a host. */

import type { Dns } from "../../lib/dns/client.ts";
import {
  findRoute,
  orderAddresses,
  type HostAddresses,
  type IpFamily,
  type Route,
} from "./route.ts";

export type LookupOptions = {
  dns: Pick<Dns, "resolve">;
  ownNames: ReadonlySet<string>;
  /** Those that are dialled at all. */
  families: ReadonlySet<IpFamily>;
  random: () => number;
};

export async function lookUpRoute(domain: string, options: LookupOptions): Promise<Route> {
  const { dns, ownNames, random } = options;
  return findRoute({ domain, mx: await dns.resolve(domain, "MX"), ownNames, random });
}

export async function lookUpAddresses(
  host: string,
  { dns, families, random }: LookupOptions,
): Promise<HostAddresses> {
  const [a, aaaa] = await Promise.all([
    families.has(4) ? dns.resolve(host, "A") : { kind: "none" as const },
    families.has(6) ? dns.resolve(host, "AAAA") : { kind: "none" as const },
  ]);
  return orderAddresses({ host, a, aaaa, random });
}
