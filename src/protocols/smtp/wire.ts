/**
 * The connection of a session: connects, encrypts, writes, and returns the replies of the server
 * one at a time. The first failure becomes the fault of the connection; no method throws.
 */

import net from "node:net";
import tls from "node:tls";
import type { TlsInfo } from "./conversation.ts";
import { Deadline } from "./deadline.ts";
import { describeSocketError, networkFault, type Fault } from "./failure.ts";
import { ReplyParser, type Reply } from "./reply.ts";

type Target = { address: string; port: number; localAddress?: string | undefined };

type Handshake = {
  /** Host name for SNI and for the verification of the certificate. */
  host: string;
  verify: boolean;
  /** PEM; trusted instead of the built-in authorities. */
  ca?: string | undefined;
};

export class Wire {
  #socket: net.Socket | null = null;
  #parser = new ReplyParser();
  #replies: Reply[] = [];
  #fault: Fault | null = null;
  #isClosed = false;
  #isReady = false;
  #isFull = false;
  #isIdle = false;
  #wake: (() => void) | null = null;
  readonly #deadline = new Deadline((waitedMs) => {
    this.#break({ kind: "timeout", message: `no answer within ${waitedMs / 1_000} s` });
  });

  /** Called once if the connection breaks while it is idle. */
  onIdleBroken: (() => void) | null = null;

  get fault(): Fault | null {
    return this.#fault;
  }

  /**
   * True if the server sent bytes that were not read yet. They are unexpected if no command is
   * open.
   */
  get hasInput(): boolean {
    return this.#replies.length > 0 || this.#parser.isMidReply;
  }

  /** Starts the watchdog: limits the total time until the next call of `watch`. */
  watch(totalMs: number): void {
    this.#deadline.watch(totalMs);
  }

  /** Connects. After a failure, `dial` may be called again with another address. */
  async dial(target: Target, timeoutMs: number): Promise<Fault | null> {
    if (this.#isClosed) return this.#fault;
    this.#fault = null;
    try {
      const { address: host, port, localAddress } = target;
      this.#adopt(net.connect({ host, port, ...(localAddress && { localAddress }) }), "connect");
    } catch (error) {
      this.#break(networkFault(error));
    }
    return this.#untilReady(timeoutMs);
  }

  /** Encrypts the connection; everything received in cleartext is discarded (RFC 3207 §4.2). */
  async secure(handshake: Handshake, timeoutMs: number): Promise<TlsInfo | Fault> {
    const raw = this.#socket;
    if (this.#fault !== null || raw === null) return this.#fault ?? CLOSED;
    if (this.hasInput) return this.#break(INJECTED);

    raw.off("data", this.#receive);
    this.#parser = new ReplyParser();
    try {
      this.#adopt(tls.connect(tlsOptions(raw, handshake)), "secureConnect");
    } catch (error) {
      this.#break({ kind: "tls", message: describeSocketError(error) });
    }
    const fault = await this.#untilReady(timeoutMs);
    if (fault === null) return this.#checkCertificate(handshake);
    this.#fault = asTlsFault(fault);
    return this.#fault;
  }

  /**
   * Writes bytes. Returns false if the send buffer is full; the caller must then wait for
   * `drained`.
   */
  write(data: string | Uint8Array): boolean {
    if (this.#fault !== null || this.#socket === null) return false;
    this.#isFull = !this.#socket.write(data);
    return !this.#isFull;
  }

  /** Waits until the send buffer is empty, the server sends a reply, or the connection breaks. */
  async drained(timeoutMs: number): Promise<void> {
    if (!this.#isFull) return;
    this.#deadline.arm(timeoutMs);
    while (this.#isFull && this.#replies.length === 0 && this.#fault === null) await this.#change();
    this.#deadline.disarm();
  }

  /** Returns the next reply, also one that was received before the connection broke. */
  async reply(timeoutMs: number): Promise<Reply | Fault> {
    if (this.#replies.length === 0 && this.#fault === null) {
      this.#deadline.arm(timeoutMs);
      while (this.#replies.length === 0 && this.#fault === null) await this.#change();
      this.#deadline.disarm();
    }
    return this.#replies.shift() ?? this.#fault ?? CLOSED;
  }

  /** Marks the connection idle between two mails: if the server sends anything, it is closed. */
  beginIdle(): void {
    if (this.hasInput) this.#break(UNEXPECTED_DATA);
    this.#isIdle = true;
  }

  endIdle(): void {
    this.#isIdle = false;
  }

  /** Closes the connection as if the timeout of the current step had expired. */
  interrupt(message: string): void {
    this.#isClosed = true;
    this.#break({ kind: "timeout", message });
  }

  /** Closes the connection; pending calls return the fault. */
  close(): void {
    this.#isClosed = true;
    this.#break(CLOSED);
  }

  /** Uses this socket from now on; events of the previous one are ignored. */
  #adopt(socket: net.Socket, readyEvent: "connect" | "secureConnect"): void {
    this.#socket = socket;
    this.#isReady = false;
    this.#isFull = false;
    // Each write is a complete command or block, so delaying it (Nagle) has no benefit.
    socket.setNoDelay(true);
    const ifCurrent = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.on("data", this.#receive);
    socket.on(readyEvent, ifCurrent(this.#onReady));
    socket.on("drain", ifCurrent(this.#onDrain));
    socket.on("end", ifCurrent(this.#onEnd));
    socket.on("close", ifCurrent(this.#onEnd));
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#break(networkFault(error));
    });
  }

  readonly #onReady = (): void => {
    this.#isReady = true;
    this.#notify();
  };

  readonly #onDrain = (): void => {
    this.#isFull = false;
    this.#notify();
  };

  readonly #onEnd = (): void => {
    this.#break(ENDED);
  };

  readonly #receive = (chunk: Buffer): void => {
    for (const result of this.#parser.push(chunk)) {
      if (result.kind === "reply") this.#replies.push(result);
      else this.#break(result);
    }
    if (this.#isIdle && this.hasInput) this.#break(UNEXPECTED_DATA);
    this.#notify();
  };

  async #untilReady(timeoutMs: number): Promise<Fault | null> {
    this.#deadline.arm(timeoutMs);
    while (!this.#isReady && this.#fault === null) await this.#change();
    this.#deadline.disarm();
    return this.#fault;
  }

  /**
   * Checks the certificate after the handshake. The handshake itself accepts any certificate, so that
   * the conversation records whether it was valid.
   */
  #checkCertificate(handshake: Handshake): TlsInfo | Fault {
    const socket = this.#socket;
    if (!(socket instanceof tls.TLSSocket)) return this.#break(CLOSED);
    if (handshake.verify && !socket.authorized) {
      const why = describeSocketError(socket.authorizationError);
      return this.#break({
        kind: "tls",
        message: `the certificate of ${handshake.host} does not verify: ${why}`,
      });
    }
    return {
      version: socket.getProtocol() ?? "unknown",
      cipher: socket.getCipher().name,
      verified: socket.authorized,
    };
  }

  #break(fault: Fault): Fault {
    if (this.#fault !== null) return this.#fault;
    this.#fault = fault;
    this.#deadline.clear();
    this.#socket?.destroy();
    this.#notify();
    if (this.#isIdle) this.onIdleBroken?.();
    return fault;
  }

  #change(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}

const CLOSED: Fault = { kind: "closed", message: "we closed the connection" };
const ENDED: Fault = { kind: "closed", message: "the server closed the connection" };
const UNEXPECTED_DATA: Fault = {
  kind: "closed",
  message: "the server sent data without a command",
};
const INJECTED: Fault = {
  kind: "protocol",
  message: "cleartext data after the reply to STARTTLS (RFC 3207 §5)",
};

function tlsOptions(socket: net.Socket, { host, ca }: Handshake): tls.ConnectionOptions {
  return {
    socket,
    host,
    // SNI contains a name, never an address (RFC 6066 §3).
    ...(net.isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: false,
  };
}

/** Any failure during the handshake is a TLS fault for the caller, except a timeout. */
function asTlsFault(fault: Fault): Fault {
  return fault.kind === "network" || fault.kind === "closed" ? { ...fault, kind: "tls" } : fault;
}
