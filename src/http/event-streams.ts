/**
 * The open event streams of one kind, with their limits. Each stream belongs to a channel, such as
 * an inbox, and gets what is sent to it.
 *
 * 1. A stream is refused (429) if too many are open, in total or for one owner.
 * 2. First it gets the events that its client missed. If they do not fit into its buffer it gets
 *    `reload` instead; otherwise the client would be disconnected at each try.
 * 3. It ends after `LIFETIME_MS`. The client connects again by itself and sends the id of the last
 *    event that it got (WHATWG HTML §9.2), so that its key, session and role are checked again and no
 *    event is lost.
 */

import type { Clock } from "../lib/clock.ts";
import { AppError } from "../lib/errors.ts";
import { CONNECTED, StreamClient } from "./event-stream.ts";

const LIFETIME_MS = 10 * 60_000;
/** Sets the time after which a client connects again. */
const RETRY = new TextEncoder().encode("retry: 1000\n\n");

/** `owner` names the user or the project whose streams are counted together. */
type StreamReader = { channel: number; owner: string };

/** The events that a new stream gets before all others. */
type FirstEvents = {
  missed: readonly Uint8Array[];
  /** Sent instead of `missed` if that is too long. */
  reload: Uint8Array;
  /** Sent after them; has the id of the latest event. */
  current: Uint8Array;
};

type StreamLimits = {
  total: number;
  ofOwner: number;
  /** Bytes that wait for a client that reads slowly. */
  bufferedBytes: number;
};

type Stream = StreamReader & { client: StreamClient; cancelEnd: () => void };

/** `onEmpty` is called when the last stream of a channel has ended. */
export function createEventStreams(deps: {
  clock: Clock;
  limits: StreamLimits;
  onEmpty: (channel: number) => void;
}) {
  const { clock, limits, onEmpty } = deps;
  const channels = new Map<number, Set<Stream>>();
  const ofOwners = new Map<string, number>();
  let size = 0;

  function requireBelowLimit(owner: string): void {
    if ((ofOwners.get(owner) ?? 0) >= limits.ofOwner) throw tooManyOfOwner(limits.ofOwner);
    if (size >= limits.total) throw tooManyInTotal(limits.total);
  }

  function enter(stream: Stream): void {
    const { channel, owner } = stream;
    size++;
    ofOwners.set(owner, (ofOwners.get(owner) ?? 0) + 1);
    channels.set(channel, (channels.get(channel) ?? new Set()).add(stream));
  }

  function leave(stream: Stream): void {
    const { channel, owner, cancelEnd } = stream;
    cancelEnd();
    size--;
    const left = (ofOwners.get(owner) ?? 1) - 1;
    if (left === 0) ofOwners.delete(owner);
    else ofOwners.set(owner, left);
    const streams = channels.get(channel);
    streams?.delete(stream);
    if (streams?.size !== 0) return;
    channels.delete(channel);
    onEmpty(channel);
  }

  function firstBytes({ missed, reload, current }: FirstEvents): Uint8Array[] {
    const missedBytes = missed.reduce((sum, { byteLength }) => sum + byteLength, 0);
    // The other half of the buffer is for the events that follow before the client reads.
    const isShort = missedBytes <= limits.bufferedBytes / 2;
    return [CONNECTED, RETRY, ...(isShort ? missed : [reload]), current];
  }

  return {
    /** Number of open streams. */
    size: (): number => size,
    hasChannel: (channel: number): boolean => channels.has(channel),

    /** Returns the body of a response. Throws 429 before it calls `readFirst`. */
    open({ channel, owner }: StreamReader, readFirst: () => FirstEvents) {
      requireBelowLimit(owner);
      const first = firstBytes(readFirst());
      const client = new StreamClient(clock, () => leave(stream), limits.bufferedBytes);
      const cancelEnd = clock.after(LIFETIME_MS, () => client.end());
      const stream: Stream = { channel, owner, client, cancelEnd };
      enter(stream);
      return client.start(first);
    },

    send(channel: number, bytes: Uint8Array): void {
      for (const { client } of channels.get(channel) ?? []) client.send(bytes);
    },

    sendAll(bytes: Uint8Array): void {
      for (const streams of channels.values()) {
        for (const { client } of streams) client.send(bytes);
      }
    },

    /** Ends all streams, because the server stops. */
    close(): void {
      for (const streams of channels.values()) for (const { client } of streams) client.end();
    },
  };
}

/** Names the user of a session, or the project of a key. */
export function streamOwnerOf(admitted: {
  user: { seq: number } | null;
  project: { seq: number };
}): string {
  const { user, project } = admitted;
  return user === null ? `project ${project.seq}` : `user ${user.seq}`;
}

function tooManyOfOwner(limit: number): AppError {
  return tooMany(
    `You have ${limit} live connections open, which is the limit for one user or project.`,
    "Close some of them, for example windows of the dashboard.",
  );
}

function tooManyInTotal(limit: number): AppError {
  return tooMany(
    `The server has ${limit} live connections open, which is its limit for all users.`,
    "Try again later, when others have closed theirs.",
  );
}

function tooMany(message: string, suggestion: string): AppError {
  const headers = { "Retry-After": "5" };
  return new AppError(429, "RATE_LIMIT_EXCEEDED", message, { headers, suggestion });
}
