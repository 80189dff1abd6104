/**
 * DKIM keys that sign the mail of a domain. They are generated when the domain is added, stored
 * encrypted with a key derived from the installation secret, and cached once parsed.
 */

import { asc, desc, eq } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import type { Db } from "../../db/open.ts";
import { dkimKeys, domains } from "../../db/schema/domains.ts";
import { statement } from "../../db/statement.ts";
import { deriveKey, seal, unseal } from "../../lib/crypto.ts";
import { ExpiringMap } from "../../lib/expiring-map.ts";
import { cachePerIteration } from "../../lib/iteration-cache.ts";
import { perApp } from "../../lib/per-app.ts";
import { isSignedByRelay } from "../../outbox/transports/create-transport.ts";
import type { Signer, SigningKey } from "../../protocols/dkim/sign.ts";
import { readPrivateKey } from "../../protocols/dkim/keys.ts";
import { isSignedThere } from "../../protocols/smtp/known-relays.ts";
import type { Relay } from "../../protocols/smtp/relay-url.ts";
import type { PublicKey } from "./records.ts";

/** A key pair that is not stored yet. */
export type NewKey = PublicKey & { sealed: Buffer };

/** Generates keys, the required one first. Takes a tenth of a second on other threads. */
export async function makeKeys({
  secret,
  makeDkimKeys,
}: Pick<App, "secret" | "makeDkimKeys">): Promise<NewKey[]> {
  const tag = crypto.randomUUID().slice(0, 6);
  const pairs = await makeDkimKeys();
  const sealKey = dkimSealKey(secret);
  return pairs.map(({ algorithm, publicKey, privateKey }) => ({
    algorithm,
    publicKey,
    selector: `ms${tag}-${algorithm === "rsa-sha256" ? "rsa" : "ed"}`,
    sealed: seal(sealKey, privateKey),
  }));
}

/** Seals an imported key in the same way as keys that this server has made. */
export function sealKey(
  { secret }: Pick<App, "secret">,
  { privateKey, ...key }: PublicKey & { privateKey: Buffer },
): NewKey {
  return { ...key, sealed: seal(dkimSealKey(secret), privateKey) };
}

/** Part of a change: signs the mail of a domain with this key alone. */
export function replaceKeys(
  store: Pick<App, "db" | "clock">,
  domainSeq: number,
  key: NewKey,
): void {
  store.db.delete(dkimKeys).where(eq(dkimKeys.domainSeq, domainSeq)).run();
  insertKeys(store, domainSeq, [key]);
}

/** Part of a change: stores the keys of a domain. */
export function insertKeys(
  { db, clock }: Pick<App, "db" | "clock">,
  domainSeq: number,
  keys: readonly NewKey[],
): void {
  for (const { sealed, ...key } of keys) {
    db.insert(dkimKeys)
      .values({ ...key, domainSeq, privateKey: sealed, createdAt: clock.now() })
      .run();
  }
}

export function readPublicKeys({ db }: Pick<App, "db">, domainSeq: number): PublicKey[] {
  const { algorithm, selector, publicKey } = dkimKeys;
  return db
    .select({ algorithm, selector, publicKey })
    .from(dkimKeys)
    .where(eq(dkimKeys.domainSeq, domainSeq))
    .orderBy(asc(dkimKeys.seq))
    .all();
}

/** Null if the domain has no keys; throws UnreadableKeyError if one cannot be opened. */
export function readSigner(
  { db, secret }: Pick<App, "db" | "secret">,
  { seq, domain }: { seq: number; domain: string },
): Signer | null {
  const { algorithm, selector, privateKey } = dkimKeys;
  const rows = db
    .select({ algorithm, selector, privateKey })
    .from(dkimKeys)
    .where(eq(dkimKeys.domainSeq, seq))
    .orderBy(asc(dkimKeys.seq))
    .all();
  const sealKey = dkimSealKey(secret);
  const keys = rows.map((row): SigningKey => {
    const der = unseal(sealKey, row.privateKey);
    if (der === null) throw new UnreadableKeyError(domain);
    return { ...row, privateKey: readPrivateKey(der) };
  });
  return keys.length === 0 ? null : { domain, keys };
}

/** Largest number of cached signers, a few kilobytes each. */
const MAX_SIGNERS = 1000;
const CACHED_MS = 24 * 60 * 60 * 1000;

/** By domain and the row numbers of its keys, because the keys of a row never change. */
const signers = perApp(
  ({ clock }: App) => new ExpiringMap<Signer>({ maxEntries: MAX_SIGNERS, clock }),
);

// Runs for every mail that leaves.
const findSeqs = statement<{ seq: number; keySeqs: string | null }, [string, number]>(`
  SELECT d.seq, (SELECT group_concat(k.seq) FROM dkim_keys k WHERE k.domain_seq = d.seq) AS keySeqs
  FROM domains d WHERE d.domain = +? AND d.project_seq = +?`);

const findSeqsOnce = perApp((app: App) =>
  cachePerIteration((key) => {
    const [projectSeq = "", domain = ""] = key.split(" ", 2);
    return findSeqs(app).get(domain, Number(projectSeq));
  }),
);

/**
 * The keys that sign the mail of a domain. Null if it leaves unsigned, or if the relay signs it; without
 * `relay`, that of the installation. Throws UnreadableKeyError if a key cannot be opened.
 */
export function signerOf(
  app: App,
  projectSeq: number,
  domain: string,
  relay: Relay | null = null,
): Signer | null {
  if (relay === null ? isSignedByRelay(app.config) : isSignedThere(relay)) return null;
  const found = findSeqsOnce(app)(`${projectSeq} ${domain}`);
  if (found === null || found.keySeqs === null) return null;
  const cacheKey = `${domain} ${found.keySeqs}`;
  const known = signers(app).get(cacheKey);
  if (known !== undefined) return known;
  const signer = readSigner(app, { seq: found.seq, domain });
  if (signer !== null) signers(app).set(cacheKey, signer, CACHED_MS);
  return signer;
}

/** The key that encrypts the DKIM keys of an installation. */
function dkimSealKey(secret: string): Buffer {
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
