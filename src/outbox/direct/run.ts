/**
 * Tries one mail at the hosts of a domain, host after host and address after address, until one of
 * them decides the outcome (docs/delivery.md#W5, docs/delivery.md#S3). TLS is used if the host
 * offers it (docs/delivery.md#T1). All conversations are recorded.
 */

import { type Busy, deferWithoutSlot, type Outcome } from "../outcome.ts";
import type { Dispatch } from "../../protocols/smtp/dispatch.ts";
import type { Conversation } from "../../protocols/smtp/conversation.ts";
import type { Pool } from "../../protocols/smtp/pool.ts";
import type { Delivery } from "../../protocols/smtp/decision.ts";
import { Session, type SessionOptions } from "../../protocols/smtp/session.ts";
import type { TlsPolicy } from "../../protocols/smtp/opening.ts";
import type { HostAddresses } from "./route.ts";
import type { SiteResult } from "./site.ts";
import { conclude, type HostAnswer, interpretDelivery } from "./host-answer.ts";

export type RunDeps = {
  pool: Pool;
  port: number;
  addressesOf(host: string): Promise<HostAddresses>;
  /** Session options that do not depend on the address and on TLS. */
  session: Omit<SessionOptions, "host" | "port" | "address" | "localAddress" | "tls">;
  sourceFor(address: string): string | undefined;
  /** Hosts and addresses with which TLS failed recently. */
  withoutTls: RecentSet;
  /** Hosts and addresses that could not be reached recently. */
  dead: RecentSet;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  /** True once the mail has taken too long to start with another address. */
  isLate(): boolean;
};

/** A set whose entries expire. */
export type RecentSet = { has(key: string): boolean; add(key: string): void };

export type HostDelivery = {
  dispatch: Dispatch;
  hosts: readonly string[];
  requiresTls: boolean;
  /** Must be called before each connection: null, or why this address must not be dialled now. */
  reserve(address: string): Busy | null;
  /** True while the greeting timeout is short. */
  isHurried(): boolean;
};

type Missing = Extract<HostAddresses, { reason: string }>;

export type RunResult = {
  /** Null if no host has an address (`missing`). */
  outcome: Outcome | null;
  missing: readonly Missing[];
  conversations: Conversation[];
  /** The result for the site; null if the attempt showed nothing about it. */
  siteResult: SiteResult | null;
};

/** Limits per attempt (docs/delivery.md#W5). */
const MAX_ADDRESSES = 5;
const MAX_SESSIONS = 2;
/** Limits the DNS queries; hosts are sorted, so the first ones are the best. */
const MAX_HOSTS = 10;
/** Limit per host, so that a host with many addresses leaves some of the five to the next host. */
const MAX_ADDRESSES_PER_HOST = 3;

export async function deliverToHosts(deps: RunDeps, mail: HostDelivery): Promise<RunResult> {
  return new Run(deps, mail).run();
}

class Run {
  readonly #deps: RunDeps;
  readonly #mail: HostDelivery;
  readonly #dialler: Dialler;
  readonly #setbacks: HostAnswer[] = [];
  readonly #missing: Missing[] = [];
  /** Addresses that could not be reached recently; they are tried after all others. */
  readonly #postponed: { host: string; address: string }[] = [];
  #dialled = 0;
  #sessions = 0;
  /** Set if an address was skipped because it has too many connections. */
  #busy: Busy | null = null;

  constructor(deps: RunDeps, mail: HostDelivery) {
    this.#deps = deps;
    this.#mail = mail;
    this.#dialler = new Dialler(deps, mail);
  }

  async run(): Promise<RunResult> {
    for (const host of this.#mail.hosts.slice(0, MAX_HOSTS)) {
      const result = await this.#tryHost(host);
      if (result !== null) return result;
    }
    for (const { host, address } of this.#postponed) {
      if (this.#isExhausted()) break;
      const answer = await this.#tryAddress(host, address);
      if (answer !== null && answer.next === null) return this.#decided(answer);
    }
    return this.#undecided();
  }

  /** If only a later host or address succeeded, the site's limit must not grow. */
  #decided({ decision, result }: HostAnswer): RunResult {
    const { conversations } = this.#dialler;
    const hadSetback = this.#setbacks.some(({ contact }) => contact !== "notDialled");
    const isRerouted = hadSetback && result?.kind === "accepted";
    return {
      outcome: { ...decision, conversations },
      missing: this.#missing,
      conversations,
      siteResult: isRerouted ? { kind: "rerouted" } : result,
    };
  }

