/**
 * Erased addresses. The receipt of an erasure has a keyed digest of the address (HMAC-SHA-256), and the
 * standing that the person had: unsubscribed, or the reason of a suppression. So a person who left is not
 * written to again after an import, a form or a request of the API, although the address is stored
 * nowhere. A standing ends when the person subscribes again, or when the owner lifts the suppression.
 *
 * The key of a project is derived from the secret of the installation and the id of the project, so a
 * restored backup has the same one. It is stored, sealed, because a project may move to another
 * installation.
 */

import type { App } from "../../core/app.ts";
import type { ERASED_STANDINGS } from "../../db/schema/erasures.ts";
import { statement } from "../../db/statement.ts";
import { deriveKey, hmac, seal, unseal } from "../../lib/crypto.ts";
import { perApp } from "../../lib/per-app.ts";

export type ErasedStanding = (typeof ERASED_STANDINGS)[number];
type SuppressedStanding = Exclude<ErasedStanding, "UNSUBSCRIBED">;

const sealingKey = perApp(({ secret }: App) => deriveKey(secret, "erasure-keys"));

const findKey = statement<{ key: Uint8Array }, [number]>(
  "SELECT key FROM erasure_keys WHERE project_seq = +?",
);
const insertKey = statement<null, [number, Uint8Array]>(
  "INSERT INTO erasure_keys (project_seq, key) VALUES (?, ?) ON CONFLICT DO NOTHING",
);
const findProject = statement<{ id: string }, [number]>("SELECT id FROM projects WHERE seq = +?");

/** Keys by project; to unseal one for each mail would take longer than the digest. */
const keys = perApp(() => new Map<number, Buffer>());

/** The key of a project; null if the stored one was sealed with another secret. */
function keyOf(app: App, projectSeq: number): Buffer | null {
  const known = keys(app).get(projectSeq);
  if (known !== undefined) return known;
  const stored = findKey(app).get(projectSeq);
  const key =
    stored === null ? deriveProjectKey(app, projectSeq) : unseal(sealingKey(app), stored.key);
  if (key !== null) keys(app).set(projectSeq, key);
  return key;
}

function deriveProjectKey(app: App, projectSeq: number): Buffer {
  const id = findProject(app).get(projectSeq)?.id ?? "";
  return deriveKey(app.secret, `erased-addresses ${id}`);
}

/** Part of a change: stores the key of the project if it has none yet. */
export function storeErasureKey(app: App, projectSeq: number): void {
  const key = keyOf(app, projectSeq);
  if (key !== null) insertKey(app).run(projectSeq, seal(sealingKey(app), key));
}

/** The keyed digest of an address; null if the key cannot be read. */
export function addressDigest(app: App, projectSeq: number, email: string): string | null {
  const key = keyOf(app, projectSeq);
  return key === null ? null : hmac(key, email).toString("hex");
}

const findErased = statement<{ standing: ErasedStanding | null }, [number, string]>(`
  SELECT standing FROM erasures WHERE project_seq = +? AND digest = +? ORDER BY seq DESC LIMIT 1`);
const changeStanding = statement<null, [ErasedStanding | null, number, string]>(
  "UPDATE erasures SET standing = ? WHERE project_seq = +? AND digest = +?",
);

/** Returns undefined if the address was never erased in the project. */
function find(app: App, projectSeq: number, email: string) {
  const digest = addressDigest(app, projectSeq, email);
  if (digest === null) return undefined;
  const found = findErased(app).get(projectSeq, digest);
  return found === null ? undefined : { digest, standing: found.standing };
}

/** The standing of an erased address; null if it has none. Ask `hasErased` (suppressions.ts) before. */
export function erasedStanding(app: App, projectSeq: number, email: string): ErasedStanding | null {
  return find(app, projectSeq, email)?.standing ?? null;
}

/**
 * Part of a change: keeps the suppression of an erased address with its digest; null for one that would
 * expire, which is not kept. Returns false if the address was never erased.
 */
export function suppressErased(
  app: App,
  projectSeq: number,
  email: string,
  reason: SuppressedStanding | null,
): boolean {
  const found = find(app, projectSeq, email);
  if (found === undefined) return false;
  const isSuppressed = found.standing !== null && found.standing !== "UNSUBSCRIBED";
  if (!isSuppressed && reason !== null) changeStanding(app).run(reason, projectSeq, found.digest);
  return true;
}

/**
 * Part of a change: ends the standing of an erased address, because the person came back or the owner
 * lifted it. Returns false if it has none.
 */
export function endErasedStanding(app: App, projectSeq: number, email: string): boolean {
  const found = find(app, projectSeq, email);
  if (found === undefined || found.standing === null) return false;
  changeStanding(app).run(null, projectSeq, found.digest);
  return true;
}
