/**
 * Delivery through one relay that the operator configures (docs/delivery.md#T4): a pool of
 * authenticated sessions, whose replies are converted to outcomes. A failure to reach the relay is
 * always temporary and needs the operator; only a reply of the relay about a mail can bounce it. A
 * refusal of the account or of the sender is no bounce, with any code: the mail stays in the queue.
 *
 * The first mail that cannot reach the relay, or is refused because of our account, is recorded as an attempt, so that its record shows
 * the reason. All others wait until the relay is back (relay-gate.ts); if they were already under
 * way, they go back to the queue without an attempt.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import type { ReplyClass, SmtpStep } from "../../protocols/smtp/reply-classes.ts";
import {
  type Busy,
  type Hold,
  type Outcome,
  type Outgoing,
  type Slot,
  type Transport,
  deferWithoutSlot,
  WITHDRAWN,
} from "../outcome.ts";
import type { StepListener } from "../../protocols/smtp/conversation.ts";
import { describeFailure, type Failure } from "../../protocols/smtp/failure.ts";
import type { TlsPolicy } from "../../protocols/smtp/opening.ts";
import {
  type Destination,
  Pool,
  type PoolHandler,
  type PoolOptions,
} from "../../protocols/smtp/pool.ts";
import { readReply, readUnsendable, type Refusal } from "../../protocols/smtp/classify-reply.ts";
import { type HostResult, UNKNOWN_END } from "../../protocols/smtp/decision.ts";
import { quoteReply, type Reply } from "../../protocols/smtp/reply.ts";
import { Session, type SessionOptions } from "../../protocols/smtp/session.ts";
import type { MailObject } from "../../protocols/smtp/stream.ts";
import type { Timeouts } from "../../protocols/smtp/timeouts.ts";
import { findCleartextPassword, isLoopback, type Relay } from "../../protocols/smtp/relay-url.ts";
import { createRelayGate, type RelayRole } from "./relay-gate.ts";

export type RelayOptions = {
  relay: Relay;
  /** Our name in EHLO. */
  hostname: string;
  /** Largest number of connections, and therefore of mails under way. */
  concurrency?: number | undefined;
  timeouts?: Partial<Timeouts> | undefined;
  /** Measures the sessions; by default the clock of the system. */
  sessionClock?: Clock | undefined;
  onStep?: StepListener | undefined;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
  /** Looks up the addresses of a name; by default with the system's resolver. */
  resolve?: ((host: string) => Promise<readonly string[]>) | undefined;
  /** Returns why connecting to an address is not allowed, or null; by default all are allowed. */
  checkAddress?: ((address: string) => string | null) | undefined;
};

export type RelayTransportOptions = RelayOptions &
  RelayRole & {
    clock: Clock;
    log: Log;
    /** Limits how many mails leave per second; absent without a rate. */
    pace?: PoolOptions["pace"];
    /** True if mail leaves by another relay while this one cannot be reached. */
    isReplaced?: (() => boolean) | undefined;
  };

export type RelayTransport = Transport & {
  readonly relay: Relay;
  admit(): Slot | Busy;
  holdOf(): Hold | null;
  /** True if no session can be opened for the moment, so that another relay may take the mail. */
  isUnreachable(): boolean;
  /** Number of mails with a slot, if `mostUnderWay` limits them. */
  underWay(): number;
  /** Opens a session without a mail, if a probe is due. */
  probe(): void;
  probeRelays(): void;
};

const DEFAULT_CONCURRENCY = 20;

