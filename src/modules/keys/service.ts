/**
 * API keys. In order: a key is created, and its text is shown once while only a digest is stored;
 * each request is authenticated by the digest of its key; the times of last use are collected and
 * stored together; a revoked key is refused from the next request on.
 */

import { and, desc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { apiKeys } from "../../db/schema/projects.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { KeyKind, KnownKey } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";

export type KeyRow = typeof apiKeys.$inferSelect;
export type Keys = ReturnType<typeof createKeys>;

/** 43 base62 characters have 256 bits of entropy (docs/interface.md#requests). */
const RANDOM_CHARACTERS = 43;
const PREFIXES = { SECRET: "sk_", PUBLIC: "pk_" } as const satisfies Record<KeyKind, string>;

type FoundKey = {
  kind: KeyKind;
  keyId: string;
  keyName: string;
  last4: string;
  origins: string;
  expiresAt: number | null;
  revokedAt: number | null;
  isProjectEnabled: number;
  seq: number;
  id: string;
  name: string;
  fromAddress: string | null;
  fromName: string | null;
};

type NewKey = {
  kind: KeyKind;
  name: string;
  expiresAt: number | null;
  /** Origins in the form of `parseWebOrigin`; if empty, pages of any origin may use the key. */
  origins?: readonly string[];
};

const ANY_ORIGIN: readonly string[] = [];

/** Web origins that may use a key; empty if any may. */
export function originsOf({ origins }: Pick<KeyRow, "origins">): readonly string[] {
  return origins === "" ? ANY_ORIGIN : origins.split(" ");
}

export function createKeys({ db, clock }: { db: Db; clock: Clock }) {
  /** Time of last use by digest, until `flushUses` stores it. */
  let uses = new Map<string, number>();
  // Runs for every request; prepared, because the query builder takes ten times as long.
  const findByDigest = db.sqlite.prepare<FoundKey, [string]>(`
    SELECT k.kind, k.id AS keyId, k.name AS keyName, k.last4, k.origins, k.expires_at AS expiresAt, k.revoked_at AS revokedAt,
           p.is_enabled AS isProjectEnabled, p.seq, p.id, p.name,
           p.from_address AS fromAddress, p.from_name AS fromName
    FROM api_keys k JOIN projects p ON p.seq = k.project_seq
    WHERE k.digest = +?`);
  const findRow = cachePerIteration((digest) => findByDigest.get(digest));

  return {
    /** Reads the key from the database, so that a revocation takes effect with the next request. */
    findByDigest(digest: string): KnownKey | null {
      const row = findRow(digest);
      if (row === null) return null;
      const { kind, expiresAt, revokedAt, isProjectEnabled, seq, id, name } = row;
      const { fromAddress, fromName, keyId, keyName, last4 } = row;
      const now = clock.now();
      const isUsable = revokedAt === null && (expiresAt === null || expiresAt > now);
      if (isUsable) uses.set(digest, now);
      return {
        kind,
        shown: { id: keyId, name: keyName, last4 },
        origins: originsOf(row),
        project: {
          seq,
          id,
          name,
          sender: fromAddress === null ? null : { address: fromAddress, name: fromName },
        },
        isProjectEnabled: isProjectEnabled === 1,
        isUsable,
      };
    },

    /** Stores the times of last use since the previous call. */
    async flushUses(writer: Writer): Promise<void> {
      if (uses.size === 0) return;
      const flushed = uses;
      uses = new Map();
      await writer.write(() => {
        for (const [digest, lastUsedAt] of flushed) {
          db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.digest, digest)).run();
        }
      });
    },

    /** Creates a key. Its text is only in the result and is not stored. */
    create(projectSeq: number, options: NewKey): Change<{ key: KeyRow; text: string }> {
      return () => {
        const { origins = [], ...fields } = options;
        const now = clock.now();
        const text = PREFIXES[options.kind] + randomBase62(RANDOM_CHARACTERS);
        const key = db
          .insert(apiKeys)
          .values({
            ...fields,
            origins: origins.join(" "),
            id: newId(now),
            projectSeq,
            digest: sha256(text),
            last4: text.slice(-4),
            createdAt: now,
          })
          .returning()
          .get();
        return { key, text };
      };
    },

    list: (projectSeq: number): KeyRow[] =>
      db
        .select()
        .from(apiKeys)
        .where(eq(apiKeys.projectSeq, projectSeq))
        .orderBy(desc(apiKeys.seq))
        .all(),

    /** Revokes a key. If it was revoked before, the time of the first revocation stays. */
    revoke(id: string): Change<KeyRow> {
      return () => {
        db.update(apiKeys)
          .set({ revokedAt: clock.now() })
          .where(and(eq(apiKeys.id, id), isNull(apiKeys.revokedAt)))
          .run();
        const key = db.select().from(apiKeys).where(eq(apiKeys.id, id)).limit(1).get();
        if (key === undefined) throw notFound("KEY");
        return key;
      };
    },
  };
}
