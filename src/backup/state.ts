/**
 * The state of the backups, stored in the database: for each place of them the last one that was verified,
 * and why the latest try failed. The command that makes a backup stores it, and the server if that was
 * killed.
 */

import { type Static, Type } from "@sinclair/typebox";
import { Value } from "@sinclair/typebox/value";
import { readInstallationValue, storeInstallationValue } from "../db/installation-values.ts";
import type { Db } from "../db/open.ts";

const Nullable = <T extends ReturnType<typeof Type.Object>>(schema: T) =>
  Type.Union([schema, Type.Null()]);

/** Times are in milliseconds since the epoch. */
const BackupState = Type.Object({
  /** The folder or s3://… of the backups. */
  target: Type.String(),
  last: Nullable(
    Type.Object({
      name: Type.String(),
      createdAt: Type.Integer(),
      verifiedAt: Type.Integer(),
      bytes: Type.Integer(),
      sha256: Type.String(),
    }),
  ),
  /** Null if the latest try succeeded. */
  failure: Nullable(
    Type.Object({
      at: Type.Integer(),
      error: Type.String(),
      /** The advice; null if the error contains it. */
      suggestion: Type.Union([Type.String(), Type.Null()]),
    }),
  ),
});
export type BackupState = Static<typeof BackupState>;
const Stored = Type.Array(BackupState);

/** States of other places that are kept, the latest ones. */
const MAX_PLACES = 10;
const MAX_TEXT_CHARACTERS = 1_000;

/** The state of a place; null stands for a server that makes no backups. */
export function backupState(db: Pick<Db, "sqlite">, target: string | null): BackupState {
  const found = readStates(db).find((state) => state.target === target);
  return found ?? { target: target ?? "", last: null, failure: null };
}

/** Part of a change: the backup is complete and verified. */
export function recordBackup(
  db: Pick<Db, "sqlite">,
  target: string,
  last: NonNullable<BackupState["last"]>,
): void {
  store(db, { target, last, failure: null });
}

/** Part of a change: the latest try failed. */
export function recordBackupFailure(
  db: Pick<Db, "sqlite">,
  target: string,
  { at, error, suggestion }: NonNullable<BackupState["failure"]>,
): void {
  const failure = {
    at,
    error: error.slice(0, MAX_TEXT_CHARACTERS),
    suggestion: suggestion?.slice(0, MAX_TEXT_CHARACTERS) ?? null,
  };
  store(db, { ...backupState(db, target), failure });
}

function readStates(db: Pick<Db, "sqlite">): BackupState[] {
  const stored = readInstallationValue(db, "backup_state");
  if (stored === null) return [];
  const value: unknown = JSON.parse(stored);
  // A later version may have stored it in another form.
  return Value.Check(Stored, value) ? value : [];
}

function store(db: Pick<Db, "sqlite">, state: BackupState): void {
  const others = readStates(db).filter(({ target }) => target !== state.target);
  const states = [state, ...others].slice(0, MAX_PLACES);
  storeInstallationValue(db, "backup_state", JSON.stringify(states));
}
