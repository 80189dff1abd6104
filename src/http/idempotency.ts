/**
 * Implements the header `Idempotency-Key` (docs/interface.md#requests): the first response to a key
 * is stored in the same transaction as the change, and replayed for 24 hours. A refused request
 * stores nothing, so its key can be used again.
 */

import { eq, lt, sql } from "drizzle-orm";
import type { App } from "../core/app.ts";
import { bound } from "../db/bound.ts";
import type { Db } from "../db/open.ts";
import { idempotencyKeys } from "../db/schema/projects.ts";
import type { Change, Sync, Writer } from "../db/writer.ts";
import type { Clock } from "../lib/clock.ts";
import { deriveKey, seal, sha256, unseal } from "../lib/crypto.ts";
import { AppError, fieldError } from "../lib/errors.ts";
import { perApp } from "../lib/per-app.ts";
import { canonicalPath } from "./route-path.ts";

const LIFETIME_MS = 24 * 60 * 60 * 1000;
const KEY_PATTERN = /^[\x20-\x7e]{1,255}$/;
/** Rows deleted in one change, so that a purge never occupies the writer for long. */
const PURGE_CHUNK = 1000;
/** Prefix of a sealed body. No JSON document begins with it. */
const SEALED = "sealed:";

export type Answer<T> = {
  status: number;
  body: T;
  /** True if the body contains a secret: it is then stored sealed. */
  isSecret?: boolean;
  /**
   * True if a part of the request was refused: the answer is not stored, so that a repeated request tries
   * that part again. The other parts have stored answers of their own.
   */
  isPartial?: boolean;
};

/** The request that a key identifies. `path` may be in any spelling. */
type KeyedRequest = {
  /** Null if the request belongs to no project; it then has the key of its user. */
  projectSeq: number | null;
  userId?: string | null;
  /**
   * Requests with public keys have their own namespace, so they cannot use up keys of the server.
   */
  isPublic: boolean;
  method: string;
  path: string;
  body: unknown;
  /** Runs the change of the request within the change that also stores the response. */
  run: <T>(change: Change<T>) => T;
};

export type Idempotency = {
  /**
   * Prepares a change and commits it, once per key. `prepare` validates and may wait. The change
   * that it returns writes the rows and returns the response.
   */
  once<T>(
    key: string,
    keyed: KeyedRequest,
    prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
  ): Promise<{ answer: Answer<T>; isReplay: boolean }>;
  /** Runs in a change after the clock was set, and moves the stored times by the same amount. */
  shift(byMs: number): void;
  /**
   * Deletes one chunk of the responses older than 24 hours; resolves to the number of deleted rows.
   */
  purge(): Promise<number>;
};

export const idempotencyOf = perApp(({ db, writer, clock, secret }: App) =>
  createIdempotency({ db, writer, clock, sealKey: deriveKey(secret, "idempotency") }),
);

export function createIdempotency(deps: {
  db: Db;
  writer: Writer;
  clock: Clock;
  sealKey: Uint8Array;
}): Idempotency {
  const { db, writer, clock, sealKey } = deps;
  /** Requests under way, by scope: a second request with the same key waits for the first. */
  const underway = new Map<string, Promise<unknown>>();
  const find = db
    .select()
    .from(idempotencyKeys)
    .where(eq(idempotencyKeys.scope, bound("scope")))
    .limit(1)
    .prepare();

  /** Returns the stored response. Its body is the JSON of a T. */
  function replayOf<T>(scope: string, requestDigest: string): Answer<T> | null {
    const stored = find.get({ scope });
    if (stored === undefined || stored.createdAt <= clock.now() - LIFETIME_MS) return null;
    if (stored.requestDigest !== requestDigest) throw keyReused();
    return { status: stored.status, body: JSON.parse(openBody(stored.body)) };
  }

  function sealBody(json: string): string {
    return `${SEALED}${seal(sealKey, Buffer.from(json)).toString("base64")}`;
  }

  function openBody(text: string): string {
    if (!text.startsWith(SEALED)) return text;
    const json = unseal(sealKey, Buffer.from(text.slice(SEALED.length), "base64"));
    if (json === null) throw new Error("a stored response was sealed with another key");
    return json.toString("utf8");
  }

  function store(
    { scope, projectSeq }: { scope: string; projectSeq: number | null },
    requestDigest: string,
    answer: Answer<unknown>,
  ): void {
    const row = {
      requestDigest,
      status: answer.status,
      body:
        answer.isSecret === true
          ? sealBody(JSON.stringify(answer.body))
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
      key: string,
      keyed: KeyedRequest,
      prepare: () => Promise<Change<Sync<Answer<T>>>> | Change<Sync<Answer<T>>>,
    ) {
      const { projectSeq } = keyed;
      if (!KEY_PATTERN.test(key)) throw badKey();
      const scope = scopeOf(keyed, key);
      const requestDigest = sha256(JSON.stringify(keyed.body ?? null));
      for (;;) {
        const earlier = underway.get(scope);
        if (earlier === undefined) break;
        await earlier.catch(() => undefined); // Its own caller gets the error.
      }
      const replay = replayOf<T>(scope, requestDigest);
      if (replay !== null) return { answer: replay, isReplay: true };
      const written = (async () => {
        const change = await prepare();
        return writer.write<Answer<T>>(() => {
          const answer = keyed.run(change);
          if (answer.isPartial !== true) store({ scope, projectSeq }, requestDigest, answer);
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
                WHERE ${lt(idempotencyKeys.createdAt, clock.now() - LIFETIME_MS)} LIMIT ${PURGE_CHUNK})`,
            )
            .returning({ scope: idempotencyKeys.scope })
            .all().length,
      );
    },
  };
}

function scopeOf(keyed: KeyedRequest, key: string): string {
  const { projectSeq, userId = null, isPublic, method, path } = keyed;
  const space = isPublic ? ["PUBLIC"] : userId === null ? [] : ["USER", userId];
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
