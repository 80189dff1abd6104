/**
 * Delivery straight to the recipients' own mail servers. The steps for one mail:
 *
 *   domain → connection slot → MX and policy → slot of the site → host after host → outcome
 *
 * A mail for which there is no slot is returned to the queue at once; that is not an attempt.
 */

import { isIP } from "node:net";
import { isPublicAddress } from "../../lib/addresses.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Dns } from "../../lib/dns/client.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { Log } from "../../lib/log.ts";
import { Gate, type Admission } from "../direct/gate.ts";
import { lookUpAddresses, lookUpRoute, type LookupOptions } from "../direct/lookup.ts";
import {
  domainWithoutHost,
  forbiddenHosts,
  invalidDomain,
  suspended,
  unusableHosts,
  type Obstacle,
} from "../direct/obstacles.ts";
import { recipientDomain, type Route } from "../direct/route.ts";
import {
  deliverToHosts,
  type Journey,
  type Memory,
  type RunDeps,
  type RunEnd,
} from "../direct/run.ts";
import { siteName } from "../direct/site-name.ts";
import type { SiteStore } from "../direct/site-store.ts";
import type { DirectSlot } from "../direct/slot.ts";
import { createSources, hasIPv6 } from "../direct/sources.ts";
import type { MtaSts } from "../mta-sts/mta-sts.ts";
import { allowsHost } from "../mta-sts/policy.ts";
import {
  type Dispatch,
  type Outcome,
  type StepListener,
  type Transport,
  deferWithoutSlot,
} from "../outcome.ts";
import { Pool } from "../smtp/pool.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "../smtp/timeouts.ts";

export type DirectOptions = {
  dns: Pick<Dns, "resolve">;
  /** Our name in EHLO. */
  hostname: string;
  clock: Clock;
  log: Log;
  /** 25 on the open internet. */
  port?: number | undefined;
  /** Mail leaves from these in turn, each for targets of its family; none: as the system says. */
  sourceAddresses?: readonly string[] | undefined;
  /** For tests and private networks: delivery rule W6 is off. */
  allowPrivateAddresses?: boolean | undefined;
  /** Names of this server beside `hostname`, for loops (delivery rule W4). */
  ownNames?: readonly string[] | undefined;
  timeouts?: Partial<Timeouts> | undefined;
  onStep?: StepListener | undefined;
  /** Mails at once while no site is slow; those that wait at slow sites come on top (slot-budget.ts). */
  concurrency?: number | undefined;
  /** What is known of sites; without it that is lost at the end of the process. */
  siteStore?: SiteStore | undefined;
  /** Without it no policy is looked for. */
  mtaSts?: MtaSts | null | undefined;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  random?: (() => number) | undefined;
};

export type DirectTransport = Transport<DirectSlot> & { admit(to: string): Admission };

const SMTP_PORT = 25;
const DEFAULT_CONCURRENCY = 50;
/** How long a host goes in clear after its TLS failed (delivery rule T2). */
const CLEAR_MS = 3_600_000;
/** How long an address that did not answer is tried last. */
const DEAD_MS = 300_000;
const MOST_REMEMBERED = 10_000;

