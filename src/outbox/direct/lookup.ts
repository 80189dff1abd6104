/** DNS queries of direct delivery: the MX records of a domain and the addresses of a host. */

import type { Dns } from "../../protocols/dns/client.ts";
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
  /** The address families that mail is sent by. */
  families: ReadonlySet<IpFamily>;
  random: () => number;
};

export async function lookUpRoute(domain: string, options: LookupOptions): Promise<Route> {
  const { dns, ownNames, random } = options;
  return findRoute({ domain, mx: await dns.resolve(domain, "MX"), ownNames, random });
}

/**
 * Queries both families even if mail is sent by one only: a host that has addresses of the other
 * family exists, and the mail must not bounce.
 */
export async function lookUpAddresses(
  host: string,
  { dns, families, random }: LookupOptions,
): Promise<HostAddresses> {
  const [a, aaaa] = await Promise.all([dns.resolve(host, "A"), dns.resolve(host, "AAAA")]);
  return orderAddresses({ host, a, aaaa, families, random });
}
