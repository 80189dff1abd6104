/** API keys: made once, shown once, stored as digests, revoked with the next request. */

import { and, desc, eq, isNull } from "drizzle-orm";
import type { Db } from "../../db/open.ts";
import { apiKeys } from "../../db/schema/projects.ts";
import type { Change, Writer } from "../../db/writer.ts";
import type { KeyKind, KnownKey } from "../../http/admission.ts";
import type { Clock } from "../../lib/clock.ts";
import { randomBase62, sha256 } from "../../lib/crypto.ts";
import { notFound } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";

export type KeyRow = typeof apiKeys.$inferSelect;
export type Keys = ReturnType<typeof createKeys>;

/** 43 base62 characters carry 256 bits (docs/interface.md#requests). */
const RANDOM_CHARACTERS = 43;
const PREFIXES = { SECRET: "sk_", PUBLIC: "pk_" } as const satisfies Record<KeyKind, string>;

type FoundKey = {
  kind: KeyKind;
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

export type NewKey = {
  kind: KeyKind;
  name: string;
  expiresAt: number | null;
  /** As `parseWebOrigin` spells them; none: pages of any origin may use the key. */
  origins?: readonly string[];
};

const ANY_ORIGIN: readonly string[] = [];

/** Web origins that may use a key; empty: any. */
export function originsOf({ origins }: Pick<KeyRow, "origins">): readonly string[] {
  return origins === "" ? ANY_ORIGIN : origins.split(" ");
}

export function createKeys({ db, clock }: { db: Db; clock: Clock }) {
  /** Digest → moment of last use, written in one go by `flushUses`. */
  let uses = new Map<string, number>();
  // Asked on every request: a tenth of what the query builder would take.
  const findByDigest = db.sqlite.prepare<FoundKey, [string]>(`
    SELECT k.kind, k.origins, k.expires_at AS expiresAt, k.revoked_at AS revokedAt,
           p.is_enabled AS isProjectEnabled, p.seq, p.id, p.name,
           p.from_address AS fromAddress, p.from_name AS fromName
    FROM api_keys k JOIN projects p ON p.seq = k.project_seq
    WHERE k.digest = +?`);

  /** Requests that arrived together, in one round of the event loop, share a look at their key. */
  const seen = new Map<string, FoundKey | null>();

  function look(digest: string): FoundKey | null {
    const earlier = seen.get(digest);
    if (earlier !== undefined) return earlier;
    const row = findByDigest.get(digest);
    if (seen.size === 0) setImmediate(() => seen.clear());
    seen.set(digest, row);
    return row;
  }

  return {
    /** Read from the database, so that a revocation counts with the next request. */
    findByDigest(digest: string): KnownKey | null {
      const row = look(digest);
      if (row === null) return null;
      const { kind, expiresAt, revokedAt, isProjectEnabled, seq, id, name } = row;
      const { fromAddress, fromName } = row;
      const now = clock.now();
      const isUsable = revokedAt === null && (expiresAt === null || expiresAt > now);
      if (isUsable) uses.set(digest, now);
      return {
        kind,
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

    /** Writes the moments of last use since the last call. */
    async flushUses(writer: Writer): Promise<void> {
      if (uses.size === 0) return;
      const taken = uses;
      uses = new Map();
      await writer.write(() => {
        for (const [digest, lastUsedAt] of taken) {
          db.update(apiKeys).set({ lastUsedAt }).where(eq(apiKeys.digest, digest)).run();
        }
      });
    },

    /** The text of the key exists only in the result. */
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

    /** Revoking twice keeps the first moment. */
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