  #undecided(): RunResult {
    const wasNothingTried = this.#setbacks.every(({ contact }) => contact === "notDialled");
    const { conversations } = this.#dialler;
    const common = { missing: this.#missing, conversations, siteResult: null };
    if (wasNothingTried && this.#busy !== null)
      return { ...common, outcome: deferWithoutSlot(this.#busy) };
    const found = conclude(this.#setbacks, this.#mail.hosts);
    return found === null ? { ...common, outcome: null } : this.#decided(found);
  }

  #isExhausted(): boolean {
    const isUsedUp = this.#dialled >= MAX_ADDRESSES || this.#sessions >= MAX_SESSIONS;
    return isUsedUp || this.#deps.isLate();
  }

  async #tryHost(host: string): Promise<RunResult | null> {
    if (this.#isExhausted()) return null;
    const found = await this.#deps.addressesOf(host);
    if (found.kind !== "addresses") {
      this.#missing.push(found);
      this.#dialler.noteMissing(host, found.reason);
      return null;
    }
    const isOnly = this.#mail.hosts.length === 1;
    const maxDialled = this.#dialled + (isOnly ? MAX_ADDRESSES : MAX_ADDRESSES_PER_HOST);
    for (const address of found.addresses) {
      if (this.#dialled >= maxDialled || this.#isExhausted()) return null;
      if (this.#deps.dead.has(keyOf(host, address))) {
        this.#postponed.push({ host, address });
        continue;
      }
      const answer = await this.#tryAddress(host, address);
      if (answer !== null && answer.next === null) return this.#decided(answer);
      if (answer?.next === "host") return null;
    }
    return null;
  }

  /** Returns null if the address has too many connections at this moment. */
  async #tryAddress(host: string, address: string): Promise<HostAnswer | null> {
    const busy = this.#mail.reserve(address);
    if (busy !== null) {
      this.#busy = busy;
      return null;
    }
    const delivery = await this.#dialler.deliver(host, address);
    if (delivery.kind !== "unopened") this.#sessions++;
    const answer = interpretDelivery(host, delivery);
    if (answer.next === null) return answer;
    this.#setbacks.push(answer);
    // An address counts once, even if it was dialled again in cleartext; not at all if not dialled.
    if (answer.contact !== "notDialled") this.#dialled++;
    if (answer.contact === "unreachable") this.#deps.dead.add(keyOf(host, address));
    return answer;
  }
}

/**
 * - opportunistic: TLS if the host offers it and it works (docs/delivery.md#T1).
 * - clear: no TLS, because it failed with this host (docs/delivery.md#T2).
 * - required: TLS with a valid certificate, because of the domain's policy (docs/delivery.md#T5).
 */
type TlsMode = "opportunistic" | "clear" | "required";

/** Delivers one mail to one address after another, and records all conversations. */
class Dialler {
  readonly conversations: Conversation[] = [];
  readonly #deps: RunDeps;
  readonly #mail: HostDelivery;

  constructor(deps: RunDeps, mail: HostDelivery) {
    this.#deps = deps;
    this.#mail = mail;
  }

  /**
   * If TLS fails, tries again in cleartext on a new connection, unless TLS is required
   * (docs/delivery.md#T2).
   */
  async deliver(host: string, address: string): Promise<Delivery> {
    const { withoutTls } = this.#deps;
    const key = keyOf(host, address);
    if (this.#mail.requiresTls) return this.#dial(host, address, "required");
    if (withoutTls.has(key)) return this.#dial(host, address, "clear");
    const delivery = await this.#dial(host, address, "opportunistic");
    if (!isTlsFailure(delivery, this.conversations.at(-1))) return delivery;
    // If this mail took too long, the failure says nothing about TLS.
    if (this.#deps.isLate()) return delivery;
    withoutTls.add(key);
    return this.#dial(host, address, "clear");
  }

  /** Records that a host was not dialled because it has no address. */
  noteMissing(host: string, reason: string): void {
    const step = { step: "connect", command: null, code: null, enhanced: null, ms: 0 } as const;
    const { port } = this.#deps;
    const steps = [{ ...step, text: reason }];
    this.conversations.push({ host, address: null, port, tls: null, reused: false, steps });
  }

  async #dial(host: string, address: string, mode: TlsMode): Promise<Delivery> {
    const { pool, port, session, ca, sourceFor } = this.#deps;
    const { isHurried } = this.#mail;
    const destination = {
      key: `${host} ${address} ${mode}`,
      connect: () => {
        const localAddress = sourceFor(address);
        const tls = tlsPolicy(mode, ca);
        return new Session({ ...session, host, port, address, localAddress, tls, isHurried });
      },
    };
    const { delivery, conversations } = await pool.deliver(destination, this.#mail.dispatch);
    this.conversations.push(...conversations);
    return delivery;
  }
}

function keyOf(host: string, address: string): string {
  return `${host} ${address}`;
}

function tlsPolicy(mode: TlsMode, ca: string | undefined): TlsPolicy {
  switch (mode) {
    case "clear":
      return { mode: "none" };
    case "required":
      return { mode: "starttls", verify: true, ca };
    case "opportunistic":
      return { mode: "opportunistic", verify: false, ca };
  }
}

/**
 * True if STARTTLS was refused, the handshake failed, or the connection ended right after it: in
 * TLS 1.3 the server can reject the handshake after the client has finished it.
 */
function isTlsFailure(delivery: Delivery, conversation: Conversation | undefined): boolean {
  if (delivery.kind !== "unopened") return false;
  const { step, cause } = delivery.failure;
  if (step === "starttls" || step === "tls") return true;
  const isSecure = (conversation?.tls ?? null) !== null;
  return step === "ehlo" && isSecure && cause.kind !== "reply";
}
