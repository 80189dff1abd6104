/**
 * Transcripts of SMTP sessions.
 *
 * 1. The lines of a session are collected in memory with their times, up to limits.
 * 2. A session belongs to the inbox of its last message; without one, to the inbox of its user.
 * 3. At its end it is stored. An inbox keeps the newest sessions.
 */

import { Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { isoTime, isoTimeOrNull } from "../../../lib/clock.ts";
import { notFound } from "../../../lib/errors.ts";
import { describeError } from "../../../lib/log.ts";
import type { SessionDetail, SmtpSession } from "./model.ts";
import type { App } from "../../../core/app.ts";
import { perApp } from "../../../lib/per-app.ts";
import { announceRefusals } from "../service.ts";

/** Lines of one session; later ones are only counted. */
const MAX_LINES = 500;
const MAX_LINE_CHARACTERS = 1_000;
/** Sessions that an inbox keeps, and the number to which they are reduced. */
const MAX_STORED = 250;
const KEPT = 200;
/** Sessions in memory; more are not recorded. */
const MAX_ACTIVE = 1_000;

/** Stands for the reply where a rule closed the connection without one. */
const CLOSED = "(a failure rule closed the connection)";

const Transcript = Type.Array(
  Type.Tuple([Type.Number(), Type.Union([Type.Literal("C"), Type.Literal("S")]), Type.String()]),
);
type Line = [atMs: number, direction: "C" | "S", text: string];

type Active = {
  startedAt: number;
  startedMs: number;
  lines: Line[];
  omitted: number;
  /** Null until a message arrives or a rule acts. */
  inboxSeq: number | null;
  peer: string;
};

type Row = { id: string; startedAt: number; endedAt: number; peer: string; transcript: string };
type NewRow = Row & { inboxSeq: number };

export const smtpSessions = perApp(createSessions);

function createSessions(app: App) {
  const { writer, clock, log } = app;
  const { sqlite } = app.db;
  /** Called after a session was stored in which something was refused. */
  const onRefusal = (inboxSeq: number) => announceRefusals(app, inboxSeq);
  const columns = "id, started_at AS startedAt, ended_at AS endedAt, peer, transcript";
  // A text in JSON has no quotation mark of its own, so this finds replies and nothing else.
  const page = sqlite.prepare<Row, [number, number | null, number]>(
    `SELECT ${columns} FROM inbox_sessions
     WHERE inbox_seq = +?1 AND (?2 IS NULL OR ?2 = (transcript LIKE '%,"S","4%'
                                                   OR transcript LIKE '%,"S","5%'
                                                   OR instr(transcript, ',"S","${CLOSED}"')))
     ORDER BY started_at DESC, id DESC LIMIT +?3`,
  );
  const byId = sqlite.prepare<Row, [number, string]>(
    `SELECT ${columns} FROM inbox_sessions WHERE inbox_seq = +? AND id = ?`,
  );
  const insert = sqlite.prepare<unknown, [NewRow]>(`
    INSERT INTO inbox_sessions (id, inbox_seq, started_at, ended_at, peer, transcript)
    VALUES ($id, $inboxSeq, $startedAt, $endedAt, $peer, $transcript) ON CONFLICT DO NOTHING`);
  const countOf = sqlite.prepare<{ n: number }, [number]>(
    "SELECT count(*) AS n FROM inbox_sessions WHERE inbox_seq = +?",
  );
  const removeOld = sqlite.prepare<unknown, [number, number, number]>(`
    DELETE FROM inbox_sessions WHERE inbox_seq = +?1 AND id NOT IN (
      SELECT id FROM inbox_sessions WHERE inbox_seq = +?2
      ORDER BY started_at DESC, id DESC LIMIT +?3)`);
  const active = new Map<string, Active>();
  /** Stored sessions by inbox, counted once and then kept up to date. */
  const stored = new Map<number, number>();
  let writing = Promise.resolve();

  function store(row: NewRow): void {
    insert.run(row);
    const { inboxSeq } = row;
    const known = stored.get(inboxSeq);
    const count = known === undefined ? (countOf.get(inboxSeq)?.n ?? 0) : known + 1;
    if (count > MAX_STORED) removeOld.run(inboxSeq, inboxSeq, KEPT);
    stored.set(inboxSeq, count > MAX_STORED ? KEPT : count);
  }

  function activeOf(inboxSeq: number): SmtpSession[] {
    return [...active]
      .filter(([, session]) => session.inboxSeq === inboxSeq)
      .map(presentActive)
      .toReversed();
  }

  return {
    recordLine(id: string, direction: "C" | "S", line: () => string): void {
      const session = active.get(id) ?? begin(id);
      if (session === null) return;
      if (session.lines.length >= MAX_LINES) {
        session.omitted++;
        return;
      }
      const atMs = Math.round(clock.elapsed() - session.startedMs);
      session.lines.push([atMs, direction, line().slice(0, MAX_LINE_CHARACTERS).toWellFormed()]);
    },

    /** A message of the session arrived in this inbox. */
    noteMessage(id: string, inboxSeq: number, peer: string): void {
      const session = active.get(id);
      if (session !== undefined) Object.assign(session, { inboxSeq, peer });
    },

    /** A failure rule of this inbox acts in the session, which may have no message. */
    noteRule(id: string, by: { inboxSeq: number; peer: string; isClosed: boolean }): void {
      const session = active.get(id);
      if (session === undefined) return;
      session.inboxSeq ??= by.inboxSeq;
      session.peer = by.peer;
      if (by.isClosed) this.recordLine(id, "S", () => CLOSED);
    },

    /** Stores the session; without a message, in the inbox that `findInbox` returns. */
    end(id: string, peer: string, findInbox: () => number | null): void {
      const session = active.get(id);
      active.delete(id);
      const inboxSeq = session?.inboxSeq ?? findInbox();
      if (session === undefined || inboxSeq === null) return;
      const { startedAt, lines, omitted } = session;
      if (omitted > 0) lines.push([0, "S", `(${omitted} more lines were not recorded)`]);
      const row = { id, inboxSeq, peer, startedAt, endedAt: clock.now() };
      const transcript = JSON.stringify(lines);
      writing = writer
        .write(() => {
          store({ ...row, transcript });
          if (refusalIn(lines) !== null) writer.afterCommit(() => onRefusal(inboxSeq));
        })
        .catch((error: unknown) =>
          log.warn("the transcript of a session was not stored", { error: describeError(error) }),
        );
    },

    /** Number of sessions that have not ended. */
    size: (): number => active.size,

    /** Resolves when the sessions that ended are stored. */
    settled: (): Promise<void> => writing,

    /**
     * Sessions of the inbox, newest first. Sessions that have not ended come first. With
     * `isRefused`, only those in which something was refused, or only others.
     */
    async list(
      inboxSeq: number,
      { limit, isRefused }: { limit: number; isRefused: boolean | null },
    ): Promise<SmtpSession[]> {
      await writing;
      const filter = isRefused === null ? null : Number(isRefused);
      const ended = page.all(inboxSeq, filter, limit).map(presentSession);
      const current = activeOf(inboxSeq).filter(
        ({ refusal }) => isRefused === null || (refusal !== null) === isRefused,
      );
      return [...current, ...ended].slice(0, limit);
    },

    /** Throws 404. */
    async get(inboxSeq: number, id: string): Promise<SessionDetail> {
      await writing;
      const row = byId.get(inboxSeq, id);
      if (row !== null) return detailOf(presentSession(row), parseTranscript(row.transcript));
      const current = active.get(id);
      const summary = activeOf(inboxSeq).find((session) => session.id === id);
      if (current === undefined || summary === undefined) throw notFound("SESSION");
      return detailOf(summary, current.lines);
    },
  };

  function begin(id: string): Active | null {
    if (active.size >= MAX_ACTIVE) return null;
    const session = {
      startedAt: clock.now(),
      startedMs: clock.elapsed(),
      lines: [],
      omitted: 0,
      inboxSeq: null,
      peer: "",
    };
    active.set(id, session);
    return session;
  }
}

function presentActive([id, session]: [string, Active]): SmtpSession {
  const { startedAt, peer, lines } = session;
  return {
    id,
    peer,
    startedAt: isoTime(startedAt),
    endedAt: null,
    lines: lines.length,
    refusal: refusalIn(lines),
  };
}

function presentSession(row: Row): SmtpSession {
  const { id, peer, startedAt, endedAt } = row;
  const lines = parseTranscript(row.transcript);
  return {
    id,
    peer,
    startedAt: isoTime(startedAt),
    endedAt: isoTimeOrNull(endedAt),
    lines: lines.length,
    refusal: refusalIn(lines),
  };
}

/** The first reply that refuses something; later ones often refuse what depends on it. */
function refusalIn(lines: readonly Line[]): string | null {
  const refused = lines.find(
    ([, direction, text]) => direction === "S" && (/^[45]/.test(text) || text === CLOSED),
  );
  return refused === undefined ? null : refused[2];
}

function detailOf(session: SmtpSession, lines: readonly Line[]): SessionDetail {
  const transcript = lines.map(([atMs, direction, text]) => ({
    atMs,
    from: direction === "C" ? ("client" as const) : ("server" as const),
    text,
  }));
  return { ...session, transcript };
}

function parseTranscript(text: string): Line[] {
  const value: unknown = JSON.parse(text);
  return Value.Check(Transcript, value) ? value : [];
}
