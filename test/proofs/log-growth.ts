/** Searches that read the whole time, while other work fills the write-ahead log. */

import { createDiskSync } from "../../src/db/durability/disk-sync.ts";
import { createSqliteSync } from "../../src/db/durability/sqlite-sync.ts";
import { openLogFile } from "../../src/db/durability/wal-file.ts";
import { createDatabaseReader, type DatabaseReader } from "../../src/db/reader.ts";
import { createWriter } from "../../src/db/writer.ts";
import { silentLog } from "../../src/lib/log.ts";
import { type Aim, limitAim, presenceAim } from "../../scripts/bench/report.ts";
import { migratedFile } from "../support/database.ts";
import type { Form } from "./prove.ts";

const MIB = 1024 * 1024;
const PAGE_BYTES = 4096;
/** A tenth of the sizes of the server. */
const TENTH = { roundPages: 200, restartPages: 1_600, pausePages: 50, urgentPages: 3_200 };
/** Without pauses of the searches, the log is restarted only by chance. */
const LEAST_PAUSES = 2;
const FORMS = {
  short: { sizes: TENTH, restarts: 3, mostMib: 400, writtenMib: 800 },
  long: { sizes: undefined, restarts: 10, mostMib: 200, writtenMib: 8_000 },
};
const PROJECTS = [1, 2, 3];
const TEXT = "x".repeat(3_000);
const TEXTS_PER_CHANGE = 5;
/** It reads a table first, so it uses the log until it ends. */
const ENDLESS = `WITH RECURSIVE n (i) AS (SELECT max(seq) FROM things UNION ALL
  SELECT i + 1 FROM n WHERE in_time()) SELECT count(*) FROM n`;

/** Returns the number of searches. */
async function searchUntil(reader: DatabaseReader, project: number, isOver: () => boolean) {
  // Their times differ, so that they do not all end at the same moment.
  const limitMs = 40 + 13 * project;
  const query = { sql: ENDLESS, values: [], isPartial: true };
  let count = 0;
  for (; !isOver(); count++) await reader.find(project, query, limitMs);
  return count;
}

/** Writes until the log was restarted some times, and returns how long it became. */
export async function growLog(durability: "background" | "sqlite", form: Form): Promise<Aim[]> {
  const { sizes, restarts, mostMib, writtenMib } = FORMS[form];
  const db = migratedFile();
  db.sqlite.run("CREATE TABLE things (seq INTEGER PRIMARY KEY, text TEXT)");
  const reader = createDatabaseReader(db);
  let pauses = 0;
  const readers = {
    ...reader,
    async hold(limitMs: number) {
      const isHeld = await reader.hold(limitMs);
      if (isHeld) pauses++;
      return isHeld;
    },
  };
  let signsOfOthers = 0;
  const contention = {
    note: () => void signsOfOthers++,
    isRecent: () => false,
    heldMs: () => null,
  };
  const sync =
    durability === "sqlite"
      ? createSqliteSync(db, readers, sizes && { ...sizes, intervalMs: 0 })
      : createDiskSync(db, { readers, contention, ...(sizes && { sizes }) });
  const writer = createWriter(db, silentLog, sync);
  const log = openLogFile(`${db.sqlite.filename}-wal`, PAGE_BYTES);
  // The first reads start the threads.
  await Promise.all(
    PROJECTS.map((project) =>
      reader.find(project, { sql: "SELECT 1 WHERE in_time()", values: [] }),
    ),
  );
  let isOver = false;
  const searches = PROJECTS.map((project) => searchUntil(reader, project, () => isOver));
  const insert = db.sqlite.prepare("INSERT INTO things (text) VALUES (?)");
  const generations = new Set<string>();
  let [mostBytes, writtenBytes] = [0, 0];
  const isDone = () => generations.size > restarts && pauses >= LEAST_PAUSES;
  while (!isDone() && mostBytes < mostMib * MIB && writtenBytes < writtenMib * MIB) {
    await writer.write(() => {
      for (let n = 0; n < TEXTS_PER_CHANGE; n++) insert.run(TEXT);
    });
    writtenBytes += TEXTS_PER_CHANGE * TEXT.length;
    generations.add(log.generation());
    mostBytes = Math.max(mostBytes, log.sizeBytes());
  }
  isOver = true;
  const counts = await Promise.all(searches);
  log.close();
  await writer.drain();
  await reader.close();
  db.sqlite.close();
  return [
    presenceAim("restarts of the log", generations.size - 1, restarts),
    limitAim("length of the log in MiB", mostBytes / MIB, mostMib),
    presenceAim("pauses of the searches", pauses, LEAST_PAUSES),
    presenceAim("searches of the project with the fewest", Math.min(...counts)),
    limitAim("signs of another process", signsOfOthers),
  ];
}
