/**
 * Closes a database. Closing the last connection copies the write-ahead log into the database and
 * deletes the log. After a fault, this could spread the damage or change a file of another process.
 * The files are then left as they are, and the next start reads the intact part of the log.
 */

import type { Db } from "./open.ts";

/** Closes the database. Returns false, and closes nothing, if the files must not change. */
export function closeDatabase(db: Db): boolean {
  if (db.fault.current() === null) {
    db.sqlite.close();
    return true;
  }
  if (!isOnlyLogMissing(db)) return false;
  // The log was deleted or moved. It is still open here, and no other file has its content.
  db.sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
  db.sqlite.close();
  return true;
}

function isOnlyLogMissing({ sqlite, fault, files }: Db): boolean {
  const { filename } = sqlite;
  return (
    fault.current()?.kind === "displaced" &&
    files.stateOfPath(filename) === "same" &&
    files.stateOfPath(`${filename}-shm`) === "same" &&
    files.stateOfPath(`${filename}-wal`) === "missing"
  );
}
