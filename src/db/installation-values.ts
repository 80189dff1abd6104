/** Values of the whole installation, which commands read beside a running server. */

import { deriveKey } from "../lib/crypto.ts";
import type { Db } from "./open.ts";

type ValueName =
  /** Digest of the installation secret, stored when a server first uses the database. */
  | "secret_digest"
  /** Time in ISO 8601 since which another process holds the write-ahead log. */
  | "log_held_since"
  /** Time in ISO 8601 since which nothing leaves (outbox/queue-hold.ts). */
  | "queue_held_since"
  /** Time in ISO 8601: older mails are cancelled before the queue is released (outbox/queue-hold.ts). */
  | "queue_cancel_before"
  /** Public half of the recovery key, for which backups are encrypted. */
  | "backup_recipient"
  /** The last backup and the last failure, as JSON (backup/state.ts). */
  | "backup_state"
  /** Secrets of the installations that projects came from, sealed (former-secrets.ts). */
  | "former_secrets"
  /** Account, certificate and last failure of ACME, sealed (tls/acme-state.ts). */
  | "acme"
  /** The newest release, and when the server asked for it (modules/updates.ts), as JSON. */
  | "known_release"
  /** Time in ISO 8601 at which the next weekly digest is due (modules/alerts/digest.ts). */
  | "digest_due_at"
  /** Settings of the last server that commands need (stored-settings.ts), as JSON. */
  | "server";

/** Tells the operator that the secret differs from the one that `rememberSecret` stored. */
export const OTHER_SECRET =
  "the installation secret (--secret, or the file “secret” in the data folder) is not the one that " +
  "this database was used with, so links in mails that were sent do not work: restore the old secret";

export function readInstallationValue({ sqlite }: Pick<Db, "sqlite">, name: ValueName) {
  const find = "SELECT value FROM installation_values WHERE name = ?";
  return sqlite.query<{ value: string }, [string]>(find).get(name)?.value ?? null;
}

/** Part of a change, or before the writer is used. Null removes the value. */
export function storeInstallationValue(
  { sqlite }: Pick<Db, "sqlite">,
  name: ValueName,
  value: string | null,
): void {
  sqlite.run("DELETE FROM installation_values WHERE name = ?", [name]);
  if (value === null) return;
  sqlite.run("INSERT INTO installation_values (name, value) VALUES (?, ?)", [name, value]);
}

/** False if a server has used the database with another secret. */
export function isSameSecret(db: Pick<Db, "sqlite">, secret: string): boolean {
  const known = readInstallationValue(db, "secret_digest");
  return known === null || known === digestOf(secret);
}

/** Stores the digest of the secret that the first server uses. Runs before the writer is used. */
export function rememberSecret(db: Pick<Db, "sqlite">, secret: string): void {
  if (readInstallationValue(db, "secret_digest") !== null) return;
  storeInstallationValue(db, "secret_digest", digestOf(secret));
}

/** The secret has 256 random bits, so its digest cannot be reversed. */
function digestOf(secret: string): string {
  return deriveKey(secret, "secret-digest").toString("hex");
}
