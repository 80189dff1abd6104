/**
 * Measures reads of many rows, four at a time, and meanwhile the acceptance of mails and how long the
 * event loop of the server is blocked.
 */

import { addSender } from "./store.ts";
import { type Call, createCall } from "./call.ts";
import { removeFolder } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { BODY, SENDER, SENDER_DOMAIN, SUBJECT } from "./mail.ts";
import { latencies, type Probe, startProbes } from "./probes.ts";
import { type Aim, msAim, printLatencies, reportAims } from "./report.ts";
import { seededFolder, type SeedOptions } from "./seeded.ts";

const TASK_MS = 10_000;
const AT_ONCE = 4;
const PAUSE_MS = 5;
const MAX_SEND_MS = 100;

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
  await addSender(data, SENDER_DOMAIN);
  const args = ["--transport", "capture", "--api-rate", "0"];
  const server = await startProbedServer({ binary: options.binary, data, args });
  const call = createCall(server, key);
  const aims: Aim[] = [];
  for (const task of [{ name: "nothing", read: null }, ...TASKS]) {
    aims.push(...(await measure(call, task)));
    aims.push(...(await server.reportLoop(task.name)));
  }
  await server.stop();
  removeFolder(data);
  return reportAims(aims);
}

async function measure(call: Call, { name, read }: { name: string; read: Task["read"] | null }) {
  const sending = startProbes([sender(call, `sends during ${name}`)], PAUSE_MS);
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
  const [sends] = await sending.stop();
  if (sends === undefined) return [];
  printLatencies(sends);
  return [msAim(`${sends.name}, p99`, sends.p99, MAX_SEND_MS)];
}

function sender(call: Call, name: string): Probe {
  const send = (number: number) => {
    const to = `person-${number}@example.net`;
    const content = {
      from: SENDER,
      subject: SUBJECT,
      body: BODY,
      data: { name: "Ada", order: "1" },
    };
    const body = JSON.stringify({ to, ...content });
    return call("/v1/send", { method: "POST", headers: JSON_BODY, body });
  };
  return { name, send };
}
