/**
 * The connection under a session: dials, encrypts, writes, and hands out what the server says one
 * reply at a time. Whatever breaks becomes the wire's fault, once; nothing is ever thrown.
 */

import net from "node:net";
import tls from "node:tls";
import type { TlsInfo } from "../outcome.ts";
import { Deadline } from "./deadline.ts";
import { describeError, networkFault, type Fault } from "./failure.ts";
import { ReplyParser, type Reply } from "./reply.ts";

export type Target = { address: string; port: number; localAddress?: string | undefined };

export type Handshake = {
  /** For SNI and for the certificate. */
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
  #isResting = false;
  #wake: (() => void) | null = null;
  readonly #deadline = new Deadline((waitedMs) => {
    this.#break({ kind: "timeout", message: `no answer within ${waitedMs / 1_000} s` });
  });

  /** Called once if the wire breaks while it rests. */
  onRestBroken: (() => void) | null = null;

  get fault(): Fault | null {
    return this.#fault;
  }

  /** True if bytes of the server wait to be taken: out of turn, if nothing was asked. */
  get hasInput(): boolean {
    return this.#replies.length > 0 || this.#parser.isMidReply;
  }

  /** Gives everything until the next call of `watch` this much time. */
  watch(totalMs: number): void {
    this.#deadline.watch(totalMs);
  }

  /** A failed dial leaves the wire as it was: the next address may do better. */
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

  /** Encrypts the connection; from here on nothing received in clear counts (RFC 3207 §4.2). */
  async secure(handshake: Handshake, timeoutMs: number): Promise<TlsInfo | Fault> {
    const raw = this.#socket;
    if (this.#fault !== null || raw === null) return this.#fault ?? CLOSED;
    if (this.hasInput) return this.#break(INJECTED);

    raw.off("data", this.#receive);
    this.#parser = new ReplyParser();
    try {
      this.#adopt(tls.connect(tlsOptions(raw, handshake)), "secureConnect");
    } catch (error) {
      this.#break({ kind: "tls", message: describeError(error) });
    }
    const fault = await this.#untilReady(timeoutMs);
    if (fault === null) return this.#judge(handshake);
    this.#fault = asTlsFault(fault);
    return this.#fault;
  }

  /** False if the connection takes no more for now: wait for `room`. */
  write(data: string | Uint8Array): boolean {
    if (this.#fault !== null || this.#socket === null) return false;
    this.#isFull = !this.#socket.write(data);
    return !this.#isFull;
  }

  /** Until the connection takes more, the server speaks up, or something breaks. */
  async room(timeoutMs: number): Promise<void> {
    if (!this.#isFull) return;
    this.#deadline.arm(timeoutMs);
    while (this.#isFull && this.#replies.length === 0 && this.#fault === null) await this.#change();
    this.#deadline.disarm();
  }

  /** The next reply; a reply that came before the connection broke still counts. */
  async reply(timeoutMs: number): Promise<Reply | Fault> {
    if (this.#replies.length === 0 && this.#fault === null) {
      this.#deadline.arm(timeoutMs);
      while (this.#replies.length === 0 && this.#fault === null) await this.#change();
      this.#deadline.disarm();
    }
    return this.#replies.shift() ?? this.#fault ?? CLOSED;
  }

  /** Between two mails the server has nothing to say; if it does, it says goodbye. */
  rest(): void {
    if (this.hasInput) this.#break(OUT_OF_TURN);
    this.#isResting = true;
  }

  endRest(): void {
    this.#isResting = false;
  }

  /** Drops the connection for good, as if the time for the step at hand were over. */
  interrupt(message: string): void {
    this.#isClosed = true;
    this.#break({ kind: "timeout", message });
  }

  /** Drops the connection for good; whoever waits gets to hear it. */
  close(): void {
    this.#isClosed = true;
    this.#break(CLOSED);
  }

  /** Makes this the wire's socket; what the one before still has to say is not heard any more. */
  #adopt(socket: net.Socket, readyEvent: "connect" | "secureConnect"): void {
    this.#socket = socket;
    this.#isReady = false;
    this.#isFull = false;
    // Every write is a whole turn of the dialogue: holding it back gains nothing.
    socket.setNoDelay(true);
    const ifCurrent = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.on("data", this.#receive);
    socket.on(readyEvent, ifCurrent(this.#becomeReady));
    socket.on("drain", ifCurrent(this.#becomeWritable));
    socket.on("end", ifCurrent(this.#becomeEnded));
    socket.on("close", ifCurrent(this.#becomeEnded));
    socket.on("error", (error) => {
      if (this.#socket === socket) this.#break(networkFault(error));
    });
  }

  readonly #becomeReady = (): void => {
    this.#isReady = true;
    this.#notify();
  };

  readonly #becomeWritable = (): void => {
    this.#isFull = false;
    this.#notify();
  };

  readonly #becomeEnded = (): void => {
    this.#break(ENDED);
  };

  readonly #receive = (chunk: Buffer): void => {
    for (const result of this.#parser.push(chunk)) {
      if (result.kind === "reply") this.#replies.push(result);
      else this.#break(result);
    }
    if (this.#isResting && this.hasInput) this.#break(OUT_OF_TURN);
    this.#notify();
  };

  async #untilReady(timeoutMs: number): Promise<Fault | null> {
    this.#deadline.arm(timeoutMs);
    while (!this.#isReady && this.#fault === null) await this.#change();
    this.#deadline.disarm();
    return this.#fault;
  }

  /** The handshake itself accepts any certificate, so that the record says what was offered. */
  #judge(handshake: Handshake): TlsInfo | Fault {
    const socket = this.#socket;
    if (!(socket instanceof tls.TLSSocket)) return this.#break(CLOSED);
    if (handshake.verify && !socket.authorized) {
      const why = describeError(socket.authorizationError);
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
    if (this.#isResting) this.onRestBroken?.();
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
const OUT_OF_TURN: Fault = { kind: "closed", message: "the server spoke out of turn" };
const INJECTED: Fault = {
  kind: "protocol",
  message: "data in clear after the reply to STARTTLS (RFC 3207 §5)",
};

function tlsOptions(socket: net.Socket, { host, ca }: Handshake): tls.ConnectionOptions {
  return {
    socket,
    host,
    // RFC 6066 §3: SNI is a name, never an address.
    ...(net.isIP(host) === 0 && { servername: host }),
    ...(ca !== undefined && { ca }),
    minVersion: "TLSv1.2",
    rejectUnauthorized: false,
  };
}

/** Whatever ends a handshake is a matter of TLS to the caller; only silence stays silence. */
function asTlsFault(fault: Fault): Fault {
  return fault.kind === "network" || fault.kind === "closed" ? { ...fault, kind: "tls" } : fault;
}
