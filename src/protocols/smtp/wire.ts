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

type Target = { address: string; port: number; localAddress?: string | undefined };

export class Wire {
  #replies = new ReplyQueue();
  /** Waits for the next reply; null if nothing waits for one. */
  #receive: ((answer: Reply | Fault) => void) | null = null;
  #isIdle = false;
  readonly #connection = new Connection({
    onData: (chunk) => this.#onData(chunk),
    onBroken: (fault) => this.#onBroken(fault),
  });
  readonly #deadline: Deadline;

  /** Called once if the connection breaks while it is idle. */
  onIdleBroken: (() => void) | null = null;

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

  /** Marks the connection idle between two mails: if the server sends anything, it is closed. */
  beginIdle(): void {
    if (this.hasInput) this.#connection.break(UNEXPECTED_DATA);
    this.#isIdle = true;
  }

  endIdle(): void {
    this.#isIdle = false;
  }

  /** Closes the connection; pending calls return the fault. */
  close(fault: Fault = CLOSED): void {
    this.#connection.close(fault);
  }

  #onData(chunk: Buffer): void {
    const fault = this.#replies.push(chunk);
    if (fault !== null) this.#connection.break(fault);
    if (this.#isIdle && this.hasInput) this.#connection.break(UNEXPECTED_DATA);
    if (this.#receive !== null) this.#pass(this.#replies.shift());
  }

  #onBroken(fault: Fault): void {
    this.#deadline.clear();
    if (this.#isIdle) this.onIdleBroken?.();
    else this.#pass(this.#replies.shift() ?? fault);
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
