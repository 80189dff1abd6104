/**
 * Inboxes: they collect messages that are caught instead of sent.
 *
 * 1. `resolve` chooses the inbox of a message: by the user of AUTH, by the domain of a recipient, or
 *    the project's inbox `default`.
 * 2. messages/intake.ts stores the raw message before it is answered with 250.
 * 3. indexing/indexer.ts lets the parser's thread (parsing/) parse it, unless it is plain, and stores
 *    what lists and searches (search/) need.
 * 4. messages/store.ts reads and changes messages; changes.ts tells live clients.
 * 5. retention.ts removes old messages.
 */

import { insertedSeq } from "../../db/inserted.ts";
import type { Change } from "../../db/writer.ts";
import { hmac, isSameBytes } from "../../lib/crypto.ts";
import { AppError, notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import type { App } from "../../core/app.ts";
import { perApp } from "../../lib/per-app.ts";
import { announcements } from "../../events/announcements.ts";
import { deriveKey } from "../../lib/crypto.ts";

export type InboxRow = {
  seq: number;
  id: string;
  projectSeq: number;
  name: string;
  expiresAt: number | null;
  createdAt: number;
};

export const DEFAULT_INBOX = "default";
/** The inbox of the messages that rehearsals of campaigns make. */
export const REHEARSAL_INBOX = "rehearsal";
/** A recipient whose domain is this one, below the inbox's id, belongs to that inbox. */
export const ADDRESS_DOMAIN = "inbox.test";
const PASSWORD_LENGTH = 24;

export type Inboxes = ReturnType<typeof createInboxes>;

export const inboxService = perApp(createInboxes);

function createInboxes(app: App) {
  const { clock } = app;
  const { sqlite } = app.db;
  const passwordKey = deriveKey(app.secret, "inbox passwords");
  const select = (rest: string) => `
    SELECT seq, id, project_seq AS projectSeq, name, expires_at AS expiresAt,
           created_at AS createdAt
    FROM inboxes ${rest}`;
  const findByName = sqlite.prepare<InboxRow, [number, string]>(
    select("WHERE project_seq = +? AND name = +?"),
  );
  const findByIdOrName = sqlite.prepare<InboxRow, [string, string, number]>(
    select("WHERE id = +? OR (name = +? AND project_seq = +?)"),
  );
  const findById = sqlite.prepare<InboxRow, [string]>(select("WHERE id = +?"));
  const findBySeq = sqlite.prepare<InboxRow, [number]>(select("WHERE seq = +?"));
  const all = sqlite.prepare<InboxRow, [number]>(select("WHERE project_seq = +? ORDER BY seq"));
  const expired = sqlite.prepare<InboxRow, [number]>(
    select("WHERE expires_at IS NOT NULL AND expires_at <= +?"),
  );
  const firstProject = sqlite.prepare<{ seq: number }, []>(
    "SELECT seq FROM projects ORDER BY seq LIMIT 1",
  );
  const projectOf = sqlite.prepare<{ seq: number }, [number]>(
    "SELECT project_seq AS seq FROM inboxes WHERE seq = +?",
  );
  const insert = sqlite.prepare<unknown, [string, number, string, number | null, number]>(
    "INSERT INTO inboxes (id, project_seq, name, expires_at, created_at) VALUES (?, ?, ?, ?, ?)",
  );
  const remove = sqlite.prepare<unknown, [number]>("DELETE FROM inboxes WHERE seq = +?");
  /** Each message asks for both. Only this process changes inboxes, and projects are never removed. */
  const cached: { firstProject: number | null; byProject: Map<number, InboxRow> } = {
    firstProject: null,
    byProject: new Map(),
  };

  function insertInbox(projectSeq: number, name: string, expiresAt: number | null): InboxRow {
    const now = clock.now();
    const id = newId(now);
    const seq = insertedSeq(insert.run(id, projectSeq, name, expiresAt, now));
    return { seq, id, projectSeq, name, expiresAt, createdAt: now };
  }

  function findDefault(projectSeq: number): InboxRow | null {
    const known = cached.byProject.get(projectSeq) ?? findByName.get(projectSeq, DEFAULT_INBOX);
    if (known !== null && !sqlite.inTransaction) cached.byProject.set(projectSeq, known);
    return known;
  }

  /** Part of a change: the default inbox of the project, created at its first use. */
  function defaultOf(projectSeq: number): InboxRow {
    return (
      findByName.get(projectSeq, DEFAULT_INBOX) ?? insertInbox(projectSeq, DEFAULT_INBOX, null)
    );
  }

  return {
    defaultOf,

    /** The first project of the installation, whose inbox catches mail; null if there is none. */
    firstProject: (): number | null => (cached.firstProject ??= firstProject.get()?.seq ?? null),

    /** The password of an inbox for SMTP and HTTP Basic. It is derived, so it is not stored. */
    passwordOf: (inbox: Pick<InboxRow, "id">): string =>
      hmac(passwordKey, inbox.id).toString("base64url").slice(0, PASSWORD_LENGTH),

    isPassword(inbox: Pick<InboxRow, "id">, password: string): boolean {
      return isSameBytes(Buffer.from(this.passwordOf(inbox)), Buffer.from(password));
    },

    list: (projectSeq: number): InboxRow[] => all.all(projectSeq),

    expired: (now: number): InboxRow[] => expired.all(now),

    /** An inbox of the project by its id or name; null if there is none. */
    find(projectSeq: number, idOrName: string): InboxRow | null {
      const row = findByIdOrName.get(idOrName, idOrName, projectSeq);
      return row !== null && row.projectSeq === projectSeq ? row : null;
    },

    /** The default inbox of the project; null before its first message. */
    findDefault,

    /** Throws 404 if the project has no such inbox. */
    get(projectSeq: number, idOrName: string): InboxRow {
      const row = this.find(projectSeq, idOrName);
      if (row === null) throw notFound("INBOX");
      return row;
    },

    /** The project of an inbox; null if the inbox was removed. */
    projectOf: (inboxSeq: number): number | null => projectOf.get(inboxSeq)?.seq ?? null,

    findById: (id: string): InboxRow | null => findById.get(id),

    findBySeq: (seq: number): InboxRow | null => findBySeq.get(seq),

    /** An inbox whose id is in the domain of one of the addresses; null if there is none. */
    findByRecipient(addresses: readonly string[]): InboxRow | null {
      for (const address of addresses) {
        const domain = address.slice(address.lastIndexOf("@") + 1).toLowerCase();
        if (!domain.endsWith(`.${ADDRESS_DOMAIN}`)) continue;
        const found = findById.get(domain.slice(0, -ADDRESS_DOMAIN.length - 1));
        if (found !== null) return found;
      }
      return null;
    },

    create(projectSeq: number, input: { name: string; ttlSeconds?: number }): Change<InboxRow> {
      return () => {
        if (findByName.get(projectSeq, input.name) !== null) throw nameTaken(input.name);
        const { ttlSeconds } = input;
        const expiresAt = ttlSeconds === undefined ? null : clock.now() + ttlSeconds * 1000;
        return insertInbox(projectSeq, input.name, expiresAt);
      };
    },

    /** Part of a change: removes an inbox that has no messages any more. */
    remove(seq: number): void {
      cached.byProject.clear();
      remove.run(seq);
    },
  };
}

function nameTaken(name: string): AppError {
  return new AppError(409, "CONFLICT", `The project has an inbox with the name ${name} already.`, {
    suggestion: "Choose another name, or use the inbox that exists.",
  });
}

/** Tells the dashboard that rules of the inbox or its refused sessions changed. */
export function announceRefusals(app: App, inboxSeq: number): void {
  const projectSeq = inboxService(app).projectOf(inboxSeq);
  if (projectSeq === null) return;
  announcements(app).announce({ projectSeq, type: "inbox.refusals", id: "" });
}
