/**
 * Measures how fast the executable starts, and how much memory it uses while idle. The baseline is
 * Bun itself: an empty server with an SQLite database, compiled for this run (empty-server.ts).
 */

import { existsSync } from "node:fs";
import { join } from "node:path";
import {
  anonymousMiB,
  logFileOf,
  removeFolder,
  residentMiB,
  ROOT,
  type Server,
  startProgram,
  startServer,
  temporaryFolder,
  twoFreePorts,
} from "./children.ts";
import { median, ms, msAim, printValue, quantile, reportAims, whole } from "./report.ts";
import { prepareStore } from "./store.ts";

/** Time after which the memory of an idle server is read. */
const IDLE_MS = 10_000;

type Program = { name: string; start: () => Promise<Server>; durations: number[] };

export async function benchStart({ binary, isQuick }: { binary: string; isQuick: boolean }) {
  const runs = isQuick ? 3 : 10;
  console.log(`start: ${binary}, ${runs} runs until /readyz answers 200`);
  if (!existsSync(binary)) {
    throw new Error(`${binary} does not exist; build it with: bun scripts/build.ts`);
  }
  const empty = temporaryFolder();
  const data = temporaryFolder();
  await prepareStore(data, 0);
  const emptyServer = buildEmptyServer(empty);
  const baseline = program("baseline, an empty server of Bun", () =>
    startServer({ binary: emptyServer, data: empty, args: [] }),
  );
  const server = program("mailstead serve", () => startServer({ binary, data, args: [] }));
  const dev = program("mailstead dev, the first start", () => startDev(binary));
  const programs = [baseline, server, dev];
  // The programs take turns, so that other work on the machine changes all figures alike.
  for (let i = 0; i < runs; i++) for (const each of programs) await measureStart(each);
  for (const { name, durations } of programs) {
    const shown = [0, 0.5, 1].map((q) => ms(quantile(durations, q))).join(" / ");
    printValue(`${name}, min / median / max`, shown);
  }
  const idle = await printIdleMemory([baseline, server]);
  for (const folder of [empty, data]) removeFolder(folder);

  return reportAims([
    msAim("start", median(server.durations), 100),
    msAim("first start of mailstead dev", median(dev.durations), 300),
    {
      name: "idle memory",
      isMet: idle <= 64,
      measured: `${whole(idle)} MiB`,
      wanted: "at most 64 MiB",
    },
  ]);
}

function program(name: string, start: () => Promise<Server>): Program {
  return { name, start, durations: [] };
}

/** Compiles the empty server with the flags of scripts/build.ts that concern memory and speed. */
function buildEmptyServer(folder: string): string {
  const outfile = join(folder, "empty-server");
  const flags = ["--compile", "--production", "--bytecode", "--format=esm", `--outfile=${outfile}`];
  const source = join(import.meta.dir, "empty-server.ts");
  const built = Bun.spawnSync([process.execPath, "build", ...flags, source], { cwd: ROOT });
  if (!built.success) throw new Error(`${source} was not compiled: ${built.stderr.toString()}`);
  return outfile;
}

/** Starts `mailstead dev` in a new data folder, so that it also creates the database and the keys. */
async function startDev(binary: string): Promise<Server> {
  const data = temporaryFolder();
  const [port, smtpPort] = twoFreePorts();
  const ports = ["--port", String(port), "--capture-smtp", `127.0.0.1:${smtpPort}`];
  const command = [binary, "dev", "--data", data, ...ports];
  const server = await startProgram({ command, logFile: logFileOf(data), port });
  return {
    ...server,
    async stop() {
      const code = await server.stop();
      removeFolder(data);
      return code;
    },
  };
}

async function measureStart({ start, durations }: Program): Promise<void> {
  const startedAt = performance.now();
  const server = await start();
  durations.push(performance.now() - startedAt);
  await server.stop();
}

/** Prints the memory of the programs while they are idle; returns that of the last one, in MiB. */
async function printIdleMemory(programs: readonly Program[]): Promise<number> {
  const servers = await Promise.all(programs.map(({ start }) => start()));
  await Bun.sleep(IDLE_MS);
  let resident = Number.NaN;
  for (const [i, { pid }] of servers.entries()) {
    resident = residentMiB(pid);
    const anonymous = whole(anonymousMiB(pid));
    const text = `${whole(resident)} MiB, of which ${anonymous} are not pages of files`;
    printValue(`${programs[i]?.name}, idle memory`, text);
  }
  await Promise.all(servers.map((server) => server.stop()));
  return resident;
}
