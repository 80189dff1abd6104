/** The WebSocket GET /api/events. */

import { type AnyElysia, Elysia } from "elysia";
import { undocumented } from "../../../http/documented.ts";
import type { InboxRow } from "../service.ts";
import type { MailpitAccess } from "./access.ts";
import { MailpitRefusal, refusalAnswer } from "./answers.ts";
import type { MailpitEvents } from "./events.ts";

/** A client that reads so slowly that more bytes wait is disconnected. */
const MAX_WAITING_BYTES = 8 * 1024 * 1024;
/** Frames of clients have no meaning. */
const MAX_FRAME_BYTES = 1024;
const MAX_SOCKETS = 500;

/** Ends the subscription; the bytes that wait because the client does not read. */
type Client = { end: () => void; waitingBytes: number };

export function mailpitSocket(deps: { access: MailpitAccess; events: MailpitEvents }): AnyElysia {
  const { access, events } = deps;
  /** The inboxes of admitted requests. */
  const admitted = new WeakMap<Request, InboxRow>();
  const open = new Map<string, Client>();

  return new Elysia({ name: "mailpit-socket" }).ws("/api/events", {
    detail: undocumented("EDITOR", "KEY"),
    maxPayloadLength: MAX_FRAME_BYTES,
    idleTimeout: 120,
    sendPings: true,
    async beforeHandle({ request, server }) {
      try {
        if (open.size >= MAX_SOCKETS) throw new MailpitRefusal(503, "too many connections");
        const peer = server?.requestIP(request)?.address ?? null;
        admitted.set(request, await access.inboxOf(request, peer));
        return undefined;
      } catch (error) {
        if (error instanceof MailpitRefusal) return refusalAnswer(error);
        throw error;
      }
    },
    open(ws) {
      const inbox = admitted.get(ws.data.request);
      if (inbox === undefined) {
        ws.close();
        return;
      }
      const client: Client = { waitingBytes: 0, end: () => undefined };
      open.set(ws.id, client);
      client.end = events.subscribe(inbox.seq, (frame) => {
        // A result below 1 means that the frame waits, because the client does not read.
        if (ws.raw.send(frame) < 1) client.waitingBytes += Buffer.byteLength(frame);
        if (client.waitingBytes > MAX_WAITING_BYTES) ws.raw.terminate();
      });
    },
    drain(ws) {
      const client = open.get(ws.id);
      if (client !== undefined) client.waitingBytes = 0;
    },
    message: () => undefined,
    close(ws) {
      open.get(ws.id)?.end();
      open.delete(ws.id);
    },
  });
}
