/**
 * Simulates power cuts while the server accepts mails and events, and checks the database afterwards.
 *
 * `bun scripts/power-cut.ts [--mails 6000] [--cuts 150] [--seed N] [--binary[=PATH]]`
 *
 * A process that is killed loses nothing that it wrote. A power cut may lose any write that no sync
 * has completed, in any order. The server runs under strace (Linux), which reports writes to the
 * database and its write-ahead log, and when each sync begins and ends; `power-cut/disk.ts` computes
 * from that which contents a disk may have. After each cut SQLite must open the database, find it
 * undamaged, and contain every mail and event whose request was answered.
 *
 * `--lie log|begin|database` ignores syncs, as if the server had not requested them: all syncs of the
 * log, only the first sync after the log was restarted, or all syncs of the database. With a lie the
 * cuts must find damage, which shows that the check works.
 */

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { runCheck } from "./bench/run-check.ts";
import { reportAims, printValue, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { crashOptions } from "./crash/options.ts";
import { createDiskFile } from "./power-cut/disk.ts";
import { type Step, stepsOf, straceTo } from "./power-cut/trace.ts";
import { createRandom } from "./seed/random.ts";

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
const CONNECTIONS = 8;
/** Size of a mail body, so large that the log soon reaches 64 MiB, after which it is restarted. */
const BODY_BYTES = 20_000;
/** Approximate number of traced system calls per mail, used to spread the cuts over the whole run. */
const STEPS_PER_MAIL = 20;
/** Steps after a restart of the log with many cuts, since errors in write order would show there. */
const STEPS_AFTER_RESTART = 60;
const LIMIT_MS = 30 * 60_000;
const ANSWERED_ID = /"(?:email|event)":"([0-9a-f-]{36})"/g;
const LIES = ["nothing", "log", "begin", "database"];

type Options = { mails: number; cuts: number; seed: number; lie: string; binary: string | null };

type Report = {
  cuts: number;
  /** Cuts shortly after the log was restarted. */
  cutsAfterRestart: number;
  /** How often the log was restarted. */
  restarts: number;
  /** Mails and events whose request was answered. */
  answered: number;
  /** Error messages of damaged databases. */
  damaged: string[];
  /** Answered mails and events that were missing after a cut. */
  lost: number;
};

async function run(): Promise<boolean> {
  const options = readOptions();
  if (Bun.which("strace") === null) {
    throw new Error("strace is missing; install it on Linux with: apt-get install strace");
  }
  console.log(`power-cut: ${whole(options.mails)} mails, seed ${options.seed}`);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const pipe = join(data, "trace");
  Bun.spawnSync(["mkfifo", pipe]);
  const following = followTrace(data, linesOf(Bun.spawn(["cat", pipe]).stdout), options);
  const main = options.binary === null ? [process.execPath, "src/main.ts"] : [options.binary];
  const server = await startServer({
    binary: null,
    program: [...straceTo(pipe), ...main],
    data,
    args: ["--transport", "capture", "--api-rate", "0"],
  });
  await load({ url: `http://127.0.0.1:${server.port}`, key, mails: options.mails });
  await server.crash();
  const report = await following;
  removeFolder(data);
  return print(report);
}

function readOptions(): Options {
  const defaults = { mails: 6000, cuts: 150, seed: 1, lie: "nothing" };
  const options = crashOptions("power-cut.ts", defaults);
  if (!LIES.includes(options.lie)) throw new Error(`--lie must be one of ${LIES.join(", ")}`);
  return options;
}

/** Sends the mails, and tracks an event after each. */
async function load({ url, key, mails }: { url: string; key: string; mails: number }) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = `<p>${"All work and no play. ".repeat(BODY_BYTES / 22)}</p>`;
  let next = 0;

  async function post(path: string, content: object): Promise<void> {
    const response = await fetch(url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(content),
    });
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
    await response.arrayBuffer();
  }

  async function work(): Promise<void> {
    while (next < mails) {
      const number = next++;
      const email = `person-${number % 5000}@example.net`;
      await post("/v1/send", { to: email, from: SENDER, subject: `Mail ${number}`, body });
      await post("/v1/track", { event: "seen", email, data: { number } });
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, work));
}

