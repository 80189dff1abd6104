/**
 * One mail on its way through the hosts of a domain (delivery rules W5, S3, T1–T3): host after host,
 * address after address, until one of them decides. Everything that was said is kept.
 */

import type { Busy, Conversation, Dispatch, Outcome } from "../outcome.ts";
import type { Pool, PoolDelivery } from "../smtp/pool.ts";
import { Session, type SessionOptions } from "../smtp/session.ts";
import type { TlsPolicy } from "../smtp/opening.ts";
import type { HostAddresses } from "./route.ts";
import type { SiteResult } from "./site.ts";
import { conclude, judge, type Finding, type Judgement, type Setback } from "./verdict.ts";

/**
 * - opportunistic: TLS where it is offered and works (rule T1).
 * - clear: TLS was tried here and failed (rule T2).
 * - required: a policy of the domain demands a valid certificate (rule T5).
 */
export type TlsMode = "opportunistic" | "clear" | "required";

export type RunDeps = {
  pool: Pool;
  port: number;
  addressesOf(host: string): Promise<HostAddresses>;
  /** Everything about a session but where it goes and how it is encrypted. */
  session: Omit<SessionOptions, "host" | "port" | "address" | "localAddress" | "tls">;
  sourceFor(address: string): string | undefined;
  /** By host and address: where TLS does not work, and what did not answer lately. */
  withoutTls: Memory;
  dead: Memory;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  /** True once the run has lasted too long to begin with another address. */
  isLate(): boolean;
};

export type Memory = { has(key: string): boolean; add(key: string): void };

export type Journey = {
  dispatch: Dispatch;
  hosts: readonly string[];
  requiresTls: boolean;
  /** Asked before each connection: null, or why there must be none to this address for now. */
  reserve(address: string): Busy | null;
  /** True while the greeting of a host must come soon. */
  isHurried(): boolean;
};

type Missing = Extract<HostAddresses, { reason: string }>;

export type RunEnd = {
  /** Null where no host has an address, as `missing` says, or none that is free, as `busy` says. */
  outcome: Outcome | null;
  /** Nothing was tried, because the addresses have too many connections for now. */
  busy: Busy | null;
  missing: readonly Missing[];
  conversations: Conversation[];
  /** What the site has shown; null if nothing. */
  result: SiteResult | null;
};

/** Delivery rule W5. */
const MAX_ADDRESSES = 5;
const MAX_SESSIONS = 2;
/** A look-up each; the first ones are the best. */
const MAX_HOSTS = 10;
/** So that a host with many addresses leaves some of the five to the next one. */
const MAX_ADDRESSES_OF_ONE = 3;

export async function deliverToHosts(deps: RunDeps, journey: Journey): Promise<RunEnd> {
  return new Run(deps, journey).toEnd();
}

class Run {
  readonly #deps: RunDeps;
  readonly #journey: Journey;
  readonly #conversations: Conversation[] = [];
  readonly #setbacks: Setback[] = [];
  readonly #missing: Missing[] = [];
  /** Addresses that did not answer another mail a short while ago: tried when all others were. */
  readonly #last: { host: string; address: string }[] = [];
  #dialled = 0;
  #sessions = 0;
  /** Set when an address was left out because it has too many connections. */
  #busy: Busy | null = null;

  constructor(deps: RunDeps, journey: Journey) {
    this.#deps = deps;
    this.#journey = journey;
  }

  async toEnd(): Promise<RunEnd> {
    for (const host of this.#journey.hosts.slice(0, MAX_HOSTS)) {
      const end = await this.#tryHost(host);
      if (end !== null) return end;
    }
    for (const { host, address } of this.#last) {
      if (this.#isExhausted()) break;
      const judgement = await this.#tryAddress(host, address);
      if (judgement?.kind === "decided") return this.#decided(judgement);
    }
    return this.#undecided();
  }

  /** A site where only the second try succeeds is not to get more. */
  #decided({ decision, result }: Finding): RunEnd {
    const conversations = this.#conversations;
    const hadTrouble = this.#setbacks.some(({ weight }) => weight !== "nothing");
    const isDetour = hadTrouble && result?.kind === "accepted";
    return {
      outcome: { ...decision, conversations },
      busy: null,
      missing: this.#missing,
      conversations,
      result: isDetour ? { kind: "rerouted" } : result,
    };
  }

