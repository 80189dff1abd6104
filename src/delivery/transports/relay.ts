/**
 * Delivery through one relay of the operator's choice (delivery rule T4): a pool of authenticated
 * sessions to it, and its replies read as outcomes. What keeps us from reaching the relay is the
 * operator's matter and always temporary; only what the relay says about a mail can bounce it.
 *
 * The mail that finds the relay away has made an attempt, so that its record tells why. All others
 * wait until the relay is back (relay-gate.ts), and come back untried where they had left already.
 */

import ipaddr from "ipaddr.js";
import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { ReplyClass } from "../../mail/reply-classes.ts";
import {
  type Conversation,
  type Dispatch,
  type Outcome,
  type Slot,
  type Step,
  type StepListener,
  type Transport,
  deferWithoutSlot,
} from "../outcome.ts";
import type { Credentials } from "../smtp/auth.ts";
import { describeFailure, type Failure } from "../smtp/failure.ts";
import type { TlsPolicy } from "../smtp/opening.ts";
import { Pool, type Destination, type PoolDelivery } from "../smtp/pool.ts";
import { readReply, readUnsendable, UNKNOWN_END } from "../smtp/reading.ts";
import { quoteReply, type Reply } from "../smtp/reply.ts";
import { Session, type SessionOptions } from "../smtp/session.ts";
import type { Timeouts } from "../smtp/timeouts.ts";
import { createRelayGate } from "./relay-gate.ts";

export type Relay = {
  host: string;
  port: number;
  /** Without a user there is no AUTH. */
  user?: string | undefined;
  pass?: string | undefined;
  tls: "implicit" | "starttls" | "none";
};

export type RelayOptions = {
  relay: Relay;
  /** Our name in EHLO. */
  hostname: string;
  /** Connections, and so mails, at once. */
  concurrency?: number | undefined;
  timeouts?: Partial<Timeouts> | undefined;
  onStep?: StepListener | undefined;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  /** Name to addresses; the system's resolver if left out. */
  resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
};

export type RelayTransportOptions = RelayOptions & { clock: Clock; log: Log };

const DEFAULT_CONCURRENCY = 20;

/** Throws if the options would send a password in clear over a network. */
export function relayTransport(options: RelayTransportOptions): Transport {
  const { relay, clock, log, concurrency = DEFAULT_CONCURRENCY } = options;
  const objection = objectToClearPassword(relay);
  if (objection !== null) throw new Error(objection);

  const pool = new Pool({ maxConnections: concurrency });
  const name = `${relay.host}:${relay.port}`;
  const gate = createRelayGate({ relay: name, clock, log });
  const sessionOptions = { ...sessionOptionsOf(options), onOpen: gate.noteSession };
  const destination: Destination = { key: "relay", connect: () => new Session(sessionOptions) };
  let isClosing = false;

  async function sendWith(pass: Slot, dispatch: Dispatch): Promise<Outcome> {
    const end = await pool.deliver(destination, dispatch);
    const { delivery } = end;
    if (delivery.kind === "accepted" || delivery.kind === "refused") gate.noteAnswer(pass);
    const outcome = outcomeOf(name, end);
    if (delivery.kind !== "unopened" || !showsAbsence(delivery.failure)) return outcome;
    const isNews = !gate.isAway();
    const busy = gate.noteFailure(pass, delivery.failure);
    if (!isNews) return deferWithoutSlot(busy);
    // It need not wait for longer than the others, but where the relay named a time.
    const { retryAfterMs } = busy;
    return outcome.kind === "deferred" ? { retryAfterMs, ...outcome } : outcome;
  }

  /** Not where we close; and one that turns away only further sessions is busy, and there. */
  function showsAbsence({ cause }: Failure): boolean {
    if (isClosing) return false;
    const isForNow = cause.kind === "reply" && cause.code < 500;
    return gate.isAway() || !isForNow || !pool.hasSession(destination);
  }

  return {
    name: "relay",
    concurrency,
    admit: gate.admit,
    async send(dispatch, pass) {
      const admission = pass ?? gate.admit();
      if (admission.kind === "busy") return deferWithoutSlot(admission);
      try {
        return await sendWith(admission, dispatch);
      } finally {
        admission.release();
      }
    },
    close() {
      isClosing = true;
      return pool.close();
    },
  };
}

/** Opens a session and says goodbye: what stood in the way, or null. For the operator's question. */
export async function openRelaySession(
  options: RelayOptions,
): Promise<{ failure: string | null; conversation: Conversation }> {
  const objection = objectToClearPassword(options.relay);
  if (objection !== null) throw new Error(objection);
  const session = new Session(sessionOptionsOf(options));
  const failure = await session.open();
  const { conversation } = session;
  await session.quit();
  return { failure: failure === null ? null : describeFailure(failure), conversation };
}

export type ParsedRelayUrl = { ok: true; relay: Relay } | { ok: false; message: string };

/**
 * `smtp[s]://user:pass@host:port[?tls=none|starttls|implicit]`. smtps means TLS from the first byte
 * and port 465 (RFC 8314 §3.3), smtp STARTTLS and port 587. No message repeats the URL: it holds a
 * password.
 */
export function parseRelayUrl(text: string): ParsedRelayUrl {
  const url = URL.parse(text);
  if (url === null) return refuse("is not a URL of the form smtp://user:pass@host:port");
  if (url.protocol !== "smtp:" && url.protocol !== "smtps:") {
    return refuse("must begin with smtp:// or smtps://");
  }
  if ((url.pathname !== "" && url.pathname !== "/") || url.hash !== "") {
    return refuse("must end after host, port and ?tls=; encode special characters of the password");
  }
  const host = readHost(url.hostname);
  if (host === null) return refuse("names no valid host");
  if (url.port === "0") return refuse("names port 0");
  const tls = readTls(url);
  if ("message" in tls) return refuse(tls.message);
  const credentials = readCredentials(url);
  if ("message" in credentials) return refuse(credentials.message);

  const port = url.port === "" ? (tls.mode === "implicit" ? 465 : 587) : Number(url.port);
  const relay: Relay = { host, port, ...credentials, tls: tls.mode };
  const objection = objectToClearPassword(relay);
  return objection === null ? { ok: true, relay } : refuse(objection);
}

