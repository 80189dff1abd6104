/**
 * Runs the server beside Litestream under load, kills both at once with kill -9, restores the database from
 * the replica alone, and counts the answered mails that are missing there and on the machine itself.
 *
 * `bun scripts/litestream.ts [--seconds 30] [--litestream PATH] [--s3 http://127.0.0.1:5000] [--binary[=PATH]]`
 *
 * The recipe is in docs/operations.md#replication. Without `--litestream`, the program is looked for on the
 * PATH and in `.bun/tools`, and is built there if Go is installed. `--s3` is the address of an S3 server with
 * any credentials, such as `moto_server`; without it, the replica is a folder.
 */

import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import {
  freePort,
  parse,
  relayTo,
  removeFolder,
  ROOT,
  startServer,
  temporaryFolder,
} from "./bench/children.ts";
import { SENDER } from "./bench/mail.ts";
import {
  type Aim,
  fixed,
  limitAim,
  ms,
  presenceAim,
  quantile,
  reportAims,
  whole,
} from "./bench/report.ts";
import { runCheck } from "./bench/run-check.ts";
import { prepareStore } from "./bench/store.ts";
import { checkAims } from "./crash/kills.ts";
import { crashOptions } from "./crash/options.ts";
import { SendResponse } from "./crash/sender.ts";

/** Each new version must pass this script before the documentation names it. */
const VERSION = "0.5.18";
const MODULE = "github.com/benbjohnson/litestream/cmd/litestream";
const CONNECTIONS = 16;
const REQUEST_LIMIT_MS = 15_000;
const SAMPLE_MS = 100;
/** Litestream copies the log once a second, and needs a moment for it. */
const MOST_LOST_MS = 5_000;
const MOST_LOG_MIB = 1_024;
const S3_ENVIRONMENT = {
  AWS_ACCESS_KEY_ID: "litestream",
  AWS_SECRET_ACCESS_KEY: "litestream",
  AWS_REGION: "us-east-1",
};

type Situation = {
  name: string;
  durability: "background" | "sqlite";
  /** Mails a second; 0 for as many as are answered. */
  rate: number;
  isBeside: boolean;
  /** Litestream is killed after a third of the time, and started again after another third. */
  isPaused?: boolean;
  isOnS3?: boolean;
};

const SITUATIONS: readonly Situation[] = [
  { name: "without Litestream, full load", durability: "sqlite", rate: 0, isBeside: false },
  { name: "beside it, full load", durability: "sqlite", rate: 0, isBeside: true },
  { name: "beside it, 300/s", durability: "sqlite", rate: 300, isBeside: true },
  {
    name: "beside it, 300/s, to S3",
    durability: "sqlite",
    rate: 300,
    isBeside: true,
    isOnS3: true,
  },
  {
    name: "killed for a third of the time, 1,000/s",
    durability: "sqlite",
    rate: 1_000,
    isBeside: true,
    isPaused: true,
  },
  {
    name: "with --durability background, 300/s",
    durability: "background",
    rate: 300,
    isBeside: true,
  },
];

type Answered = { id: string; at: number };

type Options = { seconds: number; binary: string | null; program: string; s3: string };

async function run(): Promise<boolean> {
  const defaults = { seconds: 30, litestream: "", s3: "" };
  const { seconds, binary, litestream, s3 } = crashOptions("litestream.ts", defaults);
  const program = litestream === "" ? findLitestream() : litestream;
  const aims: Aim[] = [];
  for (const situation of SITUATIONS) {
    if (situation.isOnS3 === true && s3 === "") continue;
    console.log(`${situation.name}:`);
    const found = await measure(situation, { seconds, binary, program, s3 });
    reportAims(found);
    aims.push(...found);
  }
  return aims.every(({ isMet }) => isMet);
}

function findLitestream(): string {
  const own = join(ROOT, ".bun", "tools", "litestream");
  const known = Bun.which("litestream") ?? (existsSync(own) ? own : null);
  if (known !== null) return known;
  const go = Bun.which("go");
  if (go === null) {
    throw new Error(
      `Litestream is missing, and Go, which would build it. Install Litestream ${VERSION} or Go.`,
    );
  }
  console.log(`building Litestream ${VERSION}, which takes some minutes`);
  const built = Bun.spawnSync([go, "install", `${MODULE}@v${VERSION}`], {
    env: { ...process.env, GOBIN: join(ROOT, ".bun", "tools"), GOFLAGS: "-mod=mod" },
    stdout: "inherit",
    stderr: "pipe",
  });
  if (!built.success) throw new Error(`go install failed: ${built.stderr.toString().slice(-2000)}`);
  return own;
}

