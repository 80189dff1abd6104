/**
 * Keys that sign the mail of a domain: made with it, sealed with a key of the installation, parsed
 * once and kept.
 */

import type { KeyObject } from "node:crypto";
import { asc, eq } from "drizzle-orm";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { dkimKeys } from "../../db/schema/domains.ts";
import type { Clock } from "../../lib/clock.ts";
import { seal, unseal } from "../../lib/crypto.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import type { Signer, SigningKey } from "../../mail/dkim.ts";
import { type DkimKeyPair, readPrivateKey } from "../../mail/dkim-keys.ts";
import type { PublicKey } from "./records.ts";

export type DkimKeys = ReturnType<typeof createDkimKeys>;

/** A pair that is not stored yet. */
export type NewKey = PublicKey & { sealed: Buffer };

type StoredKey = { seq: number } & Pick<SigningKey, "algorithm" | "selector">;

export type DkimKeysDeps = {
  db: Db;
  clock: Clock;
  sealKey: Uint8Array;
  makePairs: () => Promise<DkimKeyPair[]>;
};

/** A few kilobytes each. */
const MOST_PARSED = 1000;
const KEPT_MS = 24 * 60 * 60 * 1000;

export function createDkimKeys({ db, clock, sealKey, makePairs }: DkimKeysDeps) {
  /** By the row's seq, which stands for its content. */
  const parsed = new ExpiringMap<KeyObject>({ maxEntries: MOST_PARSED, clock });
  // For every mail that leaves. The plus signs are for the planner, see db/bound.ts.
  const findForSigning = db.sqlite.prepare<StoredKey, [string, number]>(`
    SELECT k.seq, k.algorithm, k.selector
    FROM domains d JOIN dkim_keys k ON k.domain_seq = d.seq
    WHERE d.domain = +? AND d.project_seq = +? ORDER BY k.seq`);
  const findSealed = db
    .select({ privateKey: dkimKeys.privateKey })
    .from(dkimKeys)
    .where(eq(dkimKeys.seq, bound("seq")))
    .limit(1)
    .prepare();
  const findPublic = db
    .select({
      algorithm: dkimKeys.algorithm,
      selector: dkimKeys.selector,
      publicKey: dkimKeys.publicKey,
    })
    .from(dkimKeys)
    .where(eq(dkimKeys.domainSeq, bound("domainSeq")))
    .orderBy(asc(dkimKeys.seq))
    .prepare();

  function privateKeyOf(seq: number): KeyObject {
    const known = parsed.get(String(seq));
    if (known !== undefined) return known;
    const sealed = findSealed.get({ seq })?.privateKey;
    const der = sealed === undefined ? null : unseal(sealKey, sealed);
    if (der === null) throw new UnreadableKeyError();
    const key = readPrivateKey(der);
    parsed.set(String(seq), key, KEPT_MS);
    return key;
  }

  return {
    /** Takes a tenth of a second, on other threads; the required key comes first. */
    async make(): Promise<NewKey[]> {
      const tag = crypto.randomUUID().slice(0, 6);
      const pairs = await makePairs();
      return pairs.map(({ algorithm, publicKey, privateKey }) => ({
        algorithm,
        publicKey,
        selector: `ms${tag}-${algorithm === "rsa-sha256" ? "rsa" : "ed"}`,
        sealed: seal(sealKey, privateKey),
      }));
    },

    /** Part of a change. */
    insert(domainSeq: number, keys: readonly NewKey[]): void {
      for (const { sealed, ...key } of keys) {
        db.insert(dkimKeys)
          .values({ ...key, domainSeq, privateKey: sealed, createdAt: clock.now() })
          .run();
      }
    },

    of: (domainSeq: number): PublicKey[] => findPublic.all({ domainSeq }),

    /** Null if the project has no such domain; throws if its keys cannot be read. */
    signerOf(projectSeq: number, domain: string): Signer | null {
      const rows = findForSigning.all(domain, projectSeq);
      if (rows.length === 0) return null;
      const keys = rows.map(({ seq, ...key }) => ({ ...key, privateKey: privateKeyOf(seq) }));
      return { domain, keys };
    },
  };
}

export class UnreadableKeyError extends Error {
  constructor() {
    super(
      "a stored DKIM key cannot be opened: it was sealed with another installation secret " +
        "(--secret, or the file “secret” in the data folder)",
    );
  }
}
