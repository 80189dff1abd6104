/**
 * MTA-STS (RFC 8461, delivery rule T5): which policy holds for a domain at this moment.
 *
 *   TXT record → id known? → the kept policy, else fetch it → keep it for its max_age
 *
 * Whatever goes wrong on this way, a policy that was kept and has not expired goes on to hold (§3.3);
 * without one the domain is treated as having none.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Dns } from "../../lib/dns/client.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { FetchPolicy } from "./fetch.ts";
import { parsePolicy, readRecordId, type Policy } from "./policy.ts";

export type KeptPolicy = {
  id: string;
  policy: Policy;
  /** Milliseconds since the epoch. */
  fetchedAt: number;
};

/** Where policies are kept; what has expired may be returned, it is not used. */
export type PolicyStore = {
  get(domain: string): KeptPolicy | null;
  set(domain: string, kept: KeptPolicy): void;
};

export type MtaSts = {
  /** Null if the domain has none. Never rejects. */
  policyFor(domain: string): Promise<Policy | null>;
};

export type MtaStsOptions = {
  dns: Pick<Dns, "resolve">;
  fetchPolicy: FetchPolicy;
  store: PolicyStore;
  clock: Pick<Clock, "now" | "elapsed">;
  log: Log;
};

/** RFC 8461 §3.3: no sooner again after a failure. */
const RETRY_MS = 300_000;
/** RFC 8461 §10.2: kept policies are renewed long before they end, so that none can be starved. */
const RENEWAL_MS = 86_400_000;
const MOST_POLICIES = 10_000;

/** For one process; what outlives it is in store.ts. */
export function memoryPolicyStore(clock: Pick<Clock, "now" | "elapsed">): PolicyStore {
  const kept = new ExpiringMap<KeptPolicy>({ maxEntries: MOST_POLICIES, clock });
  return {
    get: (domain) => kept.get(domain) ?? null,
    set: (domain, policy) => kept.set(domain, policy, endOf(policy) - clock.now()),
  };
}

export function createMtaSts(options: MtaStsOptions): MtaSts {
  const { dns, fetchPolicy, store, clock, log } = options;
  const failures = new ExpiringMap<true>({ maxEntries: MOST_POLICIES, clock });
  const fetching = new Map<string, Promise<Policy | null>>();

  return {
    async policyFor(domain) {
      const texts = await dns.resolve(`_mta-sts.${domain}`, "TXT");
      const id = texts.kind === "records" ? readRecordId(texts.records) : null;
      const kept = recall(domain);
      if (id === null) return kept?.policy ?? null;
      if (kept === null || kept.id !== id)
        return (await fetchOnce(domain, id)) ?? kept?.policy ?? null;
      if (clock.now() - kept.fetchedAt >= RENEWAL_MS) renew(domain, id);
      return kept.policy;
    },
  };

  function recall(domain: string): KeptPolicy | null {
    const kept = store.get(domain);
    return kept !== null && clock.now() < endOf(kept) ? kept : null;
  }

  /** The mail at hand does not wait for it. */
  function renew(domain: string, id: string): void {
    fetchOnce(domain, id).catch((error: unknown) =>
      log.error("an MTA-STS policy could not be kept", { domain, error: describeError(error) }),
    );
  }

  /** One fetch at a time for a domain; null if it failed, now or a short while ago. */
  function fetchOnce(domain: string, id: string): Promise<Policy | null> {
    const underWay = fetching.get(domain);
    if (underWay !== undefined) return underWay;
    if (failures.get(`${domain} ${id}`) !== undefined) return Promise.resolve(null);
    const promise = fetchAndKeep(domain, id).finally(() => fetching.delete(domain));
    fetching.set(domain, promise);
    return promise;
  }

  async function fetchAndKeep(domain: string, id: string): Promise<Policy | null> {
    const fetched = await fetchPolicy(domain);
    const parsed = fetched.ok ? parsePolicy(fetched.text) : fetched;
    if (!parsed.ok) {
      failures.set(`${domain} ${id}`, true, RETRY_MS);
      log.info("no MTA-STS policy could be fetched", { domain, reason: parsed.reason });
      return null;
    }
    store.set(domain, { id, policy: parsed.policy, fetchedAt: clock.now() });
    return parsed.policy;
  }
}

/** When it does not hold any more, in milliseconds since the epoch. */
export function endOf({ fetchedAt, policy }: KeptPolicy): number {
  return fetchedAt + policy.maxAgeSeconds * 1_000;
}
