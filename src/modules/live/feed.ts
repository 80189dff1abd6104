/**
 * Tells the clients of the dashboard what happens in their projects: the names of events with the
 * ids of what they are about, so that a client knows what to read again.
 *
 * 1. A change that records an event, queues mail or stores a caught message wakes the feed after its
 *    commit, if there are clients. Without a change nothing is read.
 * 2. At most ten times a second the feed reads the rows after its position, and sends the lines of
 *    each project as one piece to the clients of the project.
 * 3. Changes that are no events, such as that of a template, are announced (events/announcements.ts).
 *    Each is sent once per flush. A client that was away does not get them, and reads everything
 *    again when it is shown.
 * 4. Each line has a position as its id. A client that reconnects sends it and gets the lines since
 *    then. After more than `MAX_MISSED` rows it gets `reload` instead, and must read everything again.
 */

import { createEventStreams } from "../../http/event-streams.ts";
import type { Announcement } from "../../events/announcements.ts";
import type { Clock } from "../../lib/clock.ts";
import type { LiveItem, LivePosition, LiveRows } from "./rows.ts";

const LIMITS = { total: 200, ofOwner: 20, bufferedBytes: 128 * 1024 };
const FLUSH_MS = 100;
/** Rows of one kind that are read at once. */
const PAGE = 500;
/** Announced changes that wait for the next flush. */
const MAX_ANNOUNCED = 500;
/** Rows of one kind that a client may have missed. */
const MAX_MISSED = 2_000;
const encoder = new TextEncoder();

/** `owner` names the user or the project whose streams are counted together. */
type FeedReader = { projectSeq: number; owner: string; isAdmitted: () => boolean };

export type LiveFeed = ReturnType<typeof createLiveFeed>;

export function createLiveFeed({ rows, clock }: { rows: LiveRows; clock: Clock }) {
  const streams = createEventStreams({ clock, limits: LIMITS, onEmpty: forget });
  const hasClients = () => streams.size() > 0;
  /** Caught messages, in the order in which they were parsed, that were not sent yet. */
  let messages: LiveItem[] = [];
  let announced = new Map<string, Announcement>();
  let position: LivePosition = { event: 0, mail: 0, message: 0 };
  let cancelFlush: (() => void) | null = null;

  function schedule(): void {
    if (!hasClients()) return;
    cancelFlush ??= clock.after(FLUSH_MS, () => {
      cancelFlush = null;
      flush();
    });
  }

  /** Sends the next rows of each kind. */
  function flush(): void {
    if (!hasClients()) return;
    if (isFarBehind()) return skip();
    const events = rows.eventsAfter(position.event, PAGE);
    const mails = rows.mailsAfter(position.mail, PAGE);
    const lines = linesOf(position, { events, mails, messages, announced: announced.values() });
    messages = [];
    announced = new Map();
    position = lines.position;
    for (const [projectSeq, text] of lines.byProject) {
      if (streams.hasChannel(projectSeq)) streams.send(projectSeq, encoder.encode(text));
    }
    if (Math.max(events.length, mails.length) === PAGE) schedule();
  }

  function isFarBehind(): boolean {
    const latest = rows.latest();
    return latest.event - position.event > MAX_MISSED || latest.mail - position.mail > MAX_MISSED;
  }

  /** There are more rows than clients could use. */
  function skip(): void {
    position = rows.latest();
    messages = [];
    announced = new Map();
    streams.sendAll(encoder.encode(reloadLine(position)));
  }

  /** The messages that a client missed since its last position, up to that of the feed. */
  function missedBy(projectSeq: number, lastEventId: string | null): string {
    if (lastEventId === null) return "";
    const since = readPosition(lastEventId);
    if (since === null || isTooOld(since, position)) return reloadLine(position);
    const upTo = (items: LiveItem[], end: number) =>
      items.filter((item) => item.projectSeq === projectSeq && item.seq <= end);
    const { byProject } = linesOf(since, {
      events: upTo(rows.eventsAfter(since.event, MAX_MISSED), position.event),
      mails: upTo(rows.mailsAfter(since.mail, MAX_MISSED), position.mail),
      messages: upTo(rows.messagesAfter(since.message, MAX_MISSED), position.message),
      announced: [],
    });
    return byProject.get(projectSeq) ?? "";
  }

  /** If the last client has left, the lines are not needed any more. */
  function forget(): void {
    if (hasClients()) return;
    cancelFlush?.();
    cancelFlush = null;
    messages = [];
    announced = new Map();
  }

  return {
    hasClients,
    /** Called after the commit of new events or mails. */
    wake: schedule,
    size: streams.size,

    /** Called after a caught message can be read. */
    onMessage({ inboxSeq, seq, id }: { inboxSeq: number; seq: number; id: string }): void {
      if (!hasClients()) return;
      const projectSeq = rows.projectOfInbox(inboxSeq);
      if (projectSeq === null) return;
      messages.push({ seq, projectSeq, type: "inbox.message", id });
      if (messages.length > MAX_MISSED) skip();
      schedule();
    },

    /** Called after the commit of a change that is no event. Equal ones are sent once. */
    onAnnounced(item: Announcement): void {
      if (!hasClients() || announced.size >= MAX_ANNOUNCED) return;
      announced.set(`${item.projectSeq} ${item.type} ${item.id}`, item);
      schedule();
    },

    /** The body of a response. Throws 429 if too many clients are connected. */
    open({ projectSeq, ...reader }: FeedReader, lastEventId: string | null) {
      return streams.open({ channel: projectSeq, ...reader }, () => {
        if (!hasClients()) position = rows.latest();
        const missed = missedBy(projectSeq, lastEventId);
        return {
          missed: missed === "" ? [] : [encoder.encode(missed)],
          reload: encoder.encode(reloadLine(position)),
          // The id without data tells the client its position before anything happens.
          current: encoder.encode(`id: ${textOf(position)}\n\n`),
        };
      });
    },

    close: streams.close,
  };
}

