/**
 * Tries one mail at the hosts of a domain, host after host and address after address, until one of
 * them decides the outcome (docs/delivery.md#W5, docs/delivery.md#S3). TLS is used if the host
 * offers it (docs/delivery.md#T1). All conversations are recorded. The second part interprets the answer
 * of one host (docs/delivery.md#S4, docs/delivery.md#S5, RFC 5321 §4.2.1, §5.1); it is pure.
 */

import { readReply, readUnsendable } from "../../protocols/smtp/classify-reply.ts";
import type { Conversation } from "../../protocols/smtp/conversation.ts";
import { type Delivery, SERVICE_CLOSING, UNKNOWN_END } from "../../protocols/smtp/decision.ts";
import type { Unsendable } from "../../protocols/smtp/envelope.ts";
import { describeFailure, type Failure } from "../../protocols/smtp/failure.ts";
import type { TlsPolicy } from "../../protocols/smtp/opening.ts";
import type { Pool, PoolMail } from "../../protocols/smtp/pool.ts";
import type { ReplyClass, SmtpStep } from "../../protocols/smtp/reply-classes.ts";
import { quoteReply, type Reply } from "../../protocols/smtp/reply.ts";
import { Session, type SessionOptions } from "../../protocols/smtp/session.ts";
import type { MailObject } from "../../protocols/smtp/stream.ts";
import { type Busy, type Decision, deferWithoutSlot, type Outcome } from "../outcome.ts";
import type { HostAddresses } from "./route.ts";
import type { SiteResult } from "./site.ts";

export type RunDeps = {
  pool: Pool;
  port: number;
  addressesOf(host: string): Promise<HostAddresses>;
  /** Session options that do not depend on the address and on TLS. */
  session: Omit<SessionOptions, "host" | "port" | "address" | "localAddress" | "tls">;
  sourceFor(address: string): string | undefined;
  /** Hosts and addresses with which TLS failed recently. */
  withoutTls: RecentSet;
  /** Hosts and addresses that failed recently; they are tried after all others. */
  failed: RecentSet;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  /** True once the mail has taken too long to start with another address. */
  isLate(): boolean;
};

/** A set whose entries expire. */
export type RecentSet = { has(key: string): boolean; add(key: string): void };

