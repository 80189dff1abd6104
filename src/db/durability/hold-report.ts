/**
 * Reports that another process holds the write-ahead log (`contention.ts`): one line in the log when
 * the hold is noticed and one when it is over, and a stored value that `mailstead doctor` reads.
 */

import type { Clock } from "../../lib/clock.ts";
import type { Log } from "../../lib/log.ts";
import { readInstallationValue, storeInstallationValue } from "../installation-values.ts";
import type { Db } from "../open.ts";
import type { Writer } from "../writer.ts";
import type { LogHold } from "./contention.ts";

const MIB = 1024 * 1024;

export function createHoldReport(deps: {
  db: Pick<Db, "sqlite">;
  writer: Pick<Writer, "write" | "findLogHold">;
  clock: Pick<Clock, "now">;
  log: Log;
}) {
  const { db, writer, clock, log } = deps;
  let isLogged = false;

  function logChange(hold: LogHold | null): void {
    isLogged = hold !== null;
    if (hold === null) {
      log.info("no other process holds the write-ahead log any more");
      return;
    }
    log.warn(
      "another process holds the write-ahead log of the database, so the log cannot be copied in " +
        "the background and may grow; run the server with --durability sqlite beside a tool that " +
        "replicates the database, or end a program that has it open for reading",
      { heldSeconds: Math.round(hold.heldMs / 1000), logMiB: Math.ceil(hold.logBytes / MIB) },
    );
  }

  return {
    /** Runs every second. */
    async check(): Promise<void> {
      const hold = writer.findLogHold();
      if (isLogged !== (hold !== null)) logChange(hold);
      const isStored = readInstallationValue(db, "log_held_since") !== null;
      if (isStored === (hold !== null)) return;
      // The first check after a start also removes the value of a process that was killed.
      const since = hold === null ? null : new Date(clock.now() - hold.heldMs).toISOString();
      await writer.write(() => storeInstallationValue(db, "log_held_since", since));
    },
  };
}