export function directTransport(options: DirectOptions): DirectTransport {
  const { dns, hostname, clock, mtaSts = null, concurrency = DEFAULT_CONCURRENCY } = options;
  const { sourceAddresses = [], ownNames = [], random = Math.random } = options;
  const pool = new Pool({ maxConnections: concurrency });
  const gate = new Gate({ slots: concurrency, clock, store: options.siteStore });
  let isClosing = false;
  const sources = createSources(sourceAddresses);
  const totalMs = options.timeouts?.totalMs ?? DEFAULT_TIMEOUTS.totalMs;
  const lookup: LookupOptions = {
    dns,
    ownNames: new Set([hostname, ...ownNames].map((name) => name.toLowerCase())),
    families: sources.families,
    random,
  };
  const runDeps: Omit<RunDeps, "isLate"> = {
    pool,
    port: options.port ?? SMTP_PORT,
    addressesOf: (host) => lookUpAddresses(host, lookup),
    session: {
      hostname,
      timeouts: options.timeouts,
      onStep: options.onStep,
      checkAddress: options.allowPrivateAddresses === true ? undefined : objectToAddress,
    },
    sourceFor: sources.next,
    withoutTls: memory(CLEAR_MS, clock, (key) =>
      options.log.info("TLS failed with a host: in clear for an hour", { host: key }),
    ),
    dead: memory(DEAD_MS, clock),
    ca: options.ca,
  };

  return {
    name: "direct",
    concurrency,
    mostUnderWay: gate.limit,
    mostAhead: concurrency,
    admit,
    async send(dispatch, slot) {
      const domain = recipientDomain(dispatch.envelope.to);
      const admission = slot ?? (domain === null ? FREE_SLOT : gate.admit(domain));
      if (admission.kind === "busy") return deferWithoutSlot(admission);
      try {
        return domain === null
          ? ended(invalidDomain())
          : await travel({ domain, dispatch, slot: admission });
      } finally {
        admission.release();
      }
    },
    async close() {
      isClosing = true;
      await gate.close();
      await pool.close();
    },
  };

  function admit(to: string): Admission {
    const domain = recipientDomain(to);
    return domain === null ? FREE_SLOT : gate.admit(domain);
  }

  async function travel({ domain, dispatch, slot }: Trip): Promise<Outcome> {
    const [route, policy] = await Promise.all([
      lookUpRoute(domain, lookup),
      mtaSts?.policyFor(domain) ?? null,
    ]);
    if (route.kind === "obstacle") return ended(route.obstacle);
    const requiresTls = policy?.mode === "enforce";
    const hosts = requiresTls
      ? route.hosts.filter((host) => allowsHost(policy, host))
      : route.hosts;
    if (hosts.length === 0) return ended(forbiddenHosts(domain, route.hosts));

    const entry = await slot.enter(siteName(route.best));
    if (entry.kind === "busy") return deferWithoutSlot(entry);
    if (entry.kind === "suspended") return ended(suspended(domain, entry.reason));
    const end = await deliver({ dispatch, hosts, requiresTls }, slot);
    if (end.busy !== null) return deferWithoutSlot(end.busy);
    // A session that we ended ourselves says nothing about the site.
    if (end.result !== null && !isClosing) slot.end(end.result);
    if (end.outcome === null) return nowhere(domain, route, end);
    return requiresTls ? nameThePolicy(end.outcome, domain) : end.outcome;
  }

  function deliver(
    { dispatch, hosts, requiresTls }: Pick<Journey, "dispatch" | "hosts" | "requiresTls">,
    slot: DirectSlot,
  ): Promise<RunEnd> {
    const preemption = new AbortController();
    const { signal } = preemption;
    slot.onPreempted(() => preemption.abort());
    const startedAt = systemClock.elapsed();
    const isLate = () => signal.aborted || systemClock.elapsed() - startedAt > totalMs;
    const reserve = (address: string) => slot.reserve(address);
    const isHurried = () => slot.isHurried();
    const journey = { dispatch: { ...dispatch, signal }, hosts, requiresTls, reserve, isHurried };
    return deliverToHosts({ ...runDeps, isLate }, journey);
  }
}

type Trip = { domain: string; dispatch: Dispatch; slot: DirectSlot };

/** The slot of a mail to an invalid domain: it fails before anything is asked of its slot. */
const FREE_SLOT: DirectSlot = {
  kind: "slot",
  waitList: null,
  enter: () => Promise.resolve({ kind: "entered" }),
  reserve: () => null,
  isHurried: () => false,
  onPreempted: () => {},
  end: () => {},
  release: () => {},
};

function memory(
  lifetimeMs: number,
  clock: Pick<Clock, "elapsed">,
  onAdd: (key: string) => void = () => {},
): Memory {
  const keys = new ExpiringMap<true>({ maxEntries: MOST_REMEMBERED, clock });
  return {
    has: (key) => keys.get(key) === true,
    add(key) {
      keys.set(key, true, lifetimeMs);
      onAdd(key);
    },
  };
}

/** Delivery rule W6, asked about each address that is about to be dialled. */
function objectToAddress(address: string): string | null {
  if (!isPublicAddress(address)) return "not an address of the open internet";
  return isIP(address) === 6 && !hasIPv6() ? "this machine has no IPv6" : null;
}

function ended(obstacle: Obstacle): Outcome {
  return { ...obstacle, conversations: [] };
}

/** None of the hosts has an address. */
function nowhere(domain: string, route: Extract<Route, { kind: "hosts" }>, end: RunEnd): Outcome {
  const conversations = route.isImplicit ? [] : end.conversations;
  return { ...whyNowhere(domain, route, end), conversations };
}

function whyNowhere(
  domain: string,
  route: Extract<Route, { kind: "hosts" }>,
  { missing }: RunEnd,
): Obstacle {
  const failed = missing.find(({ kind }) => kind === "failed");
  if (failed !== undefined) {
    return { kind: "deferred", class: "infrastructure", reason: failed.reason };
  }
  return route.isImplicit ? domainWithoutHost(domain) : unusableHosts(domain);
}

function nameThePolicy(outcome: Outcome, domain: string): Outcome {
  if (outcome.kind !== "deferred" || outcome.class !== "infrastructure") return outcome;
  const reason = `${outcome.reason}; the MTA-STS policy of ${domain} demands valid TLS`;
  return { ...outcome, reason };
}