/** Throws if the options would send a password in cleartext over a network. */
export function relayTransport(options: RelayTransportOptions): RelayTransport {
  const { relay, pace, concurrency = DEFAULT_CONCURRENCY } = options;
  const { isReplaced = () => false } = options;
  const { sessionClock } = options;
  const pool = new Pool({
    maxConnections: concurrency,
    pace,
    pipelinesMails: pace === undefined,
    clock: sessionClock,
  });
  const name = `${relay.host}:${relay.port}`;
  const target = options.waitList === undefined ? undefined : relay;
  const gate = createRelayGate({ ...options, relay: name, target });
  const sessionOptions = { ...relaySessionOptions(options), onOpen: gate.noteSession };
  const destination: Destination = { key: "relay", connect: () => new Session(sessionOptions) };
  let isClosing = false;
  /** The session of a probe without a mail; null if there is none. */
  let probing: Session | null = null;

  /** While the relay is up, all mails have the same slot, and therefore the same handler. */
  const handlerOf = (slot: Slot): PoolHandler<Outgoing> => {
    if (latest?.slot !== slot) latest = { slot, handler: createHandler(slot) };
    return latest.handler;
  };
  let latest: { slot: Slot; handler: PoolHandler<Outgoing> } | null = null;

  function createHandler(slot: Slot): PoolHandler<Outgoing> {
    return {
      ended(mail, result) {
        const outcome = noteResult(slot, result, mail.envelope);
        slot.release();
        mail.end(outcome);
      },
      withdrawn(mail) {
        slot.release();
        mail.end(deferWithoutSlot(WITHDRAWN));
      },
    };
  }

  function start(mail: Outgoing): void {
    const slot = mail.slot ?? gate.admit();
    if (slot.kind === "busy") mail.end(deferWithoutSlot(slot));
    else pool.send(destination, mail, handlerOf(slot));
  }

  function noteResult(slot: Slot, result: HostResult, envelope: MailObject["envelope"]): Outcome {
    const { delivery } = result;
    if (delivery.kind === "refused") return noteRefusal(slot, { ...delivery, envelope }, result);
    if (delivery.kind === "accepted") gate.noteAnswer(slot);
    const outcome = outcomeOf(name, result);
    if (delivery.kind !== "unopened" || !showsOutage(delivery.failure)) return outcome;
    const isFirst = !gate.isDown();
    const busy = gate.noteFailure(slot, delivery.failure);
    const mayLeaveNow = gate.isUnreachable() && isReplaced();
    if (mayLeaveNow) pool.withdrawWaiting();
    const retryAfterMs = mayLeaveNow ? 0 : busy.retryAfterMs;
    if (!isFirst) return deferWithoutSlot({ ...busy, retryAfterMs });
    // It waits as long as the others, unless the relay named a time.
    return outcome.kind === "deferred" ? { retryAfterMs, ...outcome } : outcome;
  }

  /**
   * A refusal of our account concerns all mail: it waits. The mail that was refused has its own retry
   * time, so that the next probe is another mail, which may not be concerned.
   */
  function noteRefusal(
    slot: Slot,
    { step, reply, envelope }: Refused,
    { conversations }: HostResult,
  ): Outcome {
    const reason = `${name} refused at ${step}: ${quoteReply(reply)}`;
    const reading = readReply(step, reply, envelope);
    if (!isAboutAccount(reading)) {
      gate.noteAnswer(slot);
      return refused(step, reading, { reason, conversations });
    }
    const isFirst = gate.hold()?.at !== "account" || gate.isProbe(slot);
    const busy = gate.noteRefusal(slot, { reason: quoteReply(reply), ...reading });
    if (!isFirst) return deferWithoutSlot(busy);
    return { kind: "deferred", class: reading.class, reason, conversations };
  }

  /**
   * False while this process closes the sessions, and if the relay only refuses more sessions than
   * are open already.
   */
  function showsOutage({ cause }: Failure): boolean {
    if (isClosing) return false;
    const isTemporary = cause.kind === "reply" && cause.code < 500;
    return gate.isDown() || !isTemporary || !pool.hasSession(destination);
  }

  async function openProbe(slot: Slot): Promise<void> {
    const session = new Session(sessionOptions);
    probing = session;
    const failure = await session.open();
    probing = null;
    if (failure !== null && !isClosing) gate.noteFailure(slot, failure);
    slot.release();
    await session.quit();
  }

  return {
    name: "relay",
    relay,
    concurrency,
    // Each session may have a second mail, which waits for the first one.
    maxUnderWay: pace === undefined ? 2 * concurrency : concurrency,
    admit: gate.admit,
    holdOf: gate.hold,
    isUnreachable: gate.isUnreachable,
    underWay: gate.underWay,
    probe() {
      const slot = isClosing ? null : gate.takeProbe();
      // A mail may ask for its slot inside a database transaction, which must not wait for the network.
      if (slot !== null) setImmediate(() => void openProbe(slot));
    },
    probeRelays() {
      if (gate.hold()?.at === "relay") this.probe();
    },
    start,
    withdrawWaiting: () => pool.withdrawWaiting(),
    close() {
      isClosing = true;
      probing?.close();
      return pool.close();
    },
  };
}

