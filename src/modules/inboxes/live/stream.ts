/**
 * The live events of inboxes as server-sent events (WHATWG HTML §9.2).
 *
 * 1. A client that reconnects sends the id of the last event that it got. The events since then are
 *    sent first. If they are no longer kept, or this process is another one, `reload` is sent.
 * 2. Each change is encoded once and sent to all clients of its inbox, in the order of the changes.
 *    At most four times a second the counts follow.
 */

import { createEventStreams } from "../../../http/event-streams.ts";
import type { InboxChange, NumberedChange } from "../changes.ts";
import { presentMessage } from "../present.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { inboxChanges } from "../changes.ts";
import { type Counts, countInbox } from "../messages/numbers.ts";
import type { InboxRow } from "../service.ts";
import { type CountsFeed, createCountsFeed } from "./counts-feed.ts";
import { randomBase62 } from "../../../lib/crypto.ts";

/** The tests of a project may read many streams at once, so an owner can have 200. */
export const LIVE_LIMITS = { total: 500, ofOwner: 200, bufferedBytes: 512 * 1024 };

/** The changes of one inbox that has clients, and its numbers of messages. */
type Subscription = { unsubscribe: () => void; feed: CountsFeed };

type Inbox = Pick<InboxRow, "seq" | "projectSeq">;

/** `latest`: the number of the latest change when the counting began. */
type Counted = { counts: Counts; latest: number };

/** `owner` names the user or the project whose streams are counted together. */
type InboxReader = { inbox: Inbox; counted: Counted; owner: string; isAdmitted: () => boolean };

export const inboxLive = perApp(createLive);

function createLive(app: App) {
  const { clock } = app;
  const changes = inboxChanges(app);
  /** Names this process in the ids of events. */
  const processId = randomBase62(8);
  const streams = createEventStreams({ clock, limits: LIVE_LIMITS, onEmpty: unsubscribe });
  const subscriptions = new Map<number, Subscription>();
  const encoder = new TextEncoder();

  function encode(name: string, data: unknown, number: number): Uint8Array {
    const lines = `id: ${processId}.${number}\nevent: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
    return encoder.encode(lines);
  }

  const changeEvent = ({ number, change }: NumberedChange) =>
    encode(change.type, dataOf(change), number);
  const statsEvent = (counts: Counts) => encode("stats", counts, changes.latest());

  function subscribe(inbox: Inbox): Subscription {
    const { seq } = inbox;
    const feed = createCountsFeed(app, inbox, {
      send: (counts) => streams.send(seq, statsEvent(counts)),
      lastAt: clock.elapsed(),
    });
    const unsubscribe = changes.subscribe(seq, (change) => {
      streams.send(seq, changeEvent(change));
      feed.schedule();
    });
    const subscription = { unsubscribe, feed };
    subscriptions.set(seq, subscription);
    return subscription;
  }

  function unsubscribe(inboxSeq: number): void {
    const subscription = subscriptions.get(inboxSeq);
    subscription?.unsubscribe();
    subscription?.feed.end();
    subscriptions.delete(inboxSeq);
  }

  /** The events since the last one that a client got; null if they are not known any more. */
  function missedEvents(inboxSeq: number, lastEventId: string | null): Uint8Array[] | null {
    if (lastEventId === null) return [];
    const [id, number = ""] = lastEventId.split(".");
    const isOurs = id === processId && /^\d{1,15}$/.test(number);
    const missed = isOurs ? changes.since(inboxSeq, Number(number)) : null;
    return missed?.map(changeEvent) ?? null;
  }

  return {
    /** Number of connected clients. */
    size: streams.size,

    /** The numbers that a new client gets. */
    async count(inbox: Inbox): Promise<Counted> {
      const latest = changes.latest();
      return { counts: await countInbox(app, inbox), latest };
    },

    /** The body of a response. Throws 429 if too many clients are connected. */
    open({ inbox, counted, ...reader }: InboxReader, lastEventId: string | null) {
      return streams.open({ channel: inbox.seq, ...reader }, () => {
        const reload = encode("reload", {}, changes.latest());
        const missed = missedEvents(inbox.seq, lastEventId) ?? [reload];
        const current = statsEvent(counted.counts);
        const { feed } = subscriptions.get(inbox.seq) ?? subscribe(inbox);
        if (changes.latest() > counted.latest) feed.schedule();
        return { missed, reload, current };
      });
    },

    /** Ends all connections, because the server stops. */
    close: streams.close,
  };
}

function dataOf(change: InboxChange): unknown {
  if (change.type === "message") return presentMessage(change.message);
  if (change.type === "deleted") return { id: change.id };
  if (change.type !== "updated") return {};
  const { id, isRead, isPinned, tags } = change;
  return { id, read: isRead, pinned: isPinned, tags };
}
