/**
 * Ends the use of a database. Closing the last connection copies the log into the database and
 * deletes the log. After a fault that could spread the damage or hit a file of another process, so
 * the files are left as they are: the next start reads what is sound in the log.
 */

import type { Db } from "./open.ts";

/** False where the files must stay as they are. */
export function closeDatabase(db: Db): boolean {
  if (db.fault.current() === null) {
    db.sqlite.close();
    return true;
  }
  if (!isOnlyLogMissing(db)) return false;
  // The log is open still, and nothing else has its content.
  db.sqlite.run("PRAGMA wal_checkpoint(PASSIVE)");
  db.sqlite.close();
  return true;
}

function isOnlyLogMissing({ sqlite, fault, files }: Db): boolean {
  const { filename } = sqlite;
  return (
    fault.current()?.kind === "displaced" &&
    files.placeOf(filename) === "same" &&
    files.placeOf(`${filename}-shm`) === "same" &&
    files.placeOf(`${filename}-wal`) === "missing"
  );
}
