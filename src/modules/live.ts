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

import { Elysia } from "elysia";
import type { App } from "../core/app.ts";
import type { Db } from "../db/open.ts";
import { statement } from "../db/statement.ts";
import { type Announcement, announcements } from "../events/announcements.ts";
import { eventLog } from "../events/log.ts";
import type { Admission } from "../http/admission.ts";
import { undocumented } from "../http/documented.ts";
import { EVENT_STREAM_HEADERS } from "../http/event-stream.ts";
import { createEventStreams } from "../http/event-streams.ts";
import { connectionOwnerOf } from "../http/live-connections.ts";
import { allowIdle } from "../http/long-requests.ts";
import type { Clock } from "../lib/clock.ts";
import { mailQueued } from "../outbox/enqueue.ts";
import type { Module } from "./module.ts";
import { perApp } from "../lib/per-app.ts";
import { admissionOf } from "./admission.ts";
import { inboxChanges } from "./inboxes/changes.ts";

type ParsedMessage = { inboxSeq: number; seq: number; id: string };

export const liveModule = perApp((app: App): Module => {
  const feed = createLiveFeed(app);
  eventLog(app).onEvent(() => {
    if (feed.hasClients()) app.writer.afterCommit(feed.wake);
  });
  mailQueued(app).onRaised(feed.wake);
  announcements(app).onAnnounced(feed.onAnnounced);
  inboxChanges(app).onMessage(feed.onMessage);
  return {
    name: "live",
    routes: [liveFeedRoutes(feed, admissionOf(app))],
    endRequests: feed.close,
  };
});

/** GET /app/api/live?project=ID    server-sent events of one project, for the dashboard */
function liveFeedRoutes(feed: LiveFeed, admission: Admission) {
  return new Elysia({ name: "live-feed-routes" }).use(admission.secretKey).get(
    "/app/api/live",
    ({ project, user, watchAdmission, request, server }) => {
      const reader = {
        projectSeq: project.seq,
        owner: connectionOwnerOf({ user, project }),
        isAdmitted: watchAdmission(),
      };
      const stream = feed.open(reader, request.headers.get("last-event-id"));
      allowIdle({ request, server }, 0);
      return new Response(stream, { headers: EVENT_STREAM_HEADERS });
    },
    { detail: undocumented("VIEWER") },
  );
}

/** The `seq` of the latest event, mail and caught message that a client knows. */
type LivePosition = { event: number; mail: number; message: number };

/** One line of the stream. `type` is the name of the event. */
type LiveItem = { seq: number; projectSeq: number; type: string; id: string };

// The id is that of the mail or the contact that the event is about, or else of the event.
const eventsAfter = statement<LiveItem, [number, number]>(`
  SELECT e.seq, e.project_seq AS projectSeq, e.name AS type, coalesce(m.id, c.id, e.id) AS id
  FROM events e LEFT JOIN emails m ON m.seq = e.email_seq
                LEFT JOIN contacts c ON c.seq = e.contact_seq
  WHERE e.seq > +? ORDER BY e.seq LIMIT +?`);

const mailsAfter = statement<LiveItem, [number, number]>(`
  SELECT seq, project_seq AS projectSeq, 'email.queued' AS type, id
  FROM emails WHERE seq > +? ORDER BY seq LIMIT +?`);

const messagesAfter = statement<LiveItem, [number, number]>(`
  SELECT m.seq, i.project_seq AS projectSeq, 'inbox.message' AS type, m.id
  FROM inbox_messages m JOIN inboxes i ON i.seq = m.inbox_seq
  WHERE m.seq > +? AND m.state IN ('PARSED', 'UNREADABLE') ORDER BY m.seq LIMIT +?`);

const findLatest = statement<LivePosition, []>(`
  SELECT coalesce((SELECT max(seq) FROM events), 0) AS event,
         coalesce((SELECT max(seq) FROM emails), 0) AS mail,
         coalesce((SELECT max(seq) FROM inbox_messages), 0) AS message`);

const findProjectOfInbox = statement<{ projectSeq: number }, [number]>(
  "SELECT project_seq AS projectSeq FROM inboxes WHERE seq = +?",
);

const START: LivePosition = { event: 0, mail: 0, message: 0 };

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

type LiveFeed = ReturnType<typeof createLiveFeed>;

export function createLiveFeed(app: { db: Pick<Db, "sqlite">; clock: Clock }) {
  const { clock } = app;
  const streams = createEventStreams({ clock, limits: LIMITS, onEmpty: forget });
  const hasClients = () => streams.size() > 0;
  /** Caught messages, in the order in which they were parsed, that were not sent yet. */
  let messages: LiveItem[] = [];
  let announced = new Map<string, Announcement>();
  let position = START;
  let cancelFlush: (() => void) | null = null;

  const findLatestPosition = () => findLatest(app).get() ?? START;

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
    const events = eventsAfter(app).all(position.event, PAGE);
    const mails = mailsAfter(app).all(position.mail, PAGE);
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
    const latest = findLatestPosition();
    return latest.event - position.event > MAX_MISSED || latest.mail - position.mail > MAX_MISSED;
  }

  /** There are more rows than clients could use. */
  function skip(): void {
    position = findLatestPosition();
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
      events: upTo(eventsAfter(app).all(since.event, MAX_MISSED), position.event),
      mails: upTo(mailsAfter(app).all(since.mail, MAX_MISSED), position.mail),
      messages: upTo(messagesAfter(app).all(since.message, MAX_MISSED), position.message),
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
    onMessage({ inboxSeq, seq, id }: ParsedMessage): void {
      if (!hasClients()) return;
      const inbox = findProjectOfInbox(app).get(inboxSeq);
      if (inbox === null) return; // It was removed.
      messages.push({ seq, projectSeq: inbox.projectSeq, type: "inbox.message", id });
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
        if (!hasClients()) position = findLatestPosition();
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
