/**
 * Cuts the power over and over while the server takes mails and events, and looks at what is left.
 *
 * `bun scripts/power-cut.ts [--mails 6000] [--cuts 150] [--seed N] [--binary[=PATH]]`
 *
 * A process that is killed loses nothing that it wrote; a power cut takes all that no sync brought to
 * the disk, in any order. So the server runs under strace (Linux), which tells what is written to the
 * database and its log, and when a sync begins and ends; `power-cut/disk.ts` makes of that what a
 * disk may have. At each cut SQLite must open it, find it whole, and have whatever was answered.
 *
 * `--lie log|begin|database` leaves out syncs as if the server had not asked for them: of the log, of
 * the log when it begins anew, of the database. Then the cuts must find damage, or they prove nothing.
 */

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { linesOf, removeFolder, startServer, temporaryFolder } from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import { runProof } from "./bench/proof.ts";
import { judge, say, whole } from "./bench/report.ts";
import { prepareStore } from "./bench/store.ts";
import { crashOptions } from "./crash/options.ts";
import { createDiskFile } from "./power-cut/disk.ts";
import { type Step, stepsOf, straceTo } from "./power-cut/trace.ts";
import { createRandom } from "./seed/random.ts";

const DATABASE = "mailstead.db";
const LOG = `${DATABASE}-wal`;
const CONNECTIONS = 8;
/** A log has 64 MiB before it begins anew: mails of this size get there soon. */
const BODY_BYTES = 20_000;
/** Calls of the trace for each mail, about; so the cuts are spread over all of it. */
const STEPS_A_MAIL = 20;
/** After the log began anew, where a fault of order would show. */
const CLOSE_STEPS = 60;
const LIMIT_MS = 30 * 60_000;
const ANSWERED = /"(?:email|event)":"([0-9a-f-]{36})"/g;
const LIES = ["nothing", "log", "begin", "database"];

type Options = { mails: number; cuts: number; seed: number; lie: string; binary: string | null };

type Report = {
  cuts: number;
  /** Of those, shortly after the log began anew. */
  close: number;
  begins: number;
  answered: number;
  damaged: string[];
  lost: number;
};

async function run(): Promise<boolean> {
  const options = readOptions();
  if (Bun.which("strace") === null) {
    throw new Error("strace is needed (Linux). Install it, then again: apt-get install strace");
  }
  console.log(`power-cut: ${whole(options.mails)} mails, seed ${options.seed}`);
  const data = temporaryFolder();
  const key = await prepareStore(data, 0);
  const pipe = join(data, "trace");
  Bun.spawnSync(["mkfifo", pipe]);
  const watching = watch(data, linesOf(Bun.spawn(["cat", pipe]).stdout), options);
  const main = options.binary === null ? [process.execPath, "src/main.ts"] : [options.binary];
  const server = await startServer({
    binary: null,
    program: [...straceTo(pipe), ...main],
    data,
    args: ["--transport", "capture", "--api-rate", "0"],
  });
  await load({ url: `http://127.0.0.1:${server.port}`, key, mails: options.mails });
  await server.crash();
  const report = await watching;
  removeFolder(data);
  return print(report);
}

function readOptions(): Options {
  const defaults = { mails: 6000, cuts: 150, seed: 1, lie: "nothing" };
  const options = crashOptions("power-cut.ts", defaults);
  if (!LIES.includes(options.lie)) throw new Error(`--lie: ${LIES.join(", ")}`);
  return options;
}

/** Mails, and an event with each. */
async function load({ url, key, mails }: { url: string; key: string; mails: number }) {
  const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
  const body = `<p>${"All work and no play. ".repeat(BODY_BYTES / 22)}</p>`;
  let next = 0;

  async function post(path: string, content: object): Promise<void> {
    const answer = await fetch(url + path, {
      method: "POST",
      headers,
      body: JSON.stringify(content),
    });
    if (!answer.ok) throw new Error(`${path}: ${answer.status} ${await answer.text()}`);
    await answer.arrayBuffer();
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

/** Follows the trace, and cuts the power now and then. */
async function watch(
  data: string,
  lines: AsyncIterable<string>,
  { mails, cuts, seed, lie }: Options,
): Promise<Report> {
  const random = createRandom(seed);
  const files = new Map(
    [DATABASE, LOG].map((name) => [name, createDiskFile(contentOf(join(data, name)))]),
  );
  const answered = new Set<string>();
  const ends = new Map<string, () => void>();
  const report: Report = { cuts: 0, close: 0, begins: 0, answered: 0, damaged: [], lost: 0 };
  let sinceBegin = Infinity;
  let liesAboutBegin = false;

  function follow(step: Step): void {
    if ("ends" in step) {
      ends.get(step.thread)?.();
      ends.delete(step.thread);
      return;
    }
    const call = step.begins;
    if (call.is === "send") {
      for (const [, id = ""] of call.text.matchAll(ANSWERED)) answered.add(id);
      return;
    }
    const file = files.get(call.file);
    if (file === undefined) return;
    if (call.is === "write") {
      if (call.file === LOG && call.offset === 0) noteBegin();
      ends.set(step.thread, file.write(call.offset, call.bytes));
    } else if (call.is === "resize") {
      ends.set(step.thread, file.resize(call.size));
    } else if (!isLeftOut(call.file)) {
      ends.set(step.thread, file.sync());
    }
    sinceBegin++;
  }

  function noteBegin(): void {
    report.begins++;
    sinceBegin = 0;
    liesAboutBegin = lie === "begin";
  }

  function isLeftOut(name: string): boolean {
    if (name === DATABASE) return lie === "database";
    const isOfBegin = liesAboutBegin;
    liesAboutBegin = false;
    return lie === "log" || isOfBegin;
  }

  function cut(): void {
    report.cuts++;
    if (sinceBegin <= CLOSE_STEPS) report.close++;
    const left = join(data, "left");
    mkdirSync(left);
    for (const [name, file] of files) writeFileSync(join(left, name), file.afterCut(random));
    const fault = faultOf(left, answered);
    if (fault.missing > 0) report.lost += fault.missing;
    if (fault.damage !== null) report.damaged.push(fault.damage);
    rmSync(left, { recursive: true });
  }

  const every = Math.ceil((2 * mails * STEPS_A_MAIL) / cuts);
  for await (const line of lines) {
    for (const step of stepsOf(line)) {
      follow(step);
      const isClose = sinceBegin <= CLOSE_STEPS && report.begins > 1;
      if (random.integer(isClose ? 2 : every) === 0) cut();
    }
  }
  cut();
  report.answered = answered.size;
  return report;
}

function contentOf(path: string): Uint8Array {
  return existsSync(path) ? readFileSync(path) : new Uint8Array();
}

/** Of a folder as a new start would find it. */
function faultOf(folder: string, answered: ReadonlySet<string>) {
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

function print({ cuts, close, begins, answered, damaged, lost }: Report): boolean {
  say("answered", whole(answered));
  say("the log began anew", whole(begins));
  say("cuts", `${whole(cuts)}, ${whole(close)} of them right after that`);
  for (const damage of new Set(damaged)) say("damage", damage);
  return judge([
    { name: "damaged", isMet: damaged.length === 0, measured: whole(damaged.length), wanted: "0" },
    { name: "answered and lost", isMet: lost === 0, measured: whole(lost), wanted: "0" },
    { name: "begins of a log", isMet: begins > 2, measured: whole(begins), wanted: "> 2" },
  ]);
}

await runProof(run, LIMIT_MS);
