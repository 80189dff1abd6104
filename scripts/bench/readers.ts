/**
 * Measures reads of many rows, four at a time, and meanwhile the acceptance of mails, the pages of
 * another project, the size of the write-ahead log, and how long the event loop of the server is
 * blocked.
 */

import { statSync } from "node:fs";
import { join } from "node:path";
import { addSender, prepareStore } from "./store.ts";
import { type Call, createCall } from "./call.ts";
import { removeFolder } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { BODY, SUBJECT } from "./mail.ts";
import { latencies, type Probe, startProbes } from "./probes.ts";
import { type Aim, msAim, printLatencies, reportAims } from "./report.ts";
import { seededFolder, type SeedOptions } from "./seeded.ts";

const TASK_MS = 10_000;
const AT_ONCE = 4;
const PAUSE_MS = 5;
const MAX_SEND_MS = 100;
const MAX_PAGE_MS = 300;
const MAILS_OF_OTHER = 1_000;
const SAMPLE_MS = 100;
const MEBIBYTE = 2 ** 20;
const MAX_LOG_BYTES = 256 * MEBIBYTE;

const JSON_BODY = { "content-type": "application/json" };
const CONDITION = {
  logic: "AND",
  groups: [
    {
      filters: [
        { field: "subscribed", operator: "equals", value: true },
        { field: "data.plan", operator: "notEquals", value: "pro" },
      ],
    },
  ],
};

/** The sender domain of the project that is read; the other project has that of the benchmarks. */
const DOMAIN = "readers.test";

/** A page that a reader thread finds. */
const PAGE_OF_OTHER = "/contacts?search=person-1&limit=50";

type Task = { name: string; read: (call: Call) => Promise<Response> };

const get = (name: string, path: string): Task => ({ name, read: (call) => call(path) });

const TASKS: readonly Task[] = [
  get("page", "/contacts?limit=50"),
  get("search", "/contacts?search=example&limit=50"),
  get("search by data", `/contacts?data=${encodeURIComponent('{"plan":"pro"}')}&limit=50`),
  get("events of a period", "/events?from=2020-01-01T00:00:00Z&limit=50"),
  get("names of events", "/events/names?limit=50"),
  {
    name: "segment count",
    read: (call) => {
      const body = JSON.stringify({ condition: CONDITION });
      return call("/segments/preview", { method: "POST", headers: JSON_BODY, body });
    },
  },
  get("keys of contacts", "/contacts/fields?counted=NEWEST"),
  get("export", "/contacts/export?format=ndjson"),
];

export async function benchReaders(
  options: SeedOptions & { binary: string | null },
): Promise<boolean> {
  console.log("readers: reads of many rows beside the acceptance of mails");
  const { data, key } = await seededFolder(options);
  await addSender(data, DOMAIN);
  const keyOfOther = await prepareStore(data, MAILS_OF_OTHER);
  const args = ["--transport", "capture", "--api-rate", "0"];
  const server = await startProbedServer({ binary: options.binary, data, args });
  const calls = { call: createCall(server, key), callOfOther: createCall(server, keyOfOther) };
  const aims: Aim[] = [];
  for (const task of [{ name: "nothing", read: null }, ...TASKS]) {
    const largestLog = sampleLog(data);
    aims.push(...(await measure(calls, task)));
    aims.push(logAim(task.name, largestLog()), ...(await server.reportLoop(task.name)));
  }
  await server.stop();
  removeFolder(data);
  return reportAims(aims);
}

async function measure(
  { call, callOfOther }: { call: Call; callOfOther: Call },
  { name, read }: { name: string; read: Task["read"] | null },
) {
  const probes = [
    sender(call, `sends during ${name}`),
    { name: `pages of another project during ${name}`, send: () => callOfOther(PAGE_OF_OTHER) },
  ];
  const probing = startProbes(probes, PAUSE_MS);
  const endsAt = performance.now() + TASK_MS;
  const times: number[] = [];

  async function repeat(reading: Task["read"]): Promise<void> {
    while (performance.now() < endsAt) {
      const startedAt = performance.now();
      const response = await reading(call);
      await response.arrayBuffer();
      if (!response.ok) throw new Error(`${name}: ${response.status}`);
      times.push(performance.now() - startedAt);
    }
  }

  if (read === null) await Bun.sleep(TASK_MS);
  else await Promise.all(Array.from({ length: AT_ONCE }, () => repeat(read)));
  if (read !== null) printLatencies(latencies(name, times));
  const [sends, pages] = await probing.stop();
  if (sends === undefined || pages === undefined) return [];
  printLatencies(sends);
  printLatencies(pages);
  return [
    msAim(`${sends.name}, p99`, sends.p99, MAX_SEND_MS),
    msAim(`${pages.name}, p99`, pages.p99, MAX_PAGE_MS),
  ];
}

/** Samples the size of the write-ahead log; the result stops that and returns the largest, in bytes. */
function sampleLog(data: string): () => number {
  const file = join(data, "mailstead.db-wal");
  let largest = 0;
  const sample = () => {
    largest = Math.max(largest, statSync(file, { throwIfNoEntry: false })?.size ?? 0);
  };
  const timer = setInterval(sample, SAMPLE_MS);
  return () => {
    clearInterval(timer);
    sample();
    return largest;
  };
}

function logAim(during: string, bytes: number): Aim {
  const measured = `${Math.ceil(bytes / MEBIBYTE)} MiB`;
  const wanted = `< ${MAX_LOG_BYTES / MEBIBYTE} MiB`;
  return {
    name: `largest log during ${during}`,
    isMet: bytes < MAX_LOG_BYTES,
    measured,
    wanted,
  };
}

function sender(call: Call, name: string): Probe {
  const send = (number: number) => {
    const to = `person-${number}@example.net`;
    const content = {
      from: `news@${DOMAIN}`,
      subject: SUBJECT,
      body: BODY,
      data: { name: "Ada", order: "1" },
    };
    const body = JSON.stringify({ to, ...content });
    return call("/v1/send", { method: "POST", headers: JSON_BODY, body });
  };
  return { name, send };
}
