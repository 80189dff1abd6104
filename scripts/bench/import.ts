/**
 * Measures an import of a million rows into a large project while the API is in use. `/livez` does no
 * work, so its slowest response shows how long any request had to wait for the event loop.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { type Call, createCall } from "./call.ts";
import { loopSeconds, parse, removeFolder, residentMiB } from "./children.ts";
import { fileRows, writeFile } from "./contacts-file.ts";
import { startProbedServer } from "./loop.ts";
import { startProbes } from "./probes.ts";
import {
  type Aim,
  fixed,
  reportAims,
  memoryAim,
  ms,
  msAim,
  printValue,
  printLatencies,
  whole,
} from "./report.ts";
import { seededFolder, type SeedOptions } from "./seeded.ts";

const ARGUMENTS = ["--transport", "capture", "--api-rate", "0"];
const MAX_SECONDS = 60;
const POLL_MS = 100;
const PROBE_PAUSE_MS = 5;
/** Rows per transaction of the baseline; one change of an import has about as many. */
const BASELINE_BATCH = 300;

const Started = Type.Object({ data: Type.Object({ jobId: Type.String() }) });
const Progress = Type.Object({
  data: Type.Object({
    status: Type.String(),
    processed: Type.Integer(),
    created: Type.Integer(),
    failed: Type.Integer(),
  }),
});

export async function benchImport(
  options: SeedOptions & { binary: string | null },
): Promise<boolean> {
  const rows = options.isQuick ? 100_000 : 1_000_000;
  console.log(`import: ${whole(rows)} rows into a large project while the API is in use`);
  const baseline = await bareInserts(options, rows);
  printValue("baseline, the same rows, bare INSERT", `${fixed(baseline, 1)} s`);
  const { data, key } = await seededFolder(options);
  const file = join(data, "contacts.csv");
  const sizeBytes = await writeFile(file, rows);
  const server = await startProbedServer({ binary: options.binary, data, args: ARGUMENTS });
  const call = createCall(server, key);
  const jobId = await upload(call, file, sizeBytes);
  await server.reportLoop("the upload");
  Bun.gc(true); // Otherwise the garbage of the baseline is collected during the measurement.
  const startedAt = performance.now();
  const loopStartedAt = loopSeconds(server.pid);
  const probing = startProbes([livez(call), list(call), track(call)], PROBE_PAUSE_MS);
  let memory = 0;
  let progress = { status: "QUEUED", created: 0, failed: 0 };
  while (progress.status === "QUEUED" || progress.status === "RUNNING") {
    await Bun.sleep(POLL_MS);
    memory = Math.max(memory, residentMiB(server.pid));
    const response = await call(`/contacts/import/${jobId}`);
    progress = parse(Progress, await response.json()).data;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const loopSecondsUsed = loopSeconds(server.pid) - loopStartedAt;
  const measured = await probing.stop();
  const loop = await server.reportLoop("importing");
  await server.stop();
  removeFolder(data);
  if (progress.created !== rows) {
    throw new Error(`the import did not create all rows: ${JSON.stringify(progress)}`);
  }
  printValue(
    "imported",
    `${whole(rows / seconds)} rows/s; ${fixed(loopSecondsUsed, 1)} s of processor time`,
  );
  measured.forEach(printLatencies);
  return reportAims([
    {
      name: `import of ${whole(rows)} rows`,
      isMet: seconds < MAX_SECONDS,
      measured: `${fixed(seconds, 1)} s, ${fixed(seconds / baseline, 1)} × bare`,
      wanted: `< ${MAX_SECONDS} s`,
    },
    ...measured.map(({ name, p99 }): Aim => msAim(`${name} meanwhile, p99`, p99, 50)),
    ...loop,
    memoryAim("memory during the import", memory),
  ]);
}

async function upload(call: Call, file: string, sizeBytes: number): Promise<string> {
  const form = new FormData();
  form.set("file", Bun.file(file));
  const startedAt = performance.now();
  const response = await call("/contacts/import", { method: "POST", body: form });
  const { data } = parse(Started, await response.json());
  printValue("upload", `${whole(sizeBytes / 2 ** 20)} MiB in ${ms(performance.now() - startedAt)}`);
  return data.jobId;
}

const livez = (call: Call) => ({ name: "GET /livez", send: () => call("/livez") });
const list = (call: Call) => ({ name: "GET /contacts", send: () => call("/contacts?limit=20") });
const track = (call: Call) => ({
  name: "POST /v1/track",
  send: (number: number) =>
    call("/v1/track", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ event: "probe", email: `probe-${number % 100}@example.net` }),
    }),
});

/** Inserts the same rows in the same order into a copy without triggers; returns the seconds. */
async function bareInserts(options: SeedOptions, rows: number): Promise<number> {
  const { data } = await seededFolder(options);
  const sqlite = new Database(join(data, "mailstead.db"));
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run("PRAGMA cache_size = -65536");
  for (const [name] of sqlite
    .query("SELECT name FROM sqlite_master WHERE type = 'trigger'")
    .values()) {
    sqlite.run(`DROP TRIGGER "${String(name)}"`);
  }
  const insert = sqlite.prepare("INSERT INTO contacts VALUES (NULL, ?, 1, ?, ?, ?, ?, ?)");
  const startedAt = performance.now();
  let batch: { email: string; subscribed: boolean; data: unknown }[] = [];
  const write = sqlite.transaction(() => {
    for (const { email, subscribed, data: fields } of batch) {
      const now = Date.now();
      insert.run(Bun.randomUUIDv7(), email, Number(subscribed), JSON.stringify(fields), now, now);
    }
  });
  for (const row of fileRows(rows)) {
    batch.push(row);
    if (batch.length < BASELINE_BATCH) continue;
    write();
    batch = [];
  }
  write();
  const seconds = (performance.now() - startedAt) / 1000;
  sqlite.close();
  removeFolder(data);
  return seconds;
}
