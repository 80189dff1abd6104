/**
 * SMTP over a connection: connects, encrypts, writes, and returns the replies of the server one at
 * a time. Each wait has a time limit. No method throws.
 */

import net from "node:net";
import type { Clock } from "../../lib/clock.ts";
import type { TlsInfo } from "./conversation.ts";
import { Connection } from "./connection.ts";
import { Deadline } from "./deadline.ts";
import { CLOSED, type Fault } from "./failure.ts";
import { type Reply, ReplyQueue } from "./reply.ts";
import { asTlsFault, checkCertificate, type Handshake, startHandshake } from "./tls-handshake.ts";

/** Receives the replies of an open session, and how it ends. */
type Receiver = {
  /** False if no reply is awaited: then nothing may arrive. */
  readonly isBusy: boolean;
  onReply(reply: Reply): void;
  onBroken(fault: Fault): void;
};

type Target = { address: string; port: number; localAddress?: string | undefined };

export class Wire {
  #replies = new ReplyQueue();
  /** Waits for the next reply; null if nothing waits for one. */
  #receive: ((answer: Reply | Fault) => void) | null = null;
  /** Receives all replies once the session is open; null before. */
  #receiver: Receiver | null = null;
  readonly #connection = new Connection({
    onData: (chunk) => this.#onData(chunk),
    onBroken: (fault) => this.#onBroken(fault),
  });
  readonly #deadline: Deadline;

  constructor(clock: Clock) {
    this.#deadline = new Deadline(clock, (waitedMs) => this.#connection.break(noAnswer(waitedMs)));
  }

  get fault(): Fault | null {
    return this.#connection.fault;
  }

  /**
   * True if the server sent bytes that were not read yet. They are unexpected if no command is
   * open.
   */
  get hasInput(): boolean {
    return this.#replies.hasInput;
  }

  /** Starts the watchdog: limits the total time until the next call of `watch`. */
  watch(totalMs: number): void {
    this.#deadline.watch(totalMs);
  }

  /** Connects. After a failure, `dial` may be called again with another address. */
  async dial(target: Target, timeoutMs: number): Promise<Fault | null> {
    if (this.#connection.isClosed) return this.fault;
    this.#deadline.arm(timeoutMs);
    const fault = await this.#connection.use(() => connectTo(target), "connect");
    this.#deadline.disarm();
    return fault;
  }

  /** Encrypts the connection; everything received in cleartext is discarded (RFC 3207 §4.2). */
  async secure(handshake: Handshake, timeoutMs: number): Promise<TlsInfo | Fault> {
    const connection = this.#connection;
    const raw = connection.socket;
    if (connection.fault !== null || raw === null) return connection.fault ?? CLOSED;
    if (this.hasInput) return connection.break(INJECTED);

    this.#replies = new ReplyQueue();
    this.#deadline.arm(timeoutMs);
    const fault = await connection.use(() => startHandshake(raw, handshake), "secureConnect");
    this.#deadline.disarm();
    if (fault !== null) return asTlsFault(fault);
    const info = checkCertificate(connection.socket, handshake);
    return "kind" in info ? connection.break(info) : info;
  }

  /**
   * Writes bytes. Returns false if the send buffer is full; the caller must then wait for
   * `drained`.
   */
  write(data: string | Uint8Array): boolean {
    return this.#connection.write(data);
  }

  /** Waits until the send buffer is empty, the server sends a reply, or the connection breaks. */
  async drained(timeoutMs: number): Promise<void> {
    const connection = this.#connection;
    if (!connection.isFull) return;
    this.#deadline.arm(timeoutMs);
    while (connection.isFull && this.#replies.isEmpty && connection.fault === null) {
      await connection.changed();
    }
    this.#deadline.disarm();
  }

  /** Calls `receive` with the next reply, at once if it was received already. */
  whenReplied(timeoutMs: number, receive: (answer: Reply | Fault) => void): void {
    const answer = this.#replies.shift() ?? this.#connection.fault;
    if (answer !== null) return receive(answer);
    this.#receive = receive;
    this.#deadline.arm(timeoutMs);
  }

  /** From now on, `receiver` gets all replies; with null, `whenReplied` does. */
  receiveBy(receiver: Receiver | null): void {
    this.#receiver = receiver;
  }

  /** Limits the wait for the next reply. */
  arm(timeoutMs: number): void {
    this.#deadline.arm(timeoutMs);
  }

  /** No reply is awaited. */
  disarm(): void {
    this.#deadline.disarm();
  }

  /** Closes the connection, because the server sent something to which nothing belongs. */
  breakUnexpected(): void {
    this.#connection.break(UNEXPECTED_DATA);
  }

  /** Closes the connection; pending calls return the fault. */
  close(fault: Fault = CLOSED): void {
    this.#connection.close(fault);
  }

  #onData(chunk: Buffer): void {
    const fault = this.#replies.push(chunk);
    if (this.#receive !== null) this.#pass(this.#replies.shift());
    this.#passAll();
    if (fault !== null) this.#connection.break(fault);
    else if (this.#receiver?.isBusy === false && this.hasInput) this.breakUnexpected();
  }

  #passAll(): void {
    while (this.#receiver !== null && this.#connection.fault === null) {
      const reply = this.#replies.shift();
      if (reply === null) return;
      this.#receiver.onReply(reply);
    }
  }

  #onBroken(fault: Fault): void {
    this.#deadline.clear();
    if (this.#receiver === null) this.#pass(this.#replies.shift() ?? fault);
    else this.#receiver.onBroken(fault);
  }

  /** Passes an answer to the pending receiver. */
  #pass(answer: Reply | Fault | null): void {
    const receive = this.#receive;
    if (receive === null || answer === null) return;
    this.#receive = null;
    this.#deadline.disarm();
    receive(answer);
  }
}

const UNEXPECTED_DATA: Fault = {
  kind: "closed",
  message: "the server sent data without a command",
};
const INJECTED: Fault = {
  kind: "protocol",
  message: "cleartext data after the reply to STARTTLS (RFC 3207 §5)",
};

function noAnswer(waitedMs: number): Fault {
  return { kind: "timeout", message: `no answer within ${waitedMs / 1_000} s` };
}

function connectTo({ address: host, port, localAddress }: Target): net.Socket {
  return net.connect({ host, port, ...(localAddress && { localAddress }) });
}