  #undecided(): RunEnd {
    const isUntried = this.#setbacks.every(({ weight }) => weight === "nothing");
    const busy = isUntried ? this.#busy : null;
    const found = busy === null ? conclude(this.#setbacks, this.#journey.hosts) : null;
    if (found !== null) return this.#decided(found);
    const conversations = this.#conversations;
    return { outcome: null, busy, missing: this.#missing, conversations, result: null };
  }

  #isExhausted(): boolean {
    const isUsedUp = this.#dialled >= MAX_ADDRESSES || this.#sessions >= MAX_SESSIONS;
    return isUsedUp || this.#deps.isLate();
  }

  async #tryHost(host: string): Promise<RunEnd | null> {
    if (this.#isExhausted()) return null;
    const found = await this.#deps.addressesOf(host);
    if (found.kind !== "addresses") {
      this.#noteMissing(host, found);
      return null;
    }
    const isOnly = this.#journey.hosts.length === 1;
    const enough = this.#dialled + (isOnly ? MAX_ADDRESSES : MAX_ADDRESSES_OF_ONE);
    for (const address of found.addresses) {
      if (this.#dialled >= enough || this.#isExhausted()) return null;
      if (this.#deps.dead.has(keyOf(host, address))) {
        this.#last.push({ host, address });
        continue;
      }
      const judgement = await this.#tryAddress(host, address);
      if (judgement?.kind === "decided") return this.#decided(judgement);
      if (judgement?.next === "host") return null;
    }
    return null;
  }

  /** Null if the address has too many connections for now. */
  async #tryAddress(host: string, address: string): Promise<Judgement | null> {
    const busy = this.#journey.reserve(address);
    if (busy !== null) {
      this.#busy = busy;
      return null;
    }
    const delivery = await this.#deliver(host, address);
    if (delivery.kind !== "unopened") this.#sessions++;
    const judgement = judge(host, delivery);
    if (judgement.kind === "decided") return judgement;
    this.#setbacks.push(judgement);
    // An address that was not dialled counts for nothing, a second try in clear for nothing more.
    if (judgement.weight !== "nothing") this.#dialled++;
    if (judgement.weight === "silence") this.#deps.dead.add(keyOf(host, address));
    return judgement;
  }

  /** In clear on a new connection where TLS fails, unless it is required (rule T2). */
  async #deliver(host: string, address: string): Promise<PoolDelivery["delivery"]> {
    const { withoutTls } = this.#deps;
    const key = keyOf(host, address);
    if (this.#journey.requiresTls) return this.#dial(host, address, "required");
    if (withoutTls.has(key)) return this.#dial(host, address, "clear");
    const delivery = await this.#dial(host, address, "opportunistic");
    if (!isTlsFailure(delivery, this.#conversations.at(-1))) return delivery;
    // Where this mail took too long in all, that says nothing about TLS.
    if (this.#deps.isLate()) return delivery;
    withoutTls.add(key);
    return this.#dial(host, address, "clear");
  }

  async #dial(host: string, address: string, mode: TlsMode): Promise<PoolDelivery["delivery"]> {
    const { pool, port, session, ca, sourceFor } = this.#deps;
    const { isHurried } = this.#journey;
    const destination = {
      key: `${host} ${address} ${mode}`,
      connect: () => {
        const localAddress = sourceFor(address);
        const tls = tlsPolicy(mode, ca);
        return new Session({ ...session, host, port, address, localAddress, tls, isHurried });
      },
    };
    const { delivery, conversations } = await pool.deliver(destination, this.#journey.dispatch);
    this.#conversations.push(...conversations);
    return delivery;
  }

  #noteMissing(host: string, found: Missing): void {
    this.#missing.push(found);
    const step = { step: "connect", command: null, code: null, enhanced: null, ms: 0 } as const;
    const { port } = this.#deps;
    const steps = [{ ...step, text: found.reason }];
    this.#conversations.push({ host, address: null, port, tls: null, reused: false, steps });
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
 * STARTTLS refused, no handshake, or a connection that ends right after it: in TLS 1.3 the server's
 * last word about a handshake comes when the client already holds it for done.
 */
function isTlsFailure(
  delivery: PoolDelivery["delivery"],
  conversation: Conversation | undefined,
): boolean {
  if (delivery.kind !== "unopened") return false;
  const { step, cause } = delivery.failure;
  if (step === "starttls" || step === "tls") return true;
  const isSecure = (conversation?.tls ?? null) !== null;
  return step === "ehlo" && isSecure && cause.kind !== "reply";
}
