/**
 * The socket of a session and its state: ready, full, broken. A caller can wait for the next change
 * of it. The first failure becomes the fault of the connection and closes it; no method throws.
 */

import type net from "node:net";
import { networkFault, type Fault } from "./failure.ts";

type Listeners = {
  /** Called with the received bytes. */
  onData: (chunk: Buffer) => void;
  /** Called when the connection breaks, with the first fault. */
  onBroken: (fault: Fault) => void;
};

/** The event of a socket that can be used. */
type ReadyEvent = "connect" | "secureConnect";

const ENDED: Fault = { kind: "closed", message: "the server closed the connection" };

export class Connection {
  readonly #listeners: Listeners;
  #socket: net.Socket | null = null;
  #fault: Fault | null = null;
  #isClosed = false;
  #isReady = false;
  #isFull = false;
  #wake: (() => void) | null = null;

  constructor(listeners: Listeners) {
    this.#listeners = listeners;
  }

  /** The current socket; null before the first `use`. */
  get socket(): net.Socket | null {
    return this.#socket;
  }

  get fault(): Fault | null {
    return this.#fault;
  }

  /** True from a write that fills the send buffer until the buffer is empty. */
  get isFull(): boolean {
    return this.#isFull;
  }

  /** True after `close`: no other socket may be used. */
  get isClosed(): boolean {
    return this.#isClosed;
  }

  /**
   * Uses a new socket from now on and waits until it is ready. Events of the previous one are
   * ignored, and a fault of it is forgotten.
   */
  async use(create: () => net.Socket, readyEvent: ReadyEvent): Promise<Fault | null> {
    this.#fault = null;
    this.#socket?.off("data", this.#onData);
    try {
      this.#listenTo(create(), readyEvent);
    } catch (error) {
      this.break(networkFault(error));
    }
    while (!this.#isReady && this.fault === null) await this.changed();
    return this.fault;
  }

  /** Writes bytes, unless the connection is broken. Returns false if it cannot take more now. */
  write(data: string | Uint8Array): boolean {
    if (this.#fault !== null || this.#socket === null) return false;
    this.#isFull = !this.#socket.write(data);
    return !this.#isFull;
  }

  /** Waits until bytes are received, the send buffer is empty, or the connection breaks. */
  changed(): Promise<void> {
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  /** Closes the connection because of a fault. Returns its first fault. */
  break(fault: Fault): Fault {
    if (this.#fault !== null) return this.#fault;
    this.#fault = fault;
    this.#socket?.destroy();
    this.#notify();
    this.#listeners.onBroken(fault);
    return fault;
  }

  /** Closes the connection for good. */
  close(fault: Fault): void {
    this.#isClosed = true;
    this.break(fault);
  }

  #listenTo(socket: net.Socket, readyEvent: ReadyEvent): void {
    this.#socket = socket;
    this.#isReady = false;
    this.#isFull = false;
    // Each write is a complete command or block, so delaying it (Nagle) has no benefit.
    socket.setNoDelay(true);
    const ifCurrent = (act: () => void) => () => {
      if (this.#socket === socket) act();
    };
    socket.on("data", this.#onData);
    socket.on(readyEvent, ifCurrent(this.#onReady));
    socket.on("drain", ifCurrent(this.#onDrain));
    const onEnd = ifCurrent(() => this.break(ENDED));
    socket.on("end", onEnd);
    socket.on("close", onEnd);
    socket.on("error", (error) => {
      if (this.#socket === socket) this.break(networkFault(error));
    });
  }

  readonly #onData = (chunk: Buffer): void => {
    this.#listeners.onData(chunk);
    this.#notify();
  };

  readonly #onReady = (): void => {
    this.#isReady = true;
    this.#notify();
  };

  readonly #onDrain = (): void => {
    this.#isFull = false;
    this.#notify();
  };

  #notify(): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.();
  }
}
