/**
 * DKIM keys that sign the mail of a domain. They are generated when the domain is added, stored
 * encrypted with a key derived from the installation secret, and cached once parsed.
 */

import { asc, desc, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { bound } from "../../db/bound.ts";
import type { Db } from "../../db/open.ts";
import { dkimKeys, domains } from "../../db/schema/domains.ts";
import type { Clock } from "../../lib/clock.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { perApp } from "../../lib/per-app.ts";
import type { Signer, SigningKey } from "../../protocols/dkim/sign.ts";
import { type DkimKeyPair, readPrivateKey } from "../../protocols/dkim/keys.ts";
import type { PublicKey } from "./records.ts";

export type DkimKeys = ReturnType<typeof createDkimKeys>;

export const dkimKeysOf = perApp(({ db, clock, secret, makeDkimKeys }: App) =>
  createDkimKeys({ db, clock, sealKey: dkimSealKey(secret), makePairs: makeDkimKeys }),
);

/** A key pair that is not stored yet. */
export type NewKey = PublicKey & { sealed: Buffer };

type DkimKeysDeps = {
  db: Db;
  clock: Clock;
  sealKey: Uint8Array;
  makePairs: () => Promise<DkimKeyPair[]>;
};

/** Largest number of cached signers, a few kilobytes each. */
const MAX_SIGNERS = 1000;
const CACHED_MS = 24 * 60 * 60 * 1000;

export function createDkimKeys({ db, clock, sealKey, makePairs }: DkimKeysDeps) {
  /** Cached by domain and the row numbers of its keys, because the keys of a row never change. */
  const signers = new ExpiringMap<Signer>({ maxEntries: MAX_SIGNERS, clock });
  // Runs for every mail that leaves. The plus signs are for the query planner, see db/bound.ts.
  const findSeqs = db.sqlite.prepare<{ domainSeq: number; seqs: string | null }, [string, number]>(`
    SELECT d.seq AS domainSeq,
           (SELECT group_concat(k.seq) FROM dkim_keys k WHERE k.domain_seq = d.seq) AS seqs
    FROM domains d WHERE d.domain = +? AND d.project_seq = +?`);
  const findSealed = db
    .select({
      algorithm: dkimKeys.algorithm,
      selector: dkimKeys.selector,
      privateKey: dkimKeys.privateKey,
    })
    .from(dkimKeys)
    .where(eq(dkimKeys.domainSeq, bound("domainSeq")))
    .orderBy(asc(dkimKeys.seq))
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

  // Runs for every mail that leaves.
  const keysOf = cachePerIteration((key) => {
    const [projectSeq = "", domain = ""] = key.split(" ", 2);
    return findSeqs.get(domain, Number(projectSeq));
  });

  function openKeys(domainSeq: number, domain: string): SigningKey[] {
    return findSealed.all({ domainSeq }).map(({ privateKey, ...key }) => {
      const der = unseal(sealKey, privateKey);
      if (der === null) throw new UnreadableKeyError(domain);
      return { ...key, privateKey: readPrivateKey(der) };
    });
  }

  return {
    /** Generates keys, the required one first. Takes a tenth of a second on other threads. */
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

    /** Part of a change: stores the keys of a domain. */
    insert(domainSeq: number, keys: readonly NewKey[]): void {
      for (const { sealed, ...key } of keys) {
        db.insert(dkimKeys)
          .values({ ...key, domainSeq, privateKey: sealed, createdAt: clock.now() })
          .run();
      }
    },

    of: (domainSeq: number): PublicKey[] => findPublic.all({ domainSeq }),

    /**
     * Null if the project has no such domain; throws UnreadableKeyError if a key cannot be opened.
     */
    signerOf(projectSeq: number, domain: string): Signer | null {
      const found = keysOf(`${projectSeq} ${domain}`);
      if (found === null || found.seqs === null) return null;
      const cacheKey = `${domain} ${found.seqs}`;
      const known = signers.get(cacheKey);
      if (known !== undefined) return known;
      const signer = { domain, keys: openKeys(found.domainSeq, domain) };
      signers.set(cacheKey, signer, CACHED_MS);
      return signer;
    },
  };
}

/** The key that encrypts the DKIM keys of an installation. */
export function dkimSealKey(secret: string): Buffer {
  return deriveKey(secret, "dkim-keys");
}

/**
 * Throws UnreadableKeyError if the stored keys were sealed with another secret. Tests only the
 * oldest and the newest key, since there may be thousands and one secret sealed them all.
 */
export function requireReadableKeys(db: Db, secret: string): void {
  const sealKey = dkimSealKey(secret);
  for (const order of [asc(dkimKeys.seq), desc(dkimKeys.seq)]) {
    const found = db
      .select({ domain: domains.domain, privateKey: dkimKeys.privateKey })
      .from(dkimKeys)
      .innerJoin(domains, eq(domains.seq, dkimKeys.domainSeq))
      .orderBy(order)
      .limit(1)
      .get();
    if (found !== undefined && unseal(sealKey, found.privateKey) === null) {
      throw new UnreadableKeyError(found.domain);
    }
  }
}

export class UnreadableKeyError extends Error {
  /** Advice for the operator. */
  readonly suggestion: string;

  constructor(domain: string) {
    super(
      `a stored DKIM key of ${domain} cannot be opened: it was sealed with another installation ` +
        "secret (--secret, or the file “secret” in the data folder)",
    );
    this.suggestion =
      "Restore the file “secret” from the backup, or pass the old secret with --secret. If it is " +
      `lost, remove the domain and add it again: mailstead domain remove ${domain}`;
  }
}
