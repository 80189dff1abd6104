/**
 * The live events of inboxes as server-sent events (WHATWG HTML §9.2).
 *
 * 1. A client that reconnects sends the id of the last event that it got. The events since then are
 *    sent first. If they are no longer kept, or this process is another one, `reload` is sent.
 * 2. Each change is encoded once and sent to all clients of its inbox, in the order of the changes.
 *    At most four times a second the counts follow.
 * 3. A comment every 15 seconds keeps a connection open.
 * 4. A client that does not read is disconnected when its buffer is full.
 */

import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import type { InboxChange, InboxChanges, NumberedChange } from "../changes.ts";
import type { MessageStore } from "../messages/store.ts";
import { presentMessage } from "../present.ts";

const MAX_CLIENTS = 250;
const MAX_BUFFERED_BYTES = 1024 * 1024;
const COMMENT_MS = 15_000;
const STATS_MS = 250;

/** The clients of one inbox. */
type Channel = { clients: Set<Client>; unsubscribe: () => void; cancelStats: (() => void) | null };

export type Live = ReturnType<typeof createLive>;

export function createLive(deps: {
  changes: InboxChanges;
  store: Pick<MessageStore, "counts">;
  clock: Clock;
  /** Names this process in the ids of events. */
  processId: string;
}) {
  const { changes, store, clock, processId } = deps;
  const channels = new Map<number, Channel>();
  const encoder = new TextEncoder();

  function encode(name: string, data: unknown, number: number): Uint8Array {
    const lines = `id: ${processId}.${number}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    return encoder.encode(lines);
  }

  const changeEvent = ({ number, change }: NumberedChange) =>
    encode(change.type, dataOf(change), number);
  const statsEvent = (inboxSeq: number) =>
    encode("stats", store.counts(inboxSeq), changes.latest());

  function channelOf(inboxSeq: number): Channel {
    const known = channels.get(inboxSeq);
    if (known !== undefined) return known;
    const clients = new Set<Client>();
    const sendAll = (bytes: Uint8Array) => {
      for (const client of clients) client.send(bytes);
    };
    const unsubscribe = changes.subscribe(inboxSeq, (change) => {
      sendAll(changeEvent(change));
      channel.cancelStats ??= clock.after(STATS_MS, () => {
        channel.cancelStats = null;
        sendAll(statsEvent(inboxSeq));
      });
    });
    const channel: Channel = { clients, unsubscribe, cancelStats: null };
    channels.set(inboxSeq, channel);
    return channel;
  }

  function leave(inboxSeq: number, client: Client): void {
    const channel = channels.get(inboxSeq);
    channel?.clients.delete(client);
    if (channel === undefined || channel.clients.size > 0) return;
    channel.unsubscribe();
    channel.cancelStats?.();
    channels.delete(inboxSeq);
  }

  /** The events since the last one that a client got. */
  function missedEvents(inboxSeq: number, lastEventId: string): Uint8Array[] {
    const [id, number = ""] = lastEventId.split(".");
    const isOurs = id === processId && /^\d{1,15}$/.test(number);
    const missed = isOurs ? changes.since(inboxSeq, Number(number)) : null;
    return missed?.map(changeEvent) ?? [encode("reload", {}, changes.latest())];
  }

  const size = () => [...channels.values()].reduce((sum, { clients }) => sum + clients.size, 0);

  return {
    /** Number of connected clients. */
    size,

    /** The body of a response. Throws 429 if too many clients are connected. */
    open(inboxSeq: number, lastEventId: string | null): ReadableStream<Uint8Array> {
      if (size() >= MAX_CLIENTS) throw tooManyClients();
      const client = new Client(clock, () => leave(inboxSeq, client));
      channelOf(inboxSeq).clients.add(client);
      const missed = lastEventId === null ? [] : missedEvents(inboxSeq, lastEventId);
      return client.start([COMMENT, ...missed, statsEvent(inboxSeq)]);
    },

    /** Ends all connections, because the server stops. */
    close(): void {
      for (const { clients } of channels.values()) for (const client of clients) client.end();
    },
  };
}

const COMMENT = new TextEncoder().encode(": connected\n\n");

class Client {
  readonly #clock: Clock;
  readonly #onEnd: () => void;
  #controller: ReadableStreamDefaultController<Uint8Array> | null = null;
  #cancelComment: () => void = () => {};

  constructor(clock: Clock, onEnd: () => void) {
    this.#clock = clock;
    this.#onEnd = onEnd;
  }

  start(first: readonly Uint8Array[]): ReadableStream<Uint8Array> {
    const strategy = new ByteLengthQueuingStrategy({ highWaterMark: MAX_BUFFERED_BYTES });
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
      this.send(COMMENT);
      if (this.#controller !== null) this.#scheduleComment();
    });
  }

  #stop(): void {
    this.#controller = null;
    this.#cancelComment();
    this.#onEnd();
  }
}

function dataOf(change: InboxChange): unknown {
  if (change.type === "message") return presentMessage(change.message);
  if (change.type === "deleted") return { id: change.id };
  if (change.type !== "updated") return {};
  const { id, isRead, isPinned, tags } = change;
  return { id, read: isRead, pinned: isPinned, tags };
}

function tooManyClients(): AppError {
  return new AppError(429, "RATE_LIMIT_EXCEEDED", `More than ${MAX_CLIENTS} clients listen.`, {
    headers: { "Retry-After": "5" },
    suggestion: "Close some of the connections to …/events.",
  });
}
