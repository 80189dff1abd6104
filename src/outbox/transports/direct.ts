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
  type Decision,
  type Outcome,
  type Outgoing,
  type Transport,
  deferWithoutSlot,
  WITHDRAWN,
} from "../outcome.ts";
import type { StepListener } from "../../protocols/smtp/conversation.ts";
import { Pool, type PoolMail, type PoolOptions, Withdrawn } from "../../protocols/smtp/pool.ts";
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
  /** Limits how many mails leave per second; absent without a rate. */
  pace?: PoolOptions["pace"];
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
/** The time for which a host gets mail in cleartext after its TLS failed (docs/delivery.md#T2). */
const CLEARTEXT_MS = 3_600_000;
/**
 * The time for which an address that failed is tried after all others. It is longer than the first
 * pause of a mail, so that its next attempt reaches the hosts for which this one had no time.
 */
const FAILED_MS = 600_000;
const MAX_ENTRIES = 10_000;

export function directTransport(options: DirectOptions): DirectTransport {
  const { dns, hostname, clock, mtaSts = null, concurrency = DEFAULT_CONCURRENCY } = options;
  const { sourceAddresses = [], ownNames = [], random = Math.random } = options;
  const { sessionClock = systemClock } = options;
  const { pace } = options;
  const pool = new Pool({ maxConnections: concurrency, pace, clock: sessionClock });
  const gate = new Gate({ slots: concurrency, clock, store: options.siteStore });
  let isClosing = false;
  let isWithdrawing = false;
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
    admit,
    holdOf: (waitList) => gate.holdOf(waitList),
    start(mail) {
      const slot = mail.slot ?? admit(mail.envelope.to, mail.isUrgent);
      if (slot.kind === "busy") return mail.end(deferWithoutSlot(slot));
      mail.waitsFor = "server";
      void send(mail, slot)
        .finally(() => slot.release())
        .then(
          (outcome) => mail.end(outcome),
          (error: unknown) => mail.fail(error),
        );
    },
    withdrawWaiting() {
      isWithdrawing = true;
      pool.withdrawWaiting();
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

  async function send(mail: Outgoing<DirectSlot>, slot: DirectSlot): Promise<Outcome> {
    const domain = recipientDomain(mail.envelope.to);
    if (domain === null) return withoutSession(invalidDomain());
    const [route, policy] = await Promise.all([
      lookUpRoute(domain, lookup),
      mtaSts?.policyFor(domain) ?? null,
    ]);
    if (isWithdrawing) return deferWithoutSlot(WITHDRAWN);
    if (route.kind === "obstacle") return withoutSession(route.obstacle);
    const requiresTls = policy?.mode === "enforce";
    const hosts = requiresTls
      ? route.hosts.filter((host) => allowsHost(policy, host))
      : route.hosts;
    if (hosts.length === 0) return withoutSession(forbiddenHosts(domain, route.hosts));

    const entry = await slot.enter(siteName(route.best), mail.isUrgent);
    if (entry.kind === "busy") return deferWithoutSlot(entry);
    if (entry.kind === "suspended") return withoutSession(suspended(domain, entry.reason));
    const result = await deliver({ object: mail, hosts, requiresTls }, slot);
    // A session that this process closed itself says nothing about the site.
    if (result.siteResult !== null && !isClosing) slot.end(result.siteResult);
    if (result.outcome === null) return withoutAddress(domain, route, result);
    return requiresTls ? withPolicyReason(result.outcome, domain) : result.outcome;
  }

  function deliver(
    { object, hosts, requiresTls }: Pick<HostDelivery, "object" | "hosts" | "requiresTls">,
    slot: DirectSlot,
  ): Promise<RunResult> {
    /** The mail while it is in the pool. */
    let current: PoolMail | null = null;
    let isPreempted = false;
    let whyWithdrawn = WITHDRAWN;
    slot.onPreempted(() => {
      isPreempted = true;
      // A slot is preempted inside a database transaction, which must not wait for the next mail.
      queueMicrotask(() => current?.interrupt());
    });
    const startedAt = sessionClock.elapsed();
    const isLate = () => isPreempted || sessionClock.elapsed() - startedAt > totalMs;
    const delivering = deliverToHosts(
      { ...runDeps, isLate },
      {
        object,
        hosts,
        requiresTls,
        reserve: (address) => slot.reserve(address),
        isHurried: () => slot.isHurried(),
        onSend(mail) {
          current = mail;
          if (isPreempted) mail.interrupt();
          // While it waits for the pace, an urgent mail may take its slot and session.
          if (object.isUrgent === true) return;
          slot.onTaken((busy) => {
            if (!pool.withdraw(mail)) return false;
            whyWithdrawn = busy;
            return true;
          });
        },
      },
    );
    return delivering.catch((error: unknown) => {
      if (!(error instanceof Withdrawn)) throw error;
      const outcome = deferWithoutSlot(whyWithdrawn);
      return { outcome, missing: [], conversations: [], siteResult: null };
    });
  }
}

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

/** The reason why an address must not be dialled, or null (docs/delivery.md#W6). */
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