/** The options of a session with the relay. Throws if it would send a password in cleartext. */
export function relaySessionOptions({
  relay,
  hostname,
  timeouts,
  sessionClock,
  onStep,
  ca,
  resolve,
  checkAddress,
}: RelayOptions): SessionOptions {
  const problem = findCleartextPassword(relay);
  if (problem !== null) throw new Error(problem);
  const { host, port, user, password = "" } = relay;
  const tls: TlsPolicy =
    relay.tls === "none" ? { mode: "none" } : { mode: relay.tls, verify: true, ca };
  const credentials = user === undefined ? undefined : { user, password };
  const isCleartextLogin = relay.tls === "none" && credentials !== undefined;
  return {
    host,
    port,
    hostname,
    tls,
    credentials,
    timeouts,
    clock: sessionClock,
    onStep,
    resolve,
    checkAddress: isCleartextLogin
      ? (address) => requireLoopback(address) ?? checkAddress?.(address) ?? null
      : checkAddress,
  };
}

/**
 * Checks the address that is dialled, because a resolver may map "localhost" to another machine.
 */
function requireLoopback(address: string): string | null {
  return isLoopback(address) ? null : "not a loopback address: no password in cleartext";
}

function outcomeOf(relay: string, { delivery, conversations }: HostResult): Outcome {
  if (delivery.kind === "accepted") {
    const reason = `${relay} accepted it: ${quoteReply(delivery.reply)}`;
    return { kind: "accepted", class: "accepted", final: false, reason, conversations };
  }
  const endedBecause = (reason: string): Ended => ({ reason: `${relay} ${reason}`, conversations });
  if (delivery.kind === "refused") {
    const { step, reply } = delivery;
    return refused(
      step,
      readReply(step, reply),
      endedBecause(`refused at ${step}: ${quoteReply(reply)}`),
    );
  }
  if (delivery.kind === "unsendable") {
    return {
      ...endedBecause(`cannot accept it: ${delivery.message}`),
      ...readUnsendable(delivery),
    };
  }
  if (delivery.kind === "unopened") {
    return unopened(
      delivery.failure,
      endedBecause(`failed at ${describeFailure(delivery.failure)}`),
    );
  }
  return broken(delivery, endedBecause(`failed at ${describeFailure(delivery.failure)}`));
}

type Refused = { step: SmtpStep; reply: Reply; envelope: MailObject["envelope"] };

type Ended = Pick<Outcome, "reason" | "conversations">;

function refused(step: SmtpStep, reading: Refusal, ended: Ended): Outcome {
  const { about, ...rest } = reading;
  if (rest.kind === "deferred") return { ...ended, ...rest };
  const found = classAt(step, rest.class);
  if (about === "sender")
    return { ...ended, kind: "deferred", class: found, isSenderRefused: true };
  return { ...ended, kind: "bounced", class: found };
}

/** True if the relay will refuse all mail until something changes there or in our account. */
function isAboutAccount({ about, kind, class: found }: Refusal): boolean {
  if (about === "account") return true;
  return about === "site" && kind === "bounced" && found === "rate_limited";
}

/** Before RCPT the server does not know the recipient, so no reply can be about it. */
function classAt(step: SmtpStep, found: ReplyClass): ReplyClass {
  const isAboutRecipient = step === "rcpt" || step === "dot";
  return found === "no_such_recipient" && !isAboutRecipient ? "policy" : found;
}

/** A busy relay replies 4xx to the greeting or EHLO; the operator has to fix all other failures. */
function unopened({ step, cause }: Failure, ended: Ended): Outcome {
  const isBusy =
    cause.kind === "reply" && cause.code < 500 && (step === "greeting" || step === "ehlo");
  if (isBusy && cause.code >= 400) return refused(step, readReply(step, cause), ended);
  return { ...ended, kind: "deferred", class: "infrastructure" };
}

/** The mail may have been accepted, so it is not retried at once (docs/delivery.md#S5). */
function broken({ isUnknown }: { isUnknown: boolean }, ended: Ended): Outcome {
  const reason = isUnknown ? `${ended.reason}; ${UNKNOWN_END}` : ended.reason;
  return { ...ended, reason, kind: "deferred", class: "infrastructure" };
}