export type HostDelivery = {
  object: MailObject;
  hosts: readonly string[];
  requiresTls: boolean;
  /** Must be called before each connection: null, or why this address must not be dialled now. */
  reserve(address: string): Busy | null;
  /** True while the greeting timeout is short. */
  isHurried(): boolean;
  /** Called when the pool has got the mail, once for each connection. */
  onSend(mail: PoolMail): void;
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

/** Rejects with `Withdrawn` if the mail was withdrawn before a transaction began. */
export async function deliverToHosts(deps: RunDeps, mail: HostDelivery): Promise<RunResult> {
  return new Run(deps, mail).run();
}

class Run {
  readonly #deps: RunDeps;
  readonly #mail: HostDelivery;
  readonly #dialler: Dialler;
  readonly #setbacks: HostAnswer[] = [];
  readonly #missing: Missing[] = [];
  /** Addresses that failed recently; they are tried after all others. */
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
      if (this.#busy !== null || this.#isExhausted()) break;
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

  /** While an address waits for a connection, those that failed decide nothing. */
  #undecided(): RunResult {
    const { conversations } = this.#dialler;
    const common = { missing: this.#missing, conversations, siteResult: null };
    if (this.#busy !== null) return { ...common, outcome: deferWithoutSlot(this.#busy) };
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
      if (this.#deps.failed.has(keyOf(host, address))) {
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
    const answer = interpretDelivery(host, delivery, this.#mail.object.envelope);
    if (answer.next === null) return answer;
    this.#setbacks.push(answer);
    // An address counts once, even if it was dialled again in cleartext; not at all if not dialled.
    if (answer.contact === "notDialled") return answer;
    this.#dialled++;
    this.#deps.failed.add(keyOf(host, address));
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
    const { object, onSend } = this.#mail;
    const { delivery, conversations } = await pool.deliver(destination, object, onSend);
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

/**
 * The consequences of one host's answer for the mail and its site. `result` is null if the answer
 * says nothing about the site.
 *
 * `contact` says how far the mail came:
 * - notDialled: the host was not dialled, or this machine has no route to it.
 * - unreachable: the connection failed.
 * - answered: the host was reached.
 */
type HostAnswer = {
  host: string;
  decision: Decision;
  result: SiteResult | null;
  contact: "notDialled" | "unreachable" | "answered";
  /**
   * The next try: the next address of the same host, or the next host; null if the decision is
   * the outcome of the mail.
   */
  next: "address" | "host" | null;
};

function interpretDelivery(
  host: string,
  delivery: Delivery,
  envelope: MailObject["envelope"],
): HostAnswer {
  switch (delivery.kind) {
    case "accepted": {
      const reason = `${host} accepted it: ${quoteReply(delivery.reply)}`;
      const decision = { kind: "accepted", class: "accepted", final: true, reason } as const;
      return decided(host, decision, { kind: "accepted" });
    }
    case "refused":
      return interpretRefusal(host, { ...delivery, envelope });
    case "unsendable": {
      const decision = unsendable(host, delivery);
      return decided(host, decision, { kind: "answered" });
    }
    case "broken":
      return interpretBreak(host, delivery);
    case "unopened":
      return interpretOpening(host, delivery.failure);
  }
}

function interpretRefusal(host: string, refused: Refused): HostAnswer {
  const { step, reply } = refused;
  const decision = decide(refused, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const isAboutHost = step !== "dot" && isHostProblem(step, reply, decision.class);
  if (decision.kind === "bounced" || !isAboutHost) {
    return decided(host, decision, siteResultOf(reply, decision));
  }
  return { host, contact: "answered", decision, result: { kind: "failed" }, next: "host" };
}

/**
 * True for a temporary refusal because of this host, not because of the mail, its recipient or this
 * server: X.3.x is the state of the system (RFC 3463 §3.4), and at MAIL the host knows nothing
 * else.
 */
function isHostProblem(step: SmtpStep, reply: Reply, found: ReplyClass): boolean {
  if (found !== "temporary") return false;
  const isSystem = reply.enhanced?.startsWith("4.3.") === true;
  return reply.code === SERVICE_CLOSING || step === "mail" || isSystem;
}

/**
 * A reply about the rate, or about this server as a whole, applies to all its mail to the site
 * (docs/delivery.md#S7), but X.2.x is about a single mailbox (RFC 3463 §3.3), and a reply about the
 * sender is no fault of other senders.
 */
function siteResultOf(reply: Reply, decision: Decision): SiteResult {
  if (decision.kind !== "deferred" || decision.isSenderRefused === true)
    return { kind: "answered" };
  const isRate = decision.class === "rate_limited" || decision.class === "reputation";
  const isRefusal = reply.code >= 500;
  const isAboutMailbox = reply.enhanced?.startsWith("4.2.") === true;
  return (isRate && !isAboutMailbox) || isRefusal
    ? { kind: "limited", retryAfterMs: decision.retryAfterMs, reason: quoteReply(reply) }
    : { kind: "answered" };
}

function unsendable(host: string, found: Unsendable): Decision {
  const reason = `${host} cannot accept it: ${found.enhanced} ${found.message}`;
  return { ...readUnsendable(found), reason };
}

/** After the final dot the mail may have arrived: no other host is tried (docs/delivery.md#S5). */
function interpretBreak(
  host: string,
  broken: { failure: Failure; isUnknown: boolean },
): HostAnswer {
  const reason = `${host} failed at ${describeFailure(broken.failure)}`;
  const result = { kind: "failed" } as const;
  if (broken.isUnknown) {
    return decided(host, later(`${reason}; ${UNKNOWN_END}`), result);
  }
  return { host, contact: "answered", decision: later(reason), result, next: "host" };
}

function interpretOpening(host: string, { step, cause }: Failure): HostAnswer {
  if (cause.kind === "reply" && cause.code >= 400 && GREETING_STEPS.has(step)) {
    return interpretGreeting(host, step, cause);
  }
  const reason = `${host} failed at ${describeFailure({ step, cause })}`;
  const setback = { host, decision: later(reason) };
  if (step !== "connect") {
    const next = step === "tls" || step === "starttls" ? "host" : "address";
    return { ...setback, contact: "answered", result: { kind: "failed" }, next };
  }
  const wasNotDialled = cause.kind === "address" || cause.kind === "unroutable";
  return wasNotDialled
    ? { ...setback, contact: "notDialled", result: null, next: "address" }
    : {
        ...setback,
        contact: "unreachable",
        result: { kind: "unreachable", reason },
        next: "address",
      };
}

const GREETING_STEPS: ReadonlySet<SmtpStep> = new Set(["greeting", "ehlo", "helo"]);

/** After a refusal in the greeting the next host is tried (docs/delivery.md#S3). */
function interpretGreeting(host: string, step: SmtpStep, reply: Reply): HostAnswer {
  const decision = decide({ step, reply }, `${host} refused at ${step}: ${quoteReply(reply)}`);
  const found = siteResultOf(reply, decision);
  const isHostProblem = decision.kind === "deferred" && found.kind === "answered";
  const result: SiteResult = isHostProblem ? { kind: "failed" } : found;
  return { host, contact: "answered", decision, result, next: "host" };
}

type Refused = { step: SmtpStep; reply: Reply; envelope?: MailObject["envelope"] };

/**
 * A refusal of this server or of the sender is no fault of the recipient, so the mail waits, with each
 * code (docs/delivery.md#R5): a quota, a block of our address, our DNS or TLS, a sender that is
 * refused.
 */
function decide({ step, reply, envelope }: Refused, reason: string): Decision {
  const { about, ...reading } = readReply(step, reply, envelope);
  const isOurs = about === "sender" || (about === "account" && reading.class !== "policy");
  if (reading.kind === "deferred" || !isOurs) return { ...reading, reason };
  const held = { kind: "deferred", class: reading.class, reason } as const;
  return about === "sender" ? { ...held, isSenderRefused: true } : held;
}

function decided(host: string, decision: Decision, result: SiteResult): HostAnswer {
  return { host, contact: "answered", decision, result, next: null };
}

function later(reason: string): Decision {
  return { kind: "deferred", class: "infrastructure", reason };
}

const EVIDENCE = { notDialled: 0, unreachable: 1, answered: 2 } as const;

/**
 * The outcome of a mail that no host accepted; null if there is no setback. The reason is from the
 * last host with the most evidence. The outcome is permanent only if every host refused permanently
 * (docs/delivery.md#S3): `hosts` are all hosts of the domain.
 */
function conclude(setbacks: readonly HostAnswer[], hosts: readonly string[]): HostAnswer | null {
  const [first, ...rest] = setbacks;
  if (first === undefined) return null;
  const last = rest.reduce(
    (best, each) => (EVIDENCE[each.contact] >= EVIDENCE[best.contact] ? each : best),
    first,
  );
  const refusing = new Set(
    setbacks.filter(({ decision }) => decision.kind === "bounced").map(({ host }) => host),
  );
  const isUnanimous = hosts.every((host) => refusing.has(host));
  const { decision } = last;
  if (decision.kind !== "bounced" || isUnanimous) return last;
  const reason = `${decision.reason}; not every host of the domain refused permanently`;
  return { ...last, decision: { kind: "deferred", class: decision.class, reason } };
}
