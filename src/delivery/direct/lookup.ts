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

/** Both families, also if only one is dialled: a host elsewhere is not a host that is missing. */
export async function lookUpAddresses(
  host: string,
  { dns, families, random }: LookupOptions,
): Promise<HostAddresses> {
  const [a, aaaa] = await Promise.all([dns.resolve(host, "A"), dns.resolve(host, "AAAA")]);
  return orderAddresses({ host, a, aaaa, families, random });
}
