/**
 * Delivery straight to the recipients' own mail servers. The steps for one mail:
 *
 *   domain → connection slot → MX and policy → slot of the site → host after host → outcome
 *
 * A mail for which there is no slot is returned to the queue at once; that is not an attempt.
 */

import { isIP } from "node:net";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import { type Clock, systemClock } from "../../lib/clock.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { Log } from "../../lib/log.ts";
import { type Admission, type DirectSlot, Gate } from "../direct/gate.ts";
import {
  createSources,
  domainWithoutHost,
  forbiddenHosts,
  hasIPv6,
  invalidDomain,
  lookUpAddresses,
  lookUpRoute,
  type LookupOptions,
  recipientDomain,
  type Route,
  siteName,
  suspended,
  unusableHosts,
} from "../direct/route.ts";
import {
  deliverToHosts,
  type HostDelivery,
  type RecentSet,
  type RunDeps,
  type RunResult,
} from "../direct/hosts.ts";
import type { SiteStore } from "../direct/stores.ts";
import type { MtaSts } from "../../protocols/mta-sts/mta-sts.ts";
import { allowsHost } from "../../protocols/mta-sts/policy.ts";
import {
  type Busy,
  type Decision,
  type Outcome,
  type Transport,
  deferWithoutSlot,
} from "../outcome.ts";
import type { Dispatch } from "../../protocols/smtp/dispatch.ts";
import type { StepListener } from "../../protocols/smtp/conversation.ts";
import { Pool } from "../../protocols/smtp/pool.ts";
import { DEFAULT_TIMEOUTS, type Timeouts } from "../../protocols/smtp/timeouts.ts";

export type DirectOptions = {
  dns: Pick<Dns, "resolve">;
  /** Our name in EHLO. */
  hostname: string;
  clock: Clock;
  log: Log;
  /** Default 25. */
  port?: number | undefined;
  /** Source addresses, used in rotation for targets of their family; if empty, any address. */
  sourceAddresses?: readonly string[] | undefined;
  /** Allows private addresses, for tests and private networks (docs/delivery.md#W6). */
  allowPrivateAddresses?: boolean | undefined;
  /** Further names of this server, to detect loops (docs/delivery.md#W4). */
  ownNames?: readonly string[] | undefined;
  timeouts?: Partial<Timeouts> | undefined;
  /** Measures the sessions; by default the clock of the system. */
  sessionClock?: Clock | undefined;
  onStep?: StepListener | undefined;
  /** Largest number of mails under way while no site is slow (direct/gate.ts). */
  concurrency?: number | undefined;
  /** Stores the state of sites; without it, the state is in memory only. */
  siteStore?: SiteStore | undefined;
  /** Without it, no MTA-STS policy is applied. */
  mtaSts?: MtaSts | null | undefined;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  random?: (() => number) | undefined;
};

export type DirectTransport = Transport<DirectSlot> & {
  admit(to: string, isUrgent?: boolean): Admission;
};

const SMTP_PORT = 25;
const DEFAULT_CONCURRENCY = 50;
/** How long a host gets mail in cleartext after its TLS failed (docs/delivery.md#T2). */
const CLEARTEXT_MS = 3_600_000;
/**
 * How long an address that failed is tried after all others. It is longer than the first pause of a
 * mail, so that its next attempt reaches the hosts for which this one had no time.
 */
const FAILED_MS = 600_000;
const MAX_ENTRIES = 10_000;

