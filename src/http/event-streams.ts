/**
 * The open event streams of one kind. Each stream belongs to a channel, such as an inbox, and gets
 * what is sent to it.
 *
 * 1. live-connections.ts limits the number of streams and the lifetime of each.
 * 2. First a stream gets the events that its client missed. If they do not fit into its buffer it
 *    gets `reload` instead; otherwise the client would be disconnected at each try.
 * 3. Nothing is sent to a client that would not be admitted any more; its stream ends.
 * 4. At the end of its lifetime, the client connects again by itself and sends the id of the last
 *    event that it got (WHATWG HTML §9.2), so that no event is lost.
 */

import type { Clock } from "../lib/clock.ts";
import { CONNECTED, StreamClient } from "./event-stream.ts";
import { type ConnectionLimits, createLiveConnections } from "./live-connections.ts";

/** Sets the time after which a client connects again. */
const RETRY = new TextEncoder().encode("retry: 1000\n\n");

/** `owner` names the user or the project whose streams are counted together. */
type StreamReader = { channel: number; owner: string; isAdmitted: () => boolean };

type Reader = { client: StreamClient; isAdmitted: () => boolean };

/** The events that a new stream gets before all others. */
type FirstEvents = {
  missed: readonly Uint8Array[];
  /** Sent instead of `missed` if that is too long. */
  reload: Uint8Array;
  /** Sent after them; has the id of the latest event. */
  current: Uint8Array;
};

/** `bufferedBytes`: bytes that wait for a client that reads slowly. */
type StreamLimits = ConnectionLimits & { bufferedBytes: number };

/** `onEmpty` is called when the last stream of a channel has ended. */
export function createEventStreams(deps: {
  clock: Clock;
  limits: StreamLimits;
  onEmpty: (channel: number) => void;
}) {
  const { clock, limits, onEmpty } = deps;
  const connections = createLiveConnections({ clock, limits });
  const channels = new Map<number, Set<Reader>>();

  function enter(channel: number, reader: Reader): void {
    channels.set(channel, (channels.get(channel) ?? new Set()).add(reader));
  }

  function leave(channel: number, reader: Reader): void {
    const readers = channels.get(channel);
    readers?.delete(reader);
    if (readers?.size !== 0) return;
    channels.delete(channel);
    onEmpty(channel);
  }

  function sendTo({ client, isAdmitted }: Reader, bytes: Uint8Array): void {
    if (isAdmitted()) client.send(bytes);
    else client.end();
  }

  function firstBytes({ missed, reload, current }: FirstEvents): Uint8Array[] {
    const missedBytes = missed.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // The other half of the buffer is for the events that follow before the client reads.
    const isShort = missedBytes <= limits.bufferedBytes / 2;
    return [CONNECTED, RETRY, ...(isShort ? missed : [reload]), current];
  }

  return {
    /** Number of open streams. */
    size: connections.size,
    hasChannel: (channel: number): boolean => channels.has(channel),

    /** Returns the body of a response. Throws 429 before it calls `readFirst`. */
    open({ channel, owner, isAdmitted }: StreamReader, readFirst: () => FirstEvents) {
      connections.requireBelowLimit(owner);
      const first = firstBytes(readFirst());
      const client = new StreamClient(
        clock,
        () => {
          leaveConnections();
          leave(channel, reader);
        },
        limits.bufferedBytes,
      );
      const reader = { client, isAdmitted };
      const leaveConnections = connections.enter(owner, { end: () => client.end(), isAdmitted });
      enter(channel, reader);
      return client.start(first);
    },

    send(channel: number, bytes: Uint8Array): void {
      for (const reader of channels.get(channel) ?? []) sendTo(reader, bytes);
    },

    sendAll(bytes: Uint8Array): void {
      for (const readers of channels.values()) {
        for (const reader of readers) sendTo(reader, bytes);
      }
    },

    /** Ends all streams, because the server stops. */
    close: connections.close,
  };
}
