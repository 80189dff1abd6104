/**
 * A DNS client for recursive servers, with a cache. It distinguishes four answers: records, no such
 * record, no such name, and a failed look-up.
 *
 * 1. `client.ts` answers from its cache, or asks one server after another.
 * 2. `query.ts` builds the query and checks which response belongs to it.
 * 3. `exchange.ts` sends the query over UDP, and over TCP if the answer is too long.
 * 4. `answer.ts` reads the records, the aliases and the times for the cache.
 *
 * `servers.ts` finds the name servers.
 */

import ipaddr from "ipaddr.js";
import { type Clock, systemClock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import {
  A,
  AAAA,
  CAA,
  canonicalName,
  MX,
  NS,
  PTR,
  readAnswer,
  TXT,
  type CaaRecord,
  type DnsAnswer,
  type MxRecord,
  type Reading,
  type RecordKind,
} from "./answer.ts";
import { exchangeDns } from "./exchange.ts";
import type { Question } from "./query.ts";
import { formatServer, type DnsServer } from "./servers.ts";

type AskOptions = {
  /** If true, the cache is not used: for a user who waits for a change of the record. */
  fresh?: boolean;
};

/** The value of a record of each type. Names are in lower case without a final dot. */
type DnsRecords = {
  A: string;
  AAAA: string;
  CAA: CaaRecord;
  MX: MxRecord;
  NS: string;
  PTR: string;
  /** The concatenated strings of one record. */
  TXT: string;
};

export type Dns = {
  /** Looks up a name in A-labels (RFC 5891), with or without a final dot. Never rejects. */
  resolve<Type extends keyof DnsRecords>(
    name: string,
    type: Type,
    options?: AskOptions,
  ): Promise<DnsAnswer<DnsRecords[Type]>>;
  /** Looks up the names of an address: PTR records under in-addr.arpa or ip6.arpa. */
  reverse(address: string, options?: AskOptions): Promise<DnsAnswer<string>>;
  /** Ends the look-ups under way as failed. */
  close(): void;
};

export type DnsOptions = {
  /** In order of preference. A server that does not answer is moved to the end. */
  servers: readonly DnsServer[];
  clock: Pick<Clock, "elapsed">;
  /** Time for one server to answer. */
  timeoutMs?: number;
  /** Measures that time; by default the clock of the system. */
  queryClock?: Clock | undefined;
  /** Largest number of times that a question is sent. */
  tries?: number;
  /** Largest number of cached answers for each record type. */
  maxEntries?: number;
};

/** Limits of the time for which an answer is cached, independent of its TTL. */
const MIN_TTL_SECONDS = 5;
const MAX_TTL_SECONDS = 3_600;
/** Limit for negative answers (RFC 2308 §5). It is short, so that a new record is soon found. */
const MAX_NEGATIVE_SECONDS = 300;
/**
 * Failures are cached too (RFC 9520 §3.2). Otherwise every mail of a batch waits for the timeout.
 */
const FAILURE_SECONDS = 30;
/** Longer answers are not cached, which limits the memory that foreign servers can fill. */
const MAX_CACHED_BYTES = 4_096;

type Lookups = { [Type in keyof DnsRecords]: Lookup<DnsRecords[Type]> };

export function createDns(options: DnsOptions): Dns {
  const resolver = new Resolver(options);
  const lookups: Lookups = {
    A: new Lookup(A, resolver, options),
    AAAA: new Lookup(AAAA, resolver, options),
    CAA: new Lookup(CAA, resolver, options),
    MX: new Lookup(MX, resolver, options),
    NS: new Lookup(NS, resolver, options),
    PTR: new Lookup(PTR, resolver, options),
    TXT: new Lookup(TXT, resolver, options),
  };
  return {
    resolve: (name, type, { fresh = false } = {}) => lookups[type].ask(name, fresh),
    reverse: (address, { fresh = false } = {}) => lookups.PTR.ask(reverseName(address), fresh),
    close: () => resolver.close(),
  };
}

/** Returns the name for the reverse look-up of an address (RFC 1035 §3.5, RFC 3596 §2.5). */
export function reverseName(address: string): string {
  if (!ipaddr.isValid(address)) return "";
  const parsed = ipaddr.process(address);
  const bytes = parsed.toByteArray();
  if (parsed.kind() === "ipv4") return `${bytes.toReversed().join(".")}.in-addr.arpa`;
  const digits = bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
  return `${digits.split("").toReversed().join(".")}.ip6.arpa`;
}

const LABEL = "[!-\\-/-\\[\\]-~]{1,63}";
const NAME = new RegExp(`^${LABEL}(?:\\.${LABEL})*$`);

function isQueryName(name: string): boolean {
  return name.length <= 253 && NAME.test(name);
}

type Resolved<Value> = { reading: Reading<Value>; sizeBytes: number };

/** Look-ups of one record type: cached answers, and questions under way. */
class Lookup<Value> {
  readonly #kind: RecordKind<Value>;
  readonly #resolver: Resolver;
  readonly #elapsed: Clock["elapsed"];
  readonly #cache: ExpiringMap<DnsAnswer<Value>>;
  readonly #underWay = new Map<string, Promise<DnsAnswer<Value>>>();

  constructor(kind: RecordKind<Value>, resolver: Resolver, options: DnsOptions) {
    this.#kind = kind;
    this.#resolver = resolver;
    this.#elapsed = options.clock.elapsed;
    const { maxEntries = 5_000, clock } = options;
    this.#cache = new ExpiringMap({ maxEntries, clock });
  }

  ask(text: string, fresh: boolean): Promise<DnsAnswer<Value>> {
    const name = canonicalName(text);
    const cached = fresh ? null : this.#readCache(name);
    if (cached !== null) return Promise.resolve(cached);
    if (!isQueryName(name)) return Promise.resolve({ kind: "failed", reason: "not a DNS name" });
    const underWay = this.#underWay.get(name);
    if (underWay !== undefined) return underWay;
    const promise = this.#ask(name).finally(() => this.#underWay.delete(name));
    this.#underWay.set(name, promise);
    return promise;
  }

  #readCache(name: string): DnsAnswer<Value> | null {
    const entry = this.#cache.entry(name);
    if (entry === undefined) return null;
    const { value, expiresAt } = entry;
    if (value.kind !== "records") return value;
    return { ...value, ttlSeconds: Math.ceil((expiresAt - this.#elapsed()) / 1_000) };
  }

  async #ask(name: string): Promise<DnsAnswer<Value>> {
    const { reading, sizeBytes } = await this.#resolver.resolve(name, this.#kind);
    const lifetimeSeconds = cacheSeconds(reading);
    const answer = answerOf(reading, lifetimeSeconds);
    const isCached = sizeBytes <= MAX_CACHED_BYTES && !this.#resolver.isClosed;
    this.#cache.set(name, answer, isCached ? lifetimeSeconds * 1_000 : 0);
    return answer;
  }
}

function answerOf<Value>(reading: Reading<Value>, ttlSeconds: number): DnsAnswer<Value> {
  if (reading.kind === "records") return { ...reading, ttlSeconds };
  return reading.kind === "failed" ? reading : { kind: reading.kind };
}

function cacheSeconds(reading: Reading<unknown>): number {
  if (reading.kind === "failed") return FAILURE_SECONDS;
  if (reading.kind === "records") return clamp(reading.ttlSeconds, MAX_TTL_SECONDS);
  return clamp(reading.negativeSeconds ?? 0, MAX_NEGATIVE_SECONDS);
}

function clamp(seconds: number, max: number): number {
  return Math.min(Math.max(seconds, MIN_TTL_SECONDS), max);
}

/** Asks one server after another until one of them answers for the name. */
class Resolver {
  readonly #servers: DnsServer[];
  readonly #timeoutMs: number;
  readonly #clock: Clock;
  readonly #tries: number;
  readonly #cancels = new Set<() => void>();
  isClosed = false;

  constructor({ servers, timeoutMs = 5_000, queryClock = systemClock, tries = 3 }: DnsOptions) {
    this.#servers = [...servers];
    this.#timeoutMs = timeoutMs;
    this.#clock = queryClock;
    this.#tries = tries;
  }

  async resolve<Value>(name: string, kind: RecordKind<Value>): Promise<Resolved<Value>> {
    const question: Question = { name, type: kind.type };
    const servers = [...this.#servers];
    /** Servers that replied without an answer. They are not asked again. */
    const failed = new Set<DnsServer>();
    let reason = "no name server is known";
    for (let sent = 0; sent < this.#tries && !this.isClosed; sent++) {
      const server = servers[sent % servers.length];
      if (server === undefined || failed.has(server)) continue;
      const result = await this.#exchange(question, server);
      if (result.kind === "no response") {
        reason = result.reason;
        if (result.isSilent) this.#demote(server);
        else failed.add(server);
        continue;
      }
      const reading = readAnswer(result.packet, name, kind);
      if (reading.kind !== "failed") return { reading, sizeBytes: result.sizeBytes };
      reason = `${formatServer(server)}: ${reading.reason}`;
      failed.add(server);
    }
    const failure = `${kind.type} of ${name}: ${this.isClosed ? "we are closing" : reason}`;
    return { reading: { kind: "failed", reason: failure }, sizeBytes: 0 };
  }

  close(): void {
    this.isClosed = true;
    for (const cancel of this.#cancels) cancel();
  }

  #exchange(question: Question, server: DnsServer) {
    return exchangeDns(question, {
      server,
      timeoutMs: this.#timeoutMs,
      clock: this.#clock,
      track: (cancel) => {
        this.#cancels.add(cancel);
        return () => void this.#cancels.delete(cancel);
      },
    });
  }

  /**
   * Moves a server that did not answer to the end, so that the next questions go to another one.
   */
  #demote(silent: DnsServer): void {
    if (this.#servers[0] !== silent) return;
    this.#servers.push(...this.#servers.splice(0, 1));
  }
}
