/**
 * MTA-STS (RFC 8461, docs/delivery.md#T5): finds the policy of a domain. In order: look up the TXT
 * record; if its id is the stored one, use the stored policy; otherwise fetch the policy and store
 * it for its max_age.
 *
 * If any of these steps fails, a stored policy that has not expired still applies (RFC 8461 §3.3).
 * Without one, the domain is treated as having no policy.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Dns } from "../dns/client.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { describeError, type Log } from "../../lib/log.ts";
import type { FetchPolicy } from "./fetch.ts";
import { parsePolicy, readRecordId, type Policy } from "./policy.ts";

export type StoredPolicy = {
  id: string;
  policy: Policy;
  /** Milliseconds since the epoch. */
  fetchedAt: number;
};

/** Stores policies. `get` may return an expired policy, which the caller ignores. */
export type PolicyStore = {
  get(domain: string): StoredPolicy | null;
  set(domain: string, stored: StoredPolicy): void;
};

export type MtaSts = {
  /** Returns the policy; null if the domain has none. Never rejects. */
  policyFor(domain: string): Promise<Policy | null>;
};

type MtaStsOptions = {
  dns: Pick<Dns, "resolve">;
  fetchPolicy: FetchPolicy;
  store: PolicyStore;
  clock: Pick<Clock, "now" | "elapsed">;
  log: Log;
};

/** Shortest time between two fetches after a failure (RFC 8461 §3.3). */
const RETRY_MS = 300_000;
/**
 * Age at which a stored policy is fetched again, long before it expires, so that an attacker cannot
 * block all fetches until then (RFC 8461 §10.2).
 */
const RENEWAL_MS = 86_400_000;
const MAX_POLICIES = 10_000;

/** A store in memory; store.ts has the one in the database. */
export function memoryPolicyStore(clock: Pick<Clock, "now" | "elapsed">): PolicyStore {
  const policies = new ExpiringMap<StoredPolicy>({ maxEntries: MAX_POLICIES, clock });
  return {
    get: (domain) => policies.get(domain) ?? null,
    set: (domain, policy) => policies.set(domain, policy, expiresAt(policy) - clock.now()),
  };
}

export function createMtaSts(options: MtaStsOptions): MtaSts {
  const { dns, fetchPolicy, store, clock, log } = options;
  const failures = new ExpiringMap<true>({ maxEntries: MAX_POLICIES, clock });
  const fetching = new Map<string, Promise<Policy | null>>();

  return {
    async policyFor(domain) {
      const texts = await dns.resolve(`_mta-sts.${domain}`, "TXT");
      const id = texts.kind === "records" ? readRecordId(texts.records) : null;
      const stored = findValid(domain);
      if (id === null) return stored?.policy ?? null;
      if (stored === null || stored.id !== id)
        return (await fetchOnce(domain, id)) ?? stored?.policy ?? null;
      if (clock.now() - stored.fetchedAt >= RENEWAL_MS) renew(domain, id);
      return stored.policy;
    },
  };

  function findValid(domain: string): StoredPolicy | null {
    const stored = store.get(domain);
    return stored !== null && clock.now() < expiresAt(stored) ? stored : null;
  }

  /** Fetches the policy again in the background; the current mail does not wait for it. */
  function renew(domain: string, id: string): void {
    fetchOnce(domain, id).catch((error: unknown) =>
      log.error("an MTA-STS policy could not be stored", { domain, error: describeError(error) }),
    );
  }

  /** Fetches once at a time for each domain; null if the fetch fails or failed recently. */
  function fetchOnce(domain: string, id: string): Promise<Policy | null> {
    const underWay = fetching.get(domain);
    if (underWay !== undefined) return underWay;
    if (failures.get(`${domain} ${id}`) !== undefined) return Promise.resolve(null);
    const promise = fetchAndStore(domain, id).finally(() => fetching.delete(domain));
    fetching.set(domain, promise);
    return promise;
  }

  async function fetchAndStore(domain: string, id: string): Promise<Policy | null> {
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

/** When the policy expires, in milliseconds since the epoch. */
export function expiresAt({ fetchedAt, policy }: StoredPolicy): number {
  return fetchedAt + policy.maxAgeSeconds * 1_000;
}