/** Applies the traced calls to the simulated disk and cuts the power at random steps. */
async function followTrace(
  data: string,
  lines: AsyncIterable<string>,
  { mails, cuts, seed, lie }: Options,
): Promise<Report> {
  const random = createRandom(seed);
  const files = new Map(
    [DATABASE, LOG].map((name) => [name, createDiskFile(contentOf(join(data, name)))]),
  );
  const answered = new Set<string>();
  const endCallByThread = new Map<string, () => void>();
  const report: Report = {
    cuts: 0,
    cutsAfterRestart: 0,
    restarts: 0,
    answered: 0,
    damaged: [],
    lost: 0,
  };
  let stepsSinceRestart = Infinity;
  let ignoresNextSync = false;

  function applyStep(step: Step): void {
    if ("ends" in step) {
      endCallByThread.get(step.thread)?.();
      endCallByThread.delete(step.thread);
      return;
    }
    const call = step.begins;
    if (call.is === "send") {
      for (const [, id = ""] of call.text.matchAll(ANSWERED_ID)) answered.add(id);
      return;
    }
    const file = files.get(call.file);
    if (file === undefined) return;
    if (call.is === "write") {
      if (call.file === LOG && call.offset === 0) noteRestart();
      endCallByThread.set(step.thread, file.write(call.offset, call.bytes));
    } else if (call.is === "resize") {
      endCallByThread.set(step.thread, file.resize(call.size));
    } else if (!isSyncIgnored(call.file)) {
      endCallByThread.set(step.thread, file.sync());
    }
    stepsSinceRestart++;
  }

  function noteRestart(): void {
    report.restarts++;
    stepsSinceRestart = 0;
    ignoresNextSync = lie === "begin";
  }

  function isSyncIgnored(name: string): boolean {
    if (name === DATABASE) return lie === "database";
    const isFirstSync = ignoresNextSync;
    ignoresNextSync = false;
    return lie === "log" || isFirstSync;
  }

  function cut(): void {
    report.cuts++;
    if (stepsSinceRestart <= STEPS_AFTER_RESTART) report.cutsAfterRestart++;
    const left = join(data, "left");
    mkdirSync(left);
    for (const [name, file] of files) writeFileSync(join(left, name), file.afterCut(random));
    const result = checkDatabase(left, answered);
    if (result.missing > 0) report.lost += result.missing;
    if (result.damage !== null) report.damaged.push(result.damage);
    rmSync(left, { recursive: true });
  }

  const every = Math.ceil((2 * mails * STEPS_PER_MAIL) / cuts);
  for await (const line of lines) {
    for (const step of stepsOf(line)) {
      applyStep(step);
      const isAfterRestart = stepsSinceRestart <= STEPS_AFTER_RESTART && report.restarts > 1;
      if (random.integer(isAfterRestart ? 2 : every) === 0) cut();
    }
  }
  cut();
  report.answered = answered.size;
  return report;
}

function contentOf(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

/** Checks a database folder as a new start would find it, for damage and for missing rows. */
function checkDatabase(folder: string, answered: ReadonlySet<string>) {
  try {
    const sqlite = new Database(join(folder, DATABASE));
    try {
      const [found] = sqlite.query("PRAGMA integrity_check(1)").values().flat();
      const orphans = sqlite.query("PRAGMA foreign_key_check").values().length;
      const ids = sqlite.query("SELECT id FROM emails UNION ALL SELECT id FROM events").values();
      const there = new Set(ids.flat().map(String));
      const missing = answered.difference(there).size;
      const isWhole = found === "ok" && orphans === 0;
      return { damage: isWhole ? null : `${String(found)}, ${orphans} orphans`, missing };
    } finally {
      sqlite.close();
    }
  } catch (error) {
    return { damage: error instanceof Error ? error.message : String(error), missing: 0 };
  }
}

function print({ cuts, cutsAfterRestart, restarts, answered, damaged, lost }: Report): boolean {
  printValue("answered", whole(answered));
  printValue("restarts of the log", whole(restarts));
  printValue("cuts", `${whole(cuts)}, ${whole(cutsAfterRestart)} of them right after a restart`);
  for (const damage of new Set(damaged)) printValue("damage", damage);
  return reportAims([
    {
      name: "damaged databases",
      isMet: damaged.length === 0,
      measured: whole(damaged.length),
      wanted: "0",
    },
    { name: "answered but lost", isMet: lost === 0, measured: whole(lost), wanted: "0" },
    { name: "restarts of the log", isMet: restarts > 2, measured: whole(restarts), wanted: "> 2" },
  ]);
}

await runCheck(run, LIMIT_MS);