/** Whether there are too many rows between two positions, or they are in the wrong order. */
function isTooOld(since: LivePosition, now: LivePosition): boolean {
  const missed = [now.event - since.event, now.mail - since.mail, now.message - since.message];
  return missed.some((count) => count < 0 || count > MAX_MISSED);
}

/** The lines of each project, and the position after all of them. */
function linesOf(
  start: LivePosition,
  changes: Record<"events" | "mails" | "messages", readonly LiveItem[]> & {
    announced: Iterable<Announcement>;
  },
): { byProject: Map<number, string>; position: LivePosition } {
  const { events, mails, messages, announced } = changes;
  const byProject = new Map<number, string>();
  const position = { ...start };
  const add = (item: Announcement) => {
    const text = byProject.get(item.projectSeq) ?? "";
    byProject.set(item.projectSeq, text + lineOf(item, position));
  };
  // A mail is queued before its events.
  for (const item of mails) {
    position.mail = item.seq;
    add(item);
  }
  for (const item of events) {
    position.event = item.seq;
    add(item);
  }
  for (const item of messages) {
    position.message = Math.max(position.message, item.seq);
    add(item);
  }
  for (const item of announced) add(item);
  return { byProject, position };
}

const lineOf = ({ type, id }: Pick<LiveItem, "type" | "id">, position: LivePosition): string =>
  `id: ${textOf(position)}\ndata: ${JSON.stringify({ type, id })}\n\n`;

/** The line that tells a client to read everything again. */
const reloadLine = (position: LivePosition): string => lineOf({ type: "reload", id: "" }, position);

const textOf = ({ event, mail, message }: LivePosition): string => `${event}.${mail}.${message}`;

/** Returns null for a text that is no position. */
function readPosition(text: string): LivePosition | null {
  const match = /^(\d{1,15})\.(\d{1,15})\.(\d{1,15})$/.exec(text);
  if (match === null) return null;
  const [, event, mail, message] = match.map(Number);
  if (event === undefined || mail === undefined || message === undefined) return null;
  return { event, mail, message };
}
