/**
 * A DNS client that tells apart what must be told apart: records, no such record, no such name, and
 * nobody could say. It asks recursive servers and keeps what they said, within bounds.
 */

import ipaddr from "ipaddr.js";
import type { Clock } from "../../lib/clock.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import {
  A,
  AAAA,
  canonicalName,
  MX,
  NS,
  PTR,
  readAnswer,
  TXT,
  type DnsAnswer,
  type MxRecord,
  type Reading,
  type RecordKind,
} from "./answer.ts";
import { exchange } from "./exchange.ts";
import type { Question } from "./query.ts";
import { formatServer, type DnsServer } from "./servers.ts";

export type AskOptions = {
  /** True: whatever is kept does not count; for somebody who waits for a change to arrive. */
  fresh?: boolean;
};

/** What a record of each type holds; names are lower case without a final dot. */
export type DnsRecords = {
  A: string;
  AAAA: string;
  MX: MxRecord;
  NS: string;
  PTR: string;
  /** The strings of one record joined. */
  TXT: string;
};

export type Dns = {
  /** The name is in A-labels (RFC 5891); a final dot makes no difference. Never rejects. */
  resolve<Type extends keyof DnsRecords>(
    name: string,
    type: Type,
    options?: AskOptions,
  ): Promise<DnsAnswer<DnsRecords[Type]>>;
  /** The names of an address: PTR under in-addr.arpa or ip6.arpa. */
  reverse(address: string, options?: AskOptions): Promise<DnsAnswer<string>>;
  /** Ends what is under way as failed. */
  close(): void;
};

export type DnsOptions = {
  /** In the order of preference; one that does not answer goes to the end. */
  servers: readonly DnsServer[];
  clock: Pick<Clock, "elapsed">;
  /** For one server to answer. */
  timeoutMs?: number;
  /** How many times a question is sent at most. */
  tries?: number;
  /** Answers kept, for each type of record. */
  maxEntries?: number;
};

/** Bounds of how long an answer is kept, whatever it says of itself. */
const LEAST_TTL_SECONDS = 5;
const MOST_TTL_SECONDS = 3_600;
/** RFC 2308 §5; short, so that a record which somebody adds is soon seen. */
const MOST_NEGATIVE_SECONDS = 300;
/** RFC 9520 §3.2: failures are kept as well, else every mail of a batch waits for the same silence. */
const FAILURE_SECONDS = 30;
/** Longer answers are not kept, which bounds the memory that strangers can fill. */
const LONGEST_KEPT_BYTES = 4_096;

type Lookups = { [Type in keyof DnsRecords]: Lookup<DnsRecords[Type]> };

