/**
 * The connection to a server of mailboxes: lines and octets, each wait and the whole session with a time
 * limit. A server that sends more than is read is not read on, so memory stays bounded. Every method
 * that waits throws MailboxFault.
 */

import net from "node:net";
import type { Clock } from "../../lib/clock.ts";
import { Connection } from "../smtp/connection.ts";
import { Deadline } from "../smtp/deadline.ts";
import type { Fault } from "../smtp/failure.ts";
import { checkCertificate, startHandshake } from "../smtp/tls-handshake.ts";
import { MailboxFault } from "./mailbox-fault.ts";

type MailboxServer = {
  /** The name in SNI and in the certificate. */
  host: string;
  port: number;
  /** TLS from the first octet (RFC 8314); otherwise the password goes in cleartext. */
  isEncrypted: boolean;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

/** Longest silence of a server. */
const STEP_MS = 30_000;
/** The socket is not read while so many octets wait. */
const MAX_WAITING = 128 * 1024;
/** Octets that are read, or searched for the end of a line, at once. */
const PIECE_BYTES = 64 * 1024;
const LF = 0x0a;

type WireOptions = {
  clock: Clock;
  /** Addresses of the server, which were checked. The first one that answers is used. */
  addresses: readonly string[];
  /** Longest time of the whole session. */
  sessionMs: number;
  /** Ends the session. */
  signal: AbortSignal;
};

/** Connects, calls `use` with the connection, and closes it. */
export async function withWire<T>(
  server: MailboxServer,
  { clock, addresses, sessionMs, signal }: WireOptions,
  use: (wire: MailboxWire) => Promise<T>,
): Promise<T> {
  const wire = new MailboxWire(clock, sessionMs);
  const close = () => wire.close();
  signal.addEventListener("abort", close, { once: true });
  if (signal.aborted) close();
  try {
    await connectToOne(wire, server, addresses);
    return await use(wire);
  } finally {
    signal.removeEventListener("abort", close);
    close();
  }
}

async function connectToOne(
  wire: MailboxWire,
  server: MailboxServer,
  addresses: readonly string[],
): Promise<void> {
  let last = "it has no address";
  for (const address of addresses) {
    const fault = await wire.connect(server, address);
    if (fault === null) return;
    last = fault.message;
  }
  throw new MailboxFault("connect", `${server.host}:${server.port}: ${last}`);
}

export class MailboxWire {
  readonly #connection = new Connection({
    onData: (chunk) => this.#onData(chunk),
    onBroken: () => this.#deadline.clear(),
  });
  readonly #deadline: Deadline;
  #waiting: Buffer = Buffer.alloc(0);

  /** The whole session ends after `sessionMs`. */
  constructor(clock: Clock, sessionMs: number) {
    this.#deadline = new Deadline(clock, (waitedMs) => {
      const message = `no answer within ${waitedMs / 1_000} s`;
      this.#connection.break({ kind: "timeout", message });
    });
    this.#deadline.watch(sessionMs);
  }

  async connect({ host, port, isEncrypted, ca }: MailboxServer, address: string) {
    const connection = this.#connection;
    if (connection.isClosed) return connection.fault;
    this.#deadline.arm(STEP_MS);
    const fault = await connection.use(() => net.connect({ host: address, port }), "connect");
    const raw = connection.socket;
    if (fault !== null || raw === null || !isEncrypted) return this.#connected(fault);
    const handshake = { host, verify: true, ca };
    const tlsFault = await connection.use(() => startHandshake(raw, handshake), "secureConnect");
    if (tlsFault !== null)
      return this.#connected({ ...tlsFault, message: `TLS: ${tlsFault.message}` });
    const info = checkCertificate(connection.socket, handshake);
    return this.#connected("kind" in info ? connection.break(info) : null);
  }

  #connected(fault: Fault | null): Fault | null {
    this.#deadline.disarm();
    return fault;
  }

  write(text: string): void {
    this.#connection.write(text);
  }

  /** A line without its end. Throws if it is longer than `maxBytes`. */
  async readLine(maxBytes: number): Promise<string> {
    const pieces: Buffer[] = [];
    for (let left = maxBytes; left > 0;) {
      const piece = await this.#readPiece(Math.min(left, PIECE_BYTES));
      pieces.push(piece);
      left -= piece.byteLength;
      if (piece.at(-1) === LF) return Buffer.concat(pieces).toString("latin1").trimEnd();
    }
    throw new MailboxFault("protocol", `the server sent a line of more than ${maxBytes} octets`);
  }

  /** The octets up to the end of the line, or the first `maxBytes` of a longer line. */
  async #readPiece(maxBytes: number): Promise<Buffer> {
    for (let searched = 0; ;) {
      const end = this.#waiting.indexOf(LF, searched);
      if (end !== -1 || this.#waiting.byteLength >= maxBytes) {
        return this.#take(Math.min(end === -1 ? maxBytes : end + 1, maxBytes));
      }
      searched = this.#waiting.byteLength;
      await this.#more();
    }
  }

  /** Calls `read` with octets that have arrived, at least one. It returns how many it has read. */
  async readBlock(read: (block: Buffer) => number): Promise<void> {
    if (this.#waiting.byteLength === 0) await this.#more();
    this.#take(read(this.#waiting.subarray(0, PIECE_BYTES)));
  }

  /** Exactly so many octets. */
  async readBytes(count: number): Promise<Buffer> {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0;) {
      if (this.#waiting.byteLength === 0) await this.#more();
      const piece = this.#take(Math.min(left, this.#waiting.byteLength));
      pieces.push(piece);
      left -= piece.byteLength;
    }
    return Buffer.concat(pieces);
  }

  close(): void {
    this.#connection.close({ kind: "closed", message: "we closed the connection" });
  }

  #onData(chunk: Buffer): void {
    this.#waiting = Buffer.concat([this.#waiting, chunk]);
    if (this.#waiting.byteLength > MAX_WAITING) this.#connection.socket?.pause();
  }

  #take(count: number): Buffer {
    const taken = this.#waiting.subarray(0, count);
    this.#waiting = this.#waiting.subarray(count);
    return taken;
  }

  async #more(): Promise<void> {
    const connection = this.#connection;
    const before = this.#waiting.byteLength;
    this.#deadline.arm(STEP_MS);
    connection.socket?.resume();
    while (this.#waiting.byteLength === before && connection.fault === null) {
      await connection.changed();
    }
    this.#deadline.disarm();
    const { fault } = connection;
    if (fault === null || this.#waiting.byteLength > before) return;
    throw new MailboxFault(fault.kind === "timeout" ? "timeout" : "closed", fault.message);
  }
}