export function directTransport(options: DirectOptions): DirectTransport {
  const { dns, hostname, clock, mtaSts = null, concurrency = DEFAULT_CONCURRENCY } = options;
  const { sourceAddresses = [], ownNames = [], random = Math.random } = options;
  const { sessionClock = systemClock } = options;
  const pool = new Pool({ maxConnections: concurrency, clock: sessionClock });
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
      clock: sessionClock,
      onStep: options.onStep,
      checkAddress: options.allowPrivateAddresses === true ? undefined : whyNotDialled,
    },
    sourceFor: sources.next,
    withoutTls: recentSet(CLEARTEXT_MS, clock, (key) =>
      options.log.info("TLS failed with a host: it gets mail in cleartext for an hour", {
        host: key,
      }),
    ),
    failed: recentSet(FAILED_MS, clock),
    ca: options.ca,
  };

  return {
    name: "direct",
    concurrency,
    maxUnderWay: gate.limit,
    maxPrefetch: concurrency,
    admit,
    holdOf: (waitList) => gate.holdOf(waitList),
    async send(dispatch, slot) {
      const domain = recipientDomain(dispatch.envelope.to);
      const admission = slot ?? admit(dispatch.envelope.to, dispatch.isUrgent);
      if (admission.kind === "busy") return deferWithoutSlot(admission);
      try {
        return domain === null
          ? withoutSession(invalidDomain())
          : await sendToDomain({ domain, dispatch, slot: admission });
      } catch (error) {
        if (error instanceof SlotTaken) return deferWithoutSlot(error.busy);
        throw error;
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

  function admit(to: string, isUrgent = false): Admission {
    const domain = recipientDomain(to);
    return domain === null ? FREE_SLOT : gate.admit(domain, isUrgent);
  }

  async function sendToDomain({ domain, dispatch, slot }: DomainMail): Promise<Outcome> {
    const [route, policy] = await Promise.all([
      lookUpRoute(domain, lookup),
      mtaSts?.policyFor(domain) ?? null,
    ]);
    if (route.kind === "obstacle") return withoutSession(route.obstacle);
    const requiresTls = policy?.mode === "enforce";
    const hosts = requiresTls
      ? route.hosts.filter((host) => allowsHost(policy, host))
      : route.hosts;
    if (hosts.length === 0) return withoutSession(forbiddenHosts(domain, route.hosts));

    const entry = await slot.enter(siteName(route.best), dispatch.isUrgent);
    if (entry.kind === "busy") return deferWithoutSlot(entry);
    if (entry.kind === "suspended") return withoutSession(suspended(domain, entry.reason));
    const result = await deliver({ dispatch, hosts, requiresTls }, slot);
    // A session that this process closed itself says nothing about the site.
    if (result.siteResult !== null && !isClosing) slot.end(result.siteResult);
    if (result.outcome === null) return withoutAddress(domain, route, result);
    return requiresTls ? withPolicyReason(result.outcome, domain) : result.outcome;
  }

  function deliver(
    { dispatch, hosts, requiresTls }: Pick<HostDelivery, "dispatch" | "hosts" | "requiresTls">,
    slot: DirectSlot,
  ): Promise<RunResult> {
    const preemption = new AbortController();
    const { signal } = preemption;
    // A slot is preempted inside a database transaction, which must not wait for the next mail.
    slot.onPreempted(() => queueMicrotask(() => preemption.abort()));
    const startedAt = sessionClock.elapsed();
    const isLate = () => signal.aborted || sessionClock.elapsed() - startedAt > totalMs;
    const reserve = (address: string) => slot.reserve(address);
    const isHurried = () => slot.isHurried();
    const whenAllowed = whenAllowedUnlessTaken(dispatch, slot);
    return deliverToHosts(
      { ...runDeps, isLate },
      { dispatch: { ...dispatch, signal, whenAllowed }, hosts, requiresTls, reserve, isHurried },
    );
  }
}

/** An urgent mail took the slot of a mail that waited for the pace. `busy` says when to try again. */
class SlotTaken extends Error {
  readonly busy: Busy;

  constructor(busy: Busy) {
    super("an urgent mail took the slot");
    this.busy = busy;
  }
}

/** While mail that is not urgent waits for the pace, an urgent mail may take its slot and session. */
function whenAllowedUnlessTaken(
  { whenAllowed, isUrgent = false }: Dispatch,
  slot: DirectSlot,
): Dispatch["whenAllowed"] {
  if (whenAllowed === undefined || isUrgent) return whenAllowed;
  return (begin, refuse) => {
    let isTaken = false;
    slot.onTaken((busy) => {
      isTaken = true;
      // A slot is taken inside a database transaction, which must not wait for the next mail.
      queueMicrotask(() => refuse(new SlotTaken(busy)));
    });
    whenAllowed(
      (ended) => {
        if (isTaken) return ended();
        slot.onTaken(null);
        begin(ended);
      },
      (error) => {
        if (!isTaken) refuse(error);
      },
    );
  };
}

type DomainMail = { domain: string; dispatch: Dispatch; slot: DirectSlot };

/** The slot of a mail to an invalid domain, which fails before the slot is used. */
const FREE_SLOT: DirectSlot = {
  kind: "slot",
  waitList: null,
  enter: () => Promise.resolve({ kind: "entered" }),
  reserve: () => null,
  isHurried: () => false,
  onPreempted: () => {},
  onTaken: () => {},
  end: () => {},
  release: () => {},
};

function recentSet(
  lifetimeMs: number,
  clock: Pick<Clock, "elapsed">,
  onAdd: (key: string) => void = () => {},
): RecentSet {
  const keys = new ExpiringMap<true>({ maxEntries: MAX_ENTRIES, clock });
  return {
    has: (key) => keys.get(key) === true,
    add(key) {
      keys.set(key, true, lifetimeMs);
      onAdd(key);
    },
  };
}

/** Why an address must not be dialled, or null (docs/delivery.md#W6). */
function whyNotDialled(address: string): string | null {
  if (!isPublicAddress(address)) return "not a public address";
  return isIP(address) === 6 && !hasIPv6() ? "this machine has no IPv6" : null;
}

function withoutSession(obstacle: Decision): Outcome {
  return { ...obstacle, conversations: [] };
}

/** The outcome if none of the hosts has an address. */
function withoutAddress(
  domain: string,
  route: Extract<Route, { kind: "hosts" }>,
  result: RunResult,
): Outcome {
  const conversations = route.isImplicit ? [] : result.conversations;
  return { ...whyWithoutAddress(domain, route, result), conversations };
}

function whyWithoutAddress(
  domain: string,
  route: Extract<Route, { kind: "hosts" }>,
  { missing }: RunResult,
): Decision {
  const failed = missing.find(({ kind }) => kind === "failed");
  if (failed !== undefined) {
    return { kind: "deferred", class: "infrastructure", reason: failed.reason };
  }
  return route.isImplicit ? domainWithoutHost(domain) : unusableHosts(domain);
}

function withPolicyReason(outcome: Outcome, domain: string): Outcome {
  if (outcome.kind !== "deferred" || outcome.class !== "infrastructure") return outcome;
  const reason = `${outcome.reason}; the MTA-STS policy of ${domain} requires valid TLS`;
  return { ...outcome, reason };
}
