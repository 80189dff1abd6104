/** The connected clients of the live stream, with their limits. */

import { CONNECTED, StreamClient } from "../../http/event-stream.ts";
import type { Clock } from "../../lib/clock.ts";
import { AppError } from "../../lib/errors.ts";

const MAX_CLIENTS = 200;
/** Clients of one user or key. */
const MAX_CLIENTS_OF_OWNER = 20;
/** Bytes that wait for a client that reads slowly. */
const MAX_BUFFERED_BYTES = 128 * 1024;
/** A client then connects again, so that its session and role are checked again. */
const LIFETIME_MS = 10 * 60_000;

/** `owner` names the user or the key whose clients are counted together. */
export type LiveReader = { projectSeq: number; owner: string };
type Connection = LiveReader & { client: StreamClient; cancelEnd: () => void };

const encoder = new TextEncoder();

/** `onEmpty` is called when the last client has left. */
export function createLiveConnections({ clock, onEmpty }: { clock: Clock; onEmpty: () => void }) {
  const connections = new Set<Connection>();

  function leave(connection: Connection): void {
    connection.cancelEnd();
    connections.delete(connection);
    if (connections.size === 0) onEmpty();
  }

  return {
    hasClients: (): boolean => connections.size > 0,
    size: (): number => connections.size,

    /** Throws 429 if too many clients are connected. */
    requireBelowLimit({ owner }: LiveReader): void {
      const ofOwner = [...connections].filter((each) => each.owner === owner).length;
      if (connections.size >= MAX_CLIENTS || ofOwner >= MAX_CLIENTS_OF_OWNER) throw tooMany();
    },

    /** Adds a client, which first gets `text`. Returns the body of its response. */
    add(reader: LiveReader, text: string): ReadableStream<Uint8Array> {
      const client = new StreamClient(clock, () => leave(connection), MAX_BUFFERED_BYTES);
      const cancelEnd = clock.after(LIFETIME_MS, () => client.end());
      const connection: Connection = { ...reader, client, cancelEnd };
      connections.add(connection);
      return client.start([CONNECTED, encoder.encode(text)]);
    },

    /** Sends each project its text, encoded once for all of its clients. */
    send(textOfProject: ReadonlyMap<number, string>): void {
      const encoded = new Map<number, Uint8Array>();
      for (const { projectSeq, client } of connections) {
        const text = textOfProject.get(projectSeq);
        if (text === undefined) continue;
        const bytes = encoded.get(projectSeq) ?? encoder.encode(text);
        encoded.set(projectSeq, bytes);
        client.send(bytes);
      }
    },

    sendAll(text: string): void {
      const bytes = encoder.encode(text);
      for (const { client } of connections) client.send(bytes);
    },

    /** Ends all connections, because the server stops. */
    close(): void {
      for (const { client } of connections) client.end();
    },
  };
}

function tooMany(): AppError {
  const message = `More than ${MAX_CLIENTS_OF_OWNER} live connections are open.`;
  return new AppError(429, "RATE_LIMIT_EXCEEDED", message, {
    headers: { "Retry-After": "5" },
    suggestion: "Close some windows of the dashboard.",
  });
}