export function createDns(options: DnsOptions): Dns {
  const resolver = new Resolver(options);
  const lookups: Lookups = {
    A: new Lookup(A, resolver, options),
    AAAA: new Lookup(AAAA, resolver, options),
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

/** The name under which an address is looked up (RFC 1035 §3.5, RFC 3596 §2.5). */
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

/** Questions of one type: what is known already, and those that are under way. */
class Lookup<Value> {
  readonly #kind: RecordKind<Value>;
  readonly #resolver: Resolver;
  readonly #elapsed: Clock["elapsed"];
  readonly #kept: ExpiringMap<DnsAnswer<Value>>;
  readonly #asking = new Map<string, Promise<DnsAnswer<Value>>>();

  constructor(kind: RecordKind<Value>, resolver: Resolver, options: DnsOptions) {
    this.#kind = kind;
    this.#resolver = resolver;
    this.#elapsed = options.clock.elapsed;
    const { maxEntries = 5_000, clock } = options;
    this.#kept = new ExpiringMap({ maxEntries, clock });
  }

  ask(text: string, fresh: boolean): Promise<DnsAnswer<Value>> {
    const name = canonicalName(text);
    const known = fresh ? null : this.#recall(name);
    if (known !== null) return Promise.resolve(known);
    if (!isQueryName(name)) return Promise.resolve({ kind: "failed", reason: "not a DNS name" });
    const underWay = this.#asking.get(name);
    if (underWay !== undefined) return underWay;
    const asking = this.#ask(name).finally(() => this.#asking.delete(name));
    this.#asking.set(name, asking);
    return asking;
  }

  #recall(name: string): DnsAnswer<Value> | null {
    const entry = this.#kept.entry(name);
    if (entry === undefined) return null;
    const { value, expiresAt } = entry;
    if (value.kind !== "records") return value;
    return { ...value, ttlSeconds: Math.ceil((expiresAt - this.#elapsed()) / 1_000) };
  }

  async #ask(name: string): Promise<DnsAnswer<Value>> {
    const { reading, sizeBytes } = await this.#resolver.resolve(name, this.#kind);
    const keepSeconds = secondsToKeep(reading);
    const answer = answerOf(reading, keepSeconds);
    const isKept = sizeBytes <= LONGEST_KEPT_BYTES && !this.#resolver.isClosed;
    this.#kept.set(name, answer, isKept ? keepSeconds * 1_000 : 0);
    return answer;
  }
}

function answerOf<Value>(reading: Reading<Value>, ttlSeconds: number): DnsAnswer<Value> {
  if (reading.kind === "records") return { ...reading, ttlSeconds };
  return reading.kind === "failed" ? reading : { kind: reading.kind };
}

function secondsToKeep(reading: Reading<unknown>): number {
  if (reading.kind === "failed") return FAILURE_SECONDS;
  if (reading.kind === "records") return clamp(reading.ttlSeconds, MOST_TTL_SECONDS);
  return clamp(reading.negativeSeconds ?? 0, MOST_NEGATIVE_SECONDS);
}

function clamp(seconds: number, most: number): number {
  return Math.min(Math.max(seconds, LEAST_TTL_SECONDS), most);
}

/** Asks server after server until one of them says something about the name. */
class Resolver {
  readonly #servers: DnsServer[];
  readonly #timeoutMs: number;
  readonly #tries: number;
  readonly #cancels = new Set<() => void>();
  isClosed = false;

  constructor({ servers, timeoutMs = 5_000, tries = 3 }: DnsOptions) {
    this.#servers = [...servers];
    this.#timeoutMs = timeoutMs;
    this.#tries = tries;
  }

  async resolve<Value>(name: string, kind: RecordKind<Value>): Promise<Resolved<Value>> {
    const question: Question = { name, type: kind.type };
    const servers = [...this.#servers];
    /** Those that answered, and cannot say: asking them again is of no use. */
    const helpless = new Set<DnsServer>();
    let reason = "no name server is known";
    for (let sent = 0; sent < this.#tries && !this.isClosed; sent++) {
      const server = servers[sent % servers.length];
      if (server === undefined || helpless.has(server)) continue;
      const heard = await this.#exchange(question, server);
      if (heard.kind === "unheard") {
        reason = heard.reason;
        if (heard.isSilent) this.#demote(server);
        else helpless.add(server);
        continue;
      }
      const reading = readAnswer(heard.packet, name, kind);
      if (reading.kind !== "failed") return { reading, sizeBytes: heard.sizeBytes };
      reason = `${formatServer(server)}: ${reading.reason}`;
      helpless.add(server);
    }
    const failed = `${kind.type} of ${name}: ${this.isClosed ? "we are closing" : reason}`;
    return { reading: { kind: "failed", reason: failed }, sizeBytes: 0 };
  }

  close(): void {
    this.isClosed = true;
    for (const cancel of this.#cancels) cancel();
  }

  #exchange(question: Question, server: DnsServer) {
    return exchange(question, {
      server,
      timeoutMs: this.#timeoutMs,
      track: (cancel) => {
        this.#cancels.add(cancel);
        return () => void this.#cancels.delete(cancel);
      },
    });
  }

  /** The next questions go to another one first. */
  #demote(silent: DnsServer): void {
    if (this.#servers[0] !== silent) return;
    this.#servers.push(...this.#servers.splice(0, 1));
  }
}
