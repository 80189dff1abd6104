/**
 * Runs a server for some time under ordinary and hostile requests together, and monitors it.
 *
 * `bun scripts/soak.ts [--minutes 15] [--binary[=PATH]]`
 *
 * Mail is relayed to an SMTP server on this machine. The exit code is 1 if the server logged an
 * error, if its memory grew by more than a tenth from the second to the last third of the time, if
 * `/readyz` did not answer 200, or if a request was answered with 5xx or failed.
 */

import { readFileSync } from "node:fs";
import { Type } from "@sinclair/typebox";
import { findProject } from "../src/modules/projects.ts";
import {
  Listening,
  logFileOf,
  relayTo,
  removeFolder,
  residentMiB,
  startHelper,
  startServer,
  temporaryFolder,
} from "./bench/children.ts";
import { runCheck } from "./bench/run-check.ts";
import { reportAims, median, printValue, whole } from "./bench/report.ts";
import { openReader, openStore, prepareStore } from "./bench/store.ts";
import { crashOptions } from "./crash/options.ts";
import { runLoad } from "./soak/load.ts";
import { createKey } from "../src/modules/keys.ts";

const SAMPLE_MS = 5_000;
const MAX_GROWTH = 1.1;

type Sample = { rssMiB: number; readyStatus: number; livezMs: number };

async function createPublicKey(data: string): Promise<string> {
  const { app, close } = openStore(data, { isSigned: false });
  const project = findProject(app.app, "bench");
  if (project === null) throw new Error("the store has no project");
  const { text } = await app.writer.write(() =>
    createKey(app.app, project.seq, { kind: "PUBLIC", name: "soak", expiresAt: null }),
  );
  await close();
  return text;
}

async function sample(port: number, pid: number): Promise<Sample> {
  const startedAt = performance.now();
  await fetch(`http://127.0.0.1:${port}/livez`);
  const livezMs = performance.now() - startedAt;
  const ready = await fetch(`http://127.0.0.1:${port}/readyz`);
  await ready.arrayBuffer();
  return { rssMiB: residentMiB(pid), readyStatus: ready.status, livezMs };
}

function errorLines(data: string): string[] {
  return readFileSync(logFileOf(data), "utf8")
    .split("\n")
    .filter((line) => line.includes('"level":"error"'));
}

async function run(): Promise<boolean> {
  const { minutes, binary } = crashOptions("soak.ts", { minutes: 15 });
  const data = temporaryFolder();
  const secretKey = await prepareStore(data, 0);
  const publicKey = await createPublicKey(data);
  const sink = startHelper("sink.ts", { withTimes: false });
  const { port: sinkPort } = await sink.next(Listening);
  const server = await startServer({ binary, data, args: relayTo(sinkPort, 200) });
  const endsAt = performance.now() + minutes * 60_000;
  const isOver = () => performance.now() >= endsAt;
  const samples: Sample[] = [];
  const sampling = (async () => {
    while (!isOver()) {
      samples.push(await sample(server.port, server.pid));
      await Bun.sleep(SAMPLE_MS);
    }
  })();
  const counts = await runLoad({ port: server.port, secretKey, publicKey }, isOver);
  await sampling;
  const exitCode = await server.stop();
  sink.finish();
  await sink.next(Type.Object({ count: Type.Number() }));
  for (const [name, count] of [...counts].sort(([a], [b]) => a.localeCompare(b)))
    printValue(name, whole(count));
  const errors = errorLines(data);
  for (const line of errors.slice(0, 5)) console.log(line.slice(0, 500));
  const reader = openReader(data);
  const sent = reader.count("emails WHERE status = 'SENT'");
  reader.close();
  removeFolder(data);
  return reportResults({ samples, errors, counts, exitCode, sent });
}

function reportResults(found: {
  samples: readonly Sample[];
  errors: readonly string[];
  counts: ReadonlyMap<string, number>;
  exitCode: number;
  sent: number;
}): boolean {
  const { samples, errors, counts, exitCode, sent } = found;
  const third = Math.floor(samples.length / 3);
  const middle = median(samples.slice(third, 2 * third).map(({ rssMiB }) => rssMiB));
  const last = median(samples.slice(2 * third).map(({ rssMiB }) => rssMiB));
  const serverErrors = [...counts.keys()].filter((key) => /: (5\d\d|failed)/.test(key));
  const unready = samples.filter(({ readyStatus }) => readyStatus !== 200).length;
  const slowest = Math.max(...samples.map(({ livezMs }) => livezMs));
  printValue("slowest /livez", `${whole(slowest)} ms`);
  printValue("mails sent", whole(sent));
  return reportAims([
    {
      name: "memory, middle and last third",
      isMet: last <= middle * MAX_GROWTH,
      measured: `${whole(middle)} MiB, ${whole(last)} MiB`,
      wanted: "at most 10 % more",
    },
    {
      name: "errors in the log",
      isMet: errors.length === 0,
      measured: whole(errors.length),
      wanted: "0",
    },
    {
      name: "responses with 5xx, failures",
      isMet: serverErrors.length === 0,
      measured: serverErrors.join("; ") || "none",
      wanted: "none",
    },
    { name: "samples not ready", isMet: unready === 0, measured: whole(unready), wanted: "0" },
    { name: "exit code", isMet: exitCode === 0, measured: String(exitCode), wanted: "0" },
  ]);
}

await runCheck(run, 60 * 60_000);