async function measure(situation: Situation, options: Options): Promise<Aim[]> {
  const { seconds, binary } = options;
  const folder = temporaryFolder();
  const data = join(folder, "data");
  mkdirSync(data);
  try {
    const key = await prepareStore(data, 0);
    const replica = prepareReplica(folder, situation, options);
    // Nothing listens on this port, so the mails wait: only accepting is measured.
    const args = [...relayTo(freePort(), 0), "--durability", situation.durability];
    const server = await startServer({ binary, data, args });
    let tool = situation.isBeside ? replica.start() : null;
    const load = startLoad(`http://127.0.0.1:${server.port}`, key, situation.rate);
    const log = watchLog(join(data, "mailstead.db-wal"));
    const third = (seconds * 1_000) / 3;
    await Bun.sleep(third);
    if (situation.isPaused === true) tool?.kill("SIGKILL");
    await Bun.sleep(third);
    if (situation.isPaused === true) tool = replica.start();
    await Bun.sleep(third);
    const killedAt = performance.now();
    tool?.kill("SIGKILL");
    await server.crash();
    const { answered, latencies, refused } = await load.stop();
    await tool?.exited;
    const logMiB = log.stop();
    console.log(
      `  ${whole(answered.length / seconds)}/s answered, p99 ${ms(quantile(latencies, 0.99))}, ` +
        `max ${ms(Math.max(0, ...latencies))}, log at most ${whole(logMiB)} MiB`,
    );
    const aims = [
      presenceAim("answered", answered.length, seconds * 10),
      limitAim("refused", refused),
      limitAim("lost on the machine", missingIn(join(data, "mailstead.db"), answered).length),
      limitAim("MiB of the log", Math.ceil(logMiB), MOST_LOG_MIB),
    ];
    if (!situation.isBeside) return aims;
    const restored = join(folder, "restored");
    await replica.restore(restored);
    const lost = missingIn(join(restored, "mailstead.db"), answered);
    const oldest = Math.max(0, ...lost.map(({ at }) => killedAt - at));
    console.log(
      `  ${whole(lost.length)} are not in the replica, of the last ${fixed(oldest / 1000, 1)} s`,
    );
    return [
      ...aims,
      limitAim(
        "ms before the kill of the oldest one that is lost",
        Math.ceil(oldest),
        MOST_LOST_MS,
      ),
      ...checkAims(restored),
    ];
  } finally {
    removeFolder(folder);
  }
}

/** Writes the configuration of the recipe. */
function prepareReplica(folder: string, { isOnS3 = false }: Situation, { program, s3 }: Options) {
  const database = join(folder, "data", "mailstead.db");
  const config = join(folder, "litestream.yml");
  const target = isOnS3
    ? [
        "      type: s3",
        "      bucket: mailstead",
        `      path: ${Bun.randomUUIDv7()}`,
        `      endpoint: ${s3}`,
        "      force-path-style: true",
      ]
    : ["      type: file", `      path: ${join(folder, "replica")}`];
  const lines = [
    "dbs:",
    `  - path: ${database}`,
    "    truncate-page-n: 0",
    "    replica:",
    ...target,
    "      sync-interval: 1s",
  ];
  writeFileSync(config, `${lines.join("\n")}\n`);
  // Litestream's client of S3 fails with this variable.
  const { AWS_CA_BUNDLE: _, ...inherited } = process.env;
  const env = { ...inherited, ...(isOnS3 ? S3_ENVIRONMENT : {}) };
  const output = Bun.file(join(folder, "litestream.log"));

  return {
    start: (): Subprocess =>
      Bun.spawn([program, "replicate", "-config", config], { env, stdout: output, stderr: output }),

    async restore(to: string): Promise<void> {
      mkdirSync(to);
      const words = ["restore", "-config", config, "-o", join(to, "mailstead.db"), database];
      const child = Bun.spawn([program, ...words], { env, stdout: "pipe", stderr: "pipe" });
      const text = await new Response(child.stderr).text();
      if ((await child.exited) !== 0) throw new Error(`litestream restore failed: ${text}`);
    },
  };
}

/** Sends mails over several connections until it is stopped or the server is gone. */
function startLoad(url: string, key: string, rate: number) {
  const answered: Answered[] = [];
  const latencies: number[] = [];
  const startedAt = performance.now();
  const over = new AbortController();
  let [next, refused] = [0, 0];

  async function work(): Promise<void> {
    while (!over.signal.aborted) {
      const number = next++;
      const dueAt = startedAt + (rate === 0 ? 0 : (number * 1_000) / rate);
      if (dueAt > performance.now()) await Bun.sleep(dueAt - performance.now());
      // A mail that waits for a free connection waits as well.
      const beganAt = rate === 0 ? performance.now() : dueAt;
      const response = await fetch(`${url}/v1/send`, {
        method: "POST",
        headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
        body: JSON.stringify({
          to: `person-${number}@example.net`,
          from: SENDER,
          subject: `Mail ${number}`,
          body: "<p>Hello</p>",
        }),
        signal: AbortSignal.timeout(REQUEST_LIMIT_MS),
      })
        .then(async (received) => ({ status: received.status, text: await received.text() }))
        .catch(() => null);
      if (response === null) return; // The server was killed.
      if (response.status !== 200) {
        refused++;
        continue;
      }
      const [email] = parse(SendResponse, JSON.parse(response.text)).emails;
      const at = performance.now();
      latencies.push(at - beganAt);
      if (email !== undefined) answered.push({ id: email.email, at });
    }
  }

  const working = Array.from({ length: CONNECTIONS }, work);
  return {
    async stop() {
      over.abort();
      await Promise.all(working);
      return { answered, latencies, refused };
    },
  };
}

function watchLog(file: string) {
  let most = 0;
  const timer = setInterval(() => {
    most = Math.max(most, statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  }, SAMPLE_MS);
  return {
    stop(): number {
      clearInterval(timer);
      return most / 2 ** 20;
    },
  };
}

/** The answered mails that have no record in the database. */
function missingIn(file: string, answered: readonly Answered[]): Answered[] {
  const sqlite = new Database(file, { readonly: true });
  try {
    const find = sqlite.query<{ id: string }, []>("SELECT id FROM emails");
    const stored = new Set(find.all().map(({ id }) => id));
    return answered.filter(({ id }) => !stored.has(id));
  } finally {
    sqlite.close();
  }
}

await runCheck(run, 30 * 60_000);
