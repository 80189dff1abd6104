/** A thread that reads (reader.ts). Its connection cannot write. */

import { Database, SQLiteError } from "bun:sqlite";
import { parentPort, workerData } from "node:worker_threads";
import { systemClock } from "../lib/clock.ts";
import { createQueryRunner, type FoundRows, type ReadQuery, TIME_IS_OVER } from "./queries.ts";

export type ReadTask = { id: number; query: ReadQuery; limitMs: number };
export type TaskFault = { isLate: boolean; code: string; message: string };
export type ReadAnswer = { id: number; found?: FoundRows; fault?: TaskFault };

const CACHE_KIB = 8 * 1024;

const { file, stop }: { file: string; stop: Int32Array } = workerData;
const sqlite = new Database(file, { readonly: true, strict: true });
sqlite.run("PRAGMA busy_timeout = 5000");
sqlite.run(`PRAGMA cache_size = -${CACHE_KIB}`);
const run = createQueryRunner(sqlite, systemClock.elapsed, () => Atomics.load(stop, 0) === 1);

function describeFault(error: unknown): TaskFault {
  const message = error instanceof Error ? error.message : String(error);
  const code = error instanceof SQLiteError ? (error.code ?? "") : "";
  return { isLate: error === TIME_IS_OVER, code, message };
}

/** A page and its total are read in one transaction, so that they are of the same moment. */
function answer({ id, query, limitMs }: ReadTask): ReadAnswer {
  try {
    sqlite.run("BEGIN");
    return { id, found: run(query, limitMs) };
  } catch (error) {
    return { id, fault: describeFault(error) };
  } finally {
    if (sqlite.inTransaction) sqlite.run("COMMIT");
  }
}

parentPort?.on("message", (task: ReadTask | null) => {
  if (task !== null) return parentPort?.postMessage(answer(task));
  sqlite.close();
  process.exit(0);
});
