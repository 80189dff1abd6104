/** Reads the live events of an inbox (GET /inboxes/{id}/events). */

import type { Message } from "../../../modules/inboxes/model.ts";

export type InboxChange =
  | { type: "message"; message: Message }
  | { type: "updated"; id: string; read: boolean; pinned: boolean; tags: string[] }
  | { type: "deleted"; id: string }
  /** Something changed that is not told one by one: the list must be read again. */
  | { type: "reload" }
  | { type: "stats"; total: number; unread: number };

export const EVENT_NAMES = ["message", "updated", "deleted", "cleared", "reload", "stats"] as const;
type EventName = (typeof EVENT_NAMES)[number];

/** The change that an event with this name tells; null if its data is of another form. */
export function readChange(data: unknown, name: EventName): InboxChange | null {
  if (name === "cleared" || name === "reload") return { type: "reload" };
  if (typeof data !== "object" || data === null) return null;
  if (name === "stats") {
    const { total, unread } = numbersOf(data);
    return { type: "stats", total, unread };
  }
  if (!hasId(data)) return null;
  if (name === "deleted") return { type: "deleted", id: data.id };
  if (name === "message") return isMessage(data) ? { type: "message", message: data } : null;
  return isState(data) ? { type: "updated", ...data } : null;
}

type State = { id: string; read: boolean; pinned: boolean; tags: string[] };

const hasId = (data: object): data is { id: string } => "id" in data && typeof data.id === "string";

const isState = (data: object): data is State =>
  "read" in data && "pinned" in data && "tags" in data && Array.isArray(data.tags);

/** The server presents messages in events as in lists. */
const isMessage = (data: object): data is Message => isState(data) && "subject" in data;

function numbersOf(data: object): { total: number; unread: number } {
  return {
    total: "total" in data ? Number(data.total) : 0,
    unread: "unread" in data ? Number(data.unread) : 0,
  };
}
