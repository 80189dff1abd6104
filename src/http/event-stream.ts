/**
 * One client of server-sent events (WHATWG HTML §9.2). A comment every 15 seconds keeps the
 * connection open, and a client that does not read is disconnected when its buffer is full.
 */

import type { Clock } from "../lib/clock.ts";

const COMMENT_MS = 15_000;

/** The first bytes of a stream: with them the client knows that it is connected. */
export const CONNECTED = new TextEncoder().encode(": connected\n\n");

export const EVENT_STREAM_HEADERS = {
  "Content-Type": "text/event-stream; charset=utf-8",
  "Cache-Control": "no-store",
  "X-Accel-Buffering": "no",
};

export class StreamClient {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  readonly #maxBytes: number;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #cancelComment: () => void = () => {};

  constructor(clock: Clock, onEnd: () => void, maxBytes: number) {
    this.#clock = clock;
    this.#onEnd = onEnd;
    this.#maxBytes = maxBytes;
  }

  start(first: readonly Uint8Array[]): ReadableStream<Uint8Array> {
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: this.#maxBytes });
    return new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          this.#controller = controller;
          for (const bytes of first) this.send(bytes);
          this.#scheduleComment();
        },
        cancel: () => this.#stop(),
      },
      strategy,
    );
  }

  send(bytes: Uint8Array): void {
    const controller = this.#controller;
    if (controller === null) return;
    if ((controller.desiredSize ?? 0) >= bytes.byteLength) return controller.enqueue(bytes);
    this.#stop();
    controller.error(new Error("The client does not read its events."));
  }

  end(): void {
    const controller = this.#controller;
    this.#stop();
    controller?.close();
  }

  #scheduleComment(): void {
    this.#cancelComment = this.#clock.after(COMMENT_MS, () => {
      this.send(CONNECTED);
      if (this.#controller !== null) this.#scheduleComment();
    });
  }

  #stop(): void {
    this.#controller = null;
    this.#cancelComment();
    this.#onEnd();
  }
}
