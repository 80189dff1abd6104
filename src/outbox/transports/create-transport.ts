/** Creates the transport that the configuration names: capture, relay or direct. */

import type { App } from "../../core/app.ts";
import type { Config } from "../../config/settings.ts";
import {
  createMtaSts,
  memoryPolicyStore,
  type PolicyStore,
} from "../../protocols/mta-sts/mta-sts.ts";
import { policyFetcher } from "../../protocols/mta-sts/fetch.ts";
import { databasePolicyStore, databaseSiteStore, type SiteStore } from "../direct/stores.ts";
import type { Transport } from "../outcome.ts";
import { isSignedThere } from "../../protocols/smtp/known-relays.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { StepListener } from "../../protocols/smtp/conversation.ts";
import type { Timeouts } from "../../protocols/smtp/timeouts.ts";
import { createPace } from "../pace.ts";
import { findAttempts, readAnsweringRelay } from "./answering-relay.ts";
import { captureTransport } from "./capture.ts";
import { directTransport } from "./direct.ts";
import { CONNECTIONS_PER_PROJECT, createRoutedTransport } from "./project-relays.ts";
import { relayTransport } from "./relay.ts";
import { FALLBACK_LIST, relayWithFallback } from "./relay-fallback.ts";
import { storedRelays } from "./stored-relays.ts";
import { isPublicAddress } from "../../lib/ip-addresses.ts";
import type { Clock } from "../../lib/clock.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Log } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";

type TransportDeps = {
  dns: Dns;
  clock: Clock;
  log: Log;
  /** Stores MTA-STS policies; without it they are only in memory. */
  policyStore?: PolicyStore;
  /** Stores the state of sites for direct delivery; without it the state ends with the process. */
  siteStore?: SiteStore;
  /** Called for every step of a conversation. */
  onStep?: StepListener;
  /** Finds the relay that a mail keeps to; without it, mails are not known. */
  findKept?: (emailSeq: number) => Pick<Relay, "host" | "port"> | null;
  /** Other timeouts than those of ordinary mail. */
  timeouts?: Partial<Timeouts>;
};

const substitutes = new WeakMap<App, Transport>();

/** Makes an application send through another transport than the one of its settings, for a test. */
export function substituteTransport(app: App, transport: Transport): void {
  substitutes.set(app, transport);
}

/** The state of sites, which direct delivery stores. */
export const siteStoreOf = perApp((app: App) => databaseSiteStore(app));

/** Longer than any session lasts (protocols/smtp/timeouts.ts). */
const LAST_MAILS_MS = 30 * 60_000;

type Ways = {
  current: Transport;
  /** Transports that may still have mail under way, with the functions that cancel their ends. */
  replaced: Map<Transport, () => void>;
};

const waysOf = perApp((app: App): Ways => ({
  current: substitutes.get(app) ?? transportFor(app, app.config),
  replaced: new Map(),
}));

/** The transport in use. It may be another one at the next call (`replaceTransport`). */
export const transportOf = (app: App): Transport => waysOf(app).current;

/** The transport that these settings name, with the stores of the application. */
export function transportFor(app: App, config: Config): Transport {
  const { clock, log } = app;
  const common = createTransport(config, {
    ...app,
    policyStore: databasePolicyStore(app),
    siteStore: siteStoreOf(app),
    findKept: (emailSeq) => readAnsweringRelay(findAttempts(app).all(emailSeq)),
  });
  // Captured mail does not leave, also if its project has a relay.
  if (config.transport === "capture") return common;
  const { hostname } = config;
  return createRoutedTransport({
    common,
    find: storedRelays(app).find,
    open: (relay, role) =>
      relayTransport({
        ...role,
        relay,
        hostname,
        concurrency: CONNECTIONS_PER_PROJECT,
        checkAddress: addressCheck(config),
        clock,
        log,
      }),
  });
}

/** Says why a relay of a project must not be dialled: its owner may be a stranger to this network. */
export function addressCheck({
  allowPrivateAddresses,
}: Pick<Config, "allowPrivateAddresses">): (address: string) => string | null {
  return (address) =>
    allowPrivateAddresses || isPublicAddress(address) ? null : "not a public address";
}

/**
 * Mails that have begun end at the old transport; the others that wait there go back to the queue. No
 * mail may be between its lease and the transport, because its slot belongs to the old one.
 */
export function replaceTransport(app: App, next: Transport): void {
  const ways = waysOf(app);
  const old = ways.current;
  ways.current = next;
  old.withdrawWaiting();
  const cancel = app.clock.after(LAST_MAILS_MS, () => {
    ways.replaced.delete(old);
    void old.close();
  });
  ways.replaced.set(old, cancel);
}

/** Closes the transport in use, and those that were replaced. */
export async function closeTransports(app: App): Promise<void> {
  const { current, replaced } = waysOf(app);
  for (const cancel of replaced.values()) cancel();
  await Promise.all([current, ...replaced.keys()].map((each) => each.close()));
}

export function createTransport(config: Config, deps: TransportDeps): Transport {
  const { transport, relayUrl, hostname, fallbackRelayUrl } = config;
  const { clock, log, onStep, timeouts, findKept = () => null } = deps;
  if (transport === "direct") return direct(config, deps);
  const pace = paceOf(config, clock);
  if (transport === "capture" || relayUrl === null) return captureTransport(pace);
  const common = { hostname, clock, log, onStep, timeouts, pace };
  if (fallbackRelayUrl === null) return relayTransport({ relay: relayUrl, ...common });
  const fallback = relayTransport({
    relay: fallbackRelayUrl,
    waitList: FALLBACK_LIST,
    ...common,
  });
  const first = relayTransport({
    relay: relayUrl,
    isReplaced: () => fallback.holdOf() === null,
    ...common,
    timeouts: { ...timeouts, greetingMs: REPLACED_GREETING_MS },
  });
  return relayWithFallback({ first, fallback, findKept });
}

/** A relay with a fallback is left earlier than RFC 5321 §4.5.3.2 wants if it does not greet. */
const REPLACED_GREETING_MS = 30_000;

/** The configured send rate; undefined if there is none. */
function paceOf({ sendRate }: Config, clock: Clock) {
  return sendRate === 0 ? undefined : createPace({ ratePerSecond: sendRate, clock });
}

/** True if the keys of domains are not used, because the relay signs mail by itself. */
export function isSignedByRelay({ transport, relayUrl }: Config): boolean {
  return transport === "relay" && relayUrl !== null && isSignedThere(relayUrl);
}

function direct(config: Config, deps: TransportDeps): Transport {
  const { hostname, directPort, sourceAddresses, allowPrivateAddresses } = config;
  const { dns, clock, log, onStep, siteStore, timeouts } = deps;
  return directTransport({
    dns,
    hostname,
    clock,
    log,
    port: directPort,
    sourceAddresses,
    allowPrivateAddresses,
    onStep,
    timeouts,
    pace: paceOf(config, clock),
    siteStore,
    mtaSts: createMtaSts({
      dns,
      fetchPolicy: policyFetcher({ dns, allowPrivateAddresses }),
      store: deps.policyStore ?? memoryPolicyStore(clock),
      clock,
      log,
    }),
  });
}