function refuse(message: string): { ok: false; message: string } {
  return { ok: false, message };
}

/** A name in ASCII or an address; brackets around IPv6 belong to the URL only. */
function readHost(hostname: string): string | null {
  const bare = hostname.replace(/^\[(.*)\]$/, "$1");
  if (ipaddr.isValid(bare)) return bare;
  return /^[a-z0-9_-]+(\.[a-z0-9_-]+)*\.?$/i.test(bare) ? bare.toLowerCase() : null;
}

function readTls(url: URL): { mode: Relay["tls"] } | { message: string } {
  const unknown = [...url.searchParams.keys()].find((key) => key !== "tls");
  if (unknown !== undefined) return { message: `has an unknown parameter ${unknown}` };
  const [value, second] = url.searchParams.getAll("tls");
  if (second !== undefined) return { message: "names tls twice" };
  if (value === undefined) return { mode: url.protocol === "smtps:" ? "implicit" : "starttls" };
  if (value !== "none" && value !== "starttls" && value !== "implicit") {
    return { message: "tls must be none, starttls or implicit" };
  }
  if (url.protocol === "smtps:" && value !== "implicit") {
    return { message: `smtps:// means implicit TLS; write smtp:// for tls=${value}` };
  }
  return { mode: value };
}

function readCredentials(url: URL): Partial<Credentials> | { message: string } {
  if (url.username === "" && url.password === "") return {};
  if (url.username === "") return { message: "has a password but no user" };
  try {
    return { user: decodeURIComponent(url.username), pass: decodeURIComponent(url.password) };
  } catch {
    return { message: "has a % in user or password that is not encoded as %25" };
  }
}

function objectToClearPassword(relay: Relay): string | null {
  if (relay.user === undefined || relay.tls !== "none" || isLoopback(relay.host)) return null;
  return "must not send a password without TLS; tls=none with a user is for this machine only";
}

function isLoopback(host: string): boolean {
  if (host === "localhost") return true;
  return ipaddr.isValid(host) && ipaddr.process(host).range() === "loopback";
}

function sessionOptionsOf({
  relay,
  hostname,
  timeouts,
  onStep,
  ca,
  resolve,
}: RelayOptions): SessionOptions {
  const { host, port, user, pass = "" } = relay;
  const tls: TlsPolicy =
    relay.tls === "none" ? { mode: "none" } : { mode: relay.tls, verify: true, ca };
  const credentials = user === undefined ? undefined : { user, pass };
  const isClear = relay.tls === "none" && credentials !== undefined;
  return {
    host,
    port,
    hostname,
    tls,
    credentials,
    timeouts,
    onStep,
    resolve,
    checkAddress: isClear ? requireLoopback : undefined,
  };
}

/** "localhost" is what the resolver says: the password goes by the address that is dialled. */
function requireLoopback(address: string): string | null {
  return isLoopback(address) ? null : "not a loopback address: no password in clear";
}

function outcomeOf(relay: string, { delivery, conversations }: PoolDelivery): Outcome {
  const because = (reason: string): Ended => ({ reason: `${relay} ${reason}`, conversations });
  if (delivery.kind === "accepted") {
    const ended = because(`accepted it: ${quoteReply(delivery.reply)}`);
    return { ...ended, kind: "accepted", class: "accepted", final: false };
  }
  if (delivery.kind === "refused") {
    const { step, reply } = delivery;
    return refused(step, reply, because(`refused at ${step}: ${quoteReply(reply)}`));
  }
  if (delivery.kind === "unsendable") {
    return { ...because(`cannot take it: ${delivery.message}`), ...readUnsendable(delivery) };
  }
  if (delivery.kind === "unopened") {
    return unopened(delivery.failure, because(`failed at ${describeFailure(delivery.failure)}`));
  }
  return broken(delivery, because(`failed at ${describeFailure(delivery.failure)}`));
}

type Ended = { reason: string; conversations: Conversation[] };

function refused(step: Step["step"], reply: Reply, ended: Ended): Outcome {
  const reading = readReply(step, reply);
  if (reading.kind === "deferred") return { ...ended, ...reading };
  return { ...ended, kind: "bounced", class: blame(step, reading.class) };
}

/** Before RCPT the server has not heard of the recipient: no reply can be about it. */
function blame(step: Step["step"], found: ReplyClass): ReplyClass {
  const isAboutRecipient = step === "rcpt" || step === "dot";
  return found === "no_such_recipient" && !isAboutRecipient ? "policy" : found;
}

/** A busy relay says so in its greeting, with 4xx; everything else is for the operator to mend. */
function unopened({ step, cause }: Failure, ended: Ended): Outcome {
  const isBusy =
    cause.kind === "reply" && cause.code < 500 && (step === "greeting" || step === "ehlo");
  if (isBusy && cause.code >= 400) return refused(step, cause, ended);
  return { ...ended, kind: "deferred", class: "infrastructure" };
}

/** Never at once again: the mail may be there already (delivery rule S5). */
function broken({ isUnknown }: { isUnknown: boolean }, ended: Ended): Outcome {
  const reason = isUnknown ? `${ended.reason}; ${UNKNOWN_END}` : ended.reason;
  return { ...ended, reason, kind: "deferred", class: "infrastructure" };
}
