/**
 * The WebSocket GET /api/events.
 *
 * 1. Before the upgrade, a request is admitted and refused (429) beyond the limits of live
 *    connections, which are those of the event streams of inboxes (../live/stream.ts).
 * 2. Requests that were admitted at the same moment are counted when their connection opens; beyond
 *    the limit it is closed with 1013, "try again later" (the registry of RFC 6455 §11.7).
 * 3. It ends with 1001 (RFC 6455 §7.4.1) after its lifetime, and when the server stops.
 */

import { peerOf } from "../../../http/incoming.ts";
import { type AnyElysia, Elysia } from "elysia";
import { undocumented } from "../../../http/documented.ts";
import { connectionOwnerOf, type LiveConnections } from "../../../http/live-connections.ts";
import { AppError, inSentences } from "../../../lib/errors.ts";
import { LIVE_LIMITS } from "../live/stream.ts";
import type { InboxRow } from "../service.ts";
import type { MailpitAccess } from "./access.ts";
import { MailpitRefusal, refusalAnswer } from "./answers.ts";
import type { MailpitEvents } from "./events.ts";

/** Frames of clients have no meaning. */
const MAX_FRAME_BYTES = 1024;
const GOING_AWAY = 1001;
const TRY_AGAIN_LATER = 1013;

export function mailpitSocket(deps: {
  access: MailpitAccess;
  events: MailpitEvents;
  connections: LiveConnections;
  /** The path before that of the route. */
  root: string;
}): AnyElysia {
  const { access, events, connections, root } = deps;
  /** The inboxes of admitted requests. */
  const admitted = new WeakMap<Request, InboxRow>();
  /** The functions that end the subscriptions of open connections. */
  const open = new Map<string, () => void>();

  return new Elysia({ name: `mailpit-socket ${root}` }).ws(`${root}/api/events`, {
    detail: undocumented("EDITOR", "KEY"),
    maxPayloadLength: MAX_FRAME_BYTES,
    idleTimeout: 120,
    sendPings: true,
    async beforeHandle({ request, server }) {
      try {
        const peer = peerOf({ request, server });
        const inbox = await access.inboxOf(request, peer);
        connections.requireBelowLimit(ownerOf(inbox));
        admitted.set(request, inbox);
        return undefined;
      } catch (error) {
        if (error instanceof MailpitRefusal) return refusalAnswer(error);
        if (error instanceof AppError) return refusalAnswer(asRefusal(error));
        throw error;
      }
    },
    open(ws) {
      const inbox = admitted.get(ws.data.request);
      if (inbox === undefined) return ws.close();
      const end = () => ws.close(GOING_AWAY, "The connection was ended. Connect again.");
      const leave = enter(connections, inbox, end);
      if (leave instanceof AppError) return ws.close(TRY_AGAIN_LATER, leave.message);
      open.set(ws.id, leave);
      const unsubscribe = events.subscribe(inbox, (frame) => {
        ws.raw.send(frame);
        if (waitingBytesOf(ws.raw) > LIVE_LIMITS.bufferedBytes) ws.raw.terminate();
      });
      open.set(ws.id, () => {
        unsubscribe();
        leave();
      });
    },
    message: () => undefined,
    close(ws) {
      open.get(ws.id)?.();
      open.delete(ws.id);
    },
  });
}

/** Bytes that wait because the client does not read. The types of Elysia do not have this method. */
function waitingBytesOf(socket: object): number {
  const method: unknown = Reflect.get(socket, "getBufferedAmount");
  if (typeof method !== "function") throw new Error("the WebSocket has no getBufferedAmount()");
  return Number(method.call(socket));
}

/** All inboxes of a project count together. */
function ownerOf({ projectSeq }: InboxRow): string {
  return connectionOwnerOf({ user: null, project: { seq: projectSeq } });
}

/** Returns the function that gives the place back, or the refusal. */
function enter(
  connections: LiveConnections,
  inbox: InboxRow,
  end: () => void,
): (() => void) | AppError {
  try {
    // It belongs to no session; its lifetime bounds it.
    return connections.enter(ownerOf(inbox), { end, isAdmitted: () => true });
  } catch (error) {
    if (error instanceof AppError) return error;
    throw error;
  }
}

function asRefusal({ status, message, suggestion = "", headers }: AppError): MailpitRefusal {
  return new MailpitRefusal(status, inSentences(message, suggestion), { ...headers });
}
