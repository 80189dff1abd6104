/**
 * The live events of inboxes as server-sent events (WHATWG HTML §9.2).
 *
 * 1. A client that reconnects sends the id of the last event that it got. The events since then are
 *    sent first. If they are no longer kept, or this process is another one, `reload` is sent.
 * 2. Each change is encoded once and sent to all clients of its inbox, in the order of the changes.
 *    At most four times a second the counts follow.
 */

import { CONNECTED, StreamClient } from "../../../http/event-stream.ts";
import type { Clock } from "../../../lib/clock.ts";
import { AppError } from "../../../lib/errors.ts";
import type { InboxChange, InboxChanges, NumberedChange } from "../changes.ts";
import type { MessageStore } from "../messages/store.ts";
import { presentMessage } from "../present.ts";

const MAX_CLIENTS = 250;
const STATS_MS = 250;

/** The clients of one inbox. */
type Channel = {
  clients: Set<StreamClient>;
  unsubscribe: () => void;
  cancelStats: (() => void) | null;
};

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
    const clients = new Set<StreamClient>();
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

  function leave(inboxSeq: number, client: StreamClient): void {
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
      const client = new StreamClient(clock, () => leave(inboxSeq, client));
      channelOf(inboxSeq).clients.add(client);
      const missed = lastEventId === null ? [] : missedEvents(inboxSeq, lastEventId);
      return client.start([CONNECTED, ...missed, statsEvent(inboxSeq)]);
    },

    /** Ends all connections, because the server stops. */
    close(): void {
      for (const { clients } of channels.values()) for (const client of clients) client.end();
    },
  };
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
