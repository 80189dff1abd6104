/**
 * `Idempotency-Key`: the first answer is stored in the transaction of its effect and replayed for
 * 24 hours (docs/interface.md#requests). A refused request stores nothing, so its key stays free.
 */

import { eq, lt, sql } from "drizzle-orm";
import { bound } from "../db/bound.ts";
import type { Db } from "../db/open.ts";
import { idempotencyKeys } from "../db/schema/projects.ts";
import type { Change, Sync, Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { seal, sha256, unseal } from "../lib/crypto.ts";
import { AppError, fieldError } from "../lib/errors.ts";
import { canonicalPath } from "./route-path.ts";

const KEPT_MS = 24 * 60 * 60 * 1000;
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;
/** Rows removed in one go, so that clearing up never holds the writer for long. */
const PURGE_CHUNK = 1000;
/** No JSON begins like this. */
const SEALED = "sealed:";

export type Answer<T> = {
  status: number;
  body: T;
  /** The body shows a secret: it is stored sealed. */
  isSecret?: boolean;
};

/** The request that a key stands for. `path` may be any spelling of it. */
export type Ask = {
  projectSeq: number;
  /** Public keys have a space of their own: a stranger cannot take the keys of the server. */
  isPublic: boolean;
  method: string;
  path: string;
  body: unknown;
  /** Whether the change has to keep to the storage quota of the project. */
  isWithinQuota: boolean;
};

/** Runs a part of a change; undone with 409 where it exceeds the storage of the project. */
export type Storing = <T>(projectSeq: number, change: () => T) => T;

export type Idempotency = {
  /**
   * Prepares a change and commits it, once per key. `prepare` validates and may wait; the change
   * it returns writes and makes the answer.
   */
  once<T>(
    key: string | null,
    ask: Ask,
    prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
  ): Promise<{ answer: Answer<T>; isReplay: boolean }>;
  /** Part of a change, after the clock was set: each answer is kept as long as before. */
  shift(byMs: number): void;
  /** Forgets answers older than 24 hours, a chunk at a time; returns how many went. */
  purge(): Promise<number>;
};

export function createIdempotency(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  sealKey: Uint8Array;
  storing: Storing;
}): Idempotency {
  const { db, writer, clock, sealKey, storing } = deps;
  /** Keys being worked on right now: the second use waits for the first. */
  const underway = new Map<string, Promise<unknown>>();
  const find = db
    .select()
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.scope, bound("scope")))
    .limit(1)
    .prepare();

  /** The stored answer; its body was the JSON of a T when it was stored. */
  function replayOf<T>(scope: string, requestDigest: string): Answer<T> | null {
    const stored = find.get({ scope });
    if (stored === undefined || stored.createdAt <= clock.now() - KEPT_MS) return null;
    if (stored.requestDigest !== requestDigest) throw keyReused();
    return { status: stored.status, body: JSON.parse(opened(stored.body)) };
  }

  function sealed(json: string): string {
    return `${SEALED}${seal(sealKey, Buffer.from(json)).toString("base64")}`;
  }

  function opened(text: string): string {
    if (!text.startsWith(SEALED)) return text;
    const json = unseal(sealKey, Buffer.from(text.slice(SEALED.length), "base64"));
    if (json === null) throw new Error("a stored answer was sealed with another key");
    return json.toString("utf8");
  }

  function remember(
    { scope, projectSeq }: { scope: string; projectSeq: number },
    requestDigest: string,
    answer: Answer<unknown>,
  ): void {
    const row = {
      requestDigest,
      status: answer.status,
      body:
        answer.isSecret === true
          ? sealed(JSON.stringify(answer.body))
          : JSON.stringify(answer.body),
      createdAt: clock.now(),
    };
    db.insert(idempotencyKeys)
      .values({ ...row, scope, projectSeq })
      .onConflictDoUpdate({ target: idempotencyKeys.scope, set: row })
      .run();
  }

  return {
    async once<T>(
      key: string | null,
      ask: Ask,
      prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
    ) {
      const { projectSeq } = ask;
      const run = (change: Change<Answer<T>>): Answer<T> =>
        ask.isWithinQuota ? storing(projectSeq, change) : change();
      if (key === null) {
        const change = await prepare();
        const answer = await writer.write<Answer<T>>(() => run(change));
        return { answer, isReplay: false };
      }
      if (!KEY_PATTERN.test(key)) throw badKey();
      const scope = scopeOf(ask, key);
      const requestDigest = sha256(JSON.stringify(ask.body ?? null));
      for (;;) {
        const earlier = underway.get(scope);
        if (earlier === undefined) break;
        await earlier.catch(() => undefined); // Its own caller hears of its failure.
      }
      const replay = replayOf<T>(scope, requestDigest);
      if (replay !== null) return { answer: replay, isReplay: true };
      const written = (async () => {
        const change = await prepare();
        return writer.write<Answer<T>>(() => {
          const answer = run(change);
          remember({ scope, projectSeq }, requestDigest, answer);
          return answer;
        });
      })();
      underway.set(scope, written);
      try {
        return { answer: await written, isReplay: false };
      } finally {
        underway.delete(scope);
      }
    },
    shift(byMs) {
      db.update(idempotencyKeys)
        .set({ createdAt: sql`${idempotencyKeys.createdAt} + ${byMs}` })
        .run();
    },
    purge() {
      return writer.write(
        () =>
          db
            .delete(idempotencyKeys)
            .where(
              sql`${idempotencyKeys.scope} IN (
                SELECT scope FROM idempotency_keys
                WHERE ${lt(idempotencyKeys.createdAt, clock.now() - KEPT_MS)} LIMIT ${PURGE_CHUNK})`,
            )
            .returning({ scope: idempotencyKeys.scope })
            .all().length,
      );
    },
  };
}

function scopeOf({ projectSeq, isPublic, method, path }: Ask, key: string): string {
  const space = isPublic ? ["PUBLIC"] : [];
  return sha256(JSON.stringify([projectSeq, method, canonicalPath(path), key, ...space]));
}

function keyReused(): AppError {
  return new AppError(
    409,
    "IDEMPOTENCY_KEY_REUSED",
    "This Idempotency-Key was used with another request body.",
    { suggestion: "Use a new key for every distinct request." },
  );
}

function badKey(): AppError {
  return fieldError(
    "Idempotency-Key",
    "invalid_format",
    "must have 1 to 255 printable ASCII characters",
  );
}
