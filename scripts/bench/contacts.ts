/**
 * Measures pages, search, fields and export of a million contacts, and how long they block the event
 * loop of the server.
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { createCall, type Call } from "./call.ts";
import { parse, removeFolder, residentMiB } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { type Latencies, latencies } from "./probes.ts";
import {
  type Aim,
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
const TERMS = ["ada.1", "zzzzqq", "gmail", "@example.com", ".com", "a", "7x"];
const SEARCHES_PER_TERM = 200;
/** A search compares every address of the project: 0.1 to 0.2 µs each. */
const MAX_SEARCH_MS = 300;
const BASELINE_RUNS = 20;

const Page = Type.Object({
  contacts: Type.Array(Type.Object({ email: Type.String() })),
  cursor: Type.Union([Type.String(), Type.Null()]),
  total: Type.Integer(),
});

export async function benchContacts(
  options: SeedOptions & { binary: string | null },
): Promise<boolean> {
  console.log("contacts: pages, search, fields and export at full size");
  const { data, key, sizes } = await seededFolder(options);
  const server = await startProbedServer({ binary: options.binary, data, args: ARGUMENTS });
  const call = createCall(server, key);
  const aims = [
    ...(await benchSearch(call, data)),
    ...(await server.reportLoop("searching")),
    ...(await benchPages(call, data)),
    ...(await server.reportLoop("paging")),
  ];
  await measureReports(call, data, sizes.contacts);
  aims.push(
    ...(await server.reportLoop("fields and exports")),
    memoryAim("memory after all of this", residentMiB(server.pid)),
  );
  await server.stop();
  removeFolder(data);
  return reportAims(aims);
}

async function pageAt(call: Call, query: string) {
  const response = await call(`/contacts?${query}`);
  if (!response.ok) throw new Error(await response.text());
  return parse(Page, await response.json());
}

async function benchPages(call: Call, data: string): Promise<Aim[]> {
  const aims: Aim[] = [];
  for (const filter of ["", "&subscribed=true", "&subscribed=false"]) {
    const times: number[] = [];
    let cursor: string | null = null;
    do {
      const startedAt = performance.now();
      const at: string = cursor === null ? "" : `&cursor=${cursor}`;
      const page = await pageAt(call, `limit=100${filter}${at}`);
      times.push(performance.now() - startedAt);
      ({ cursor } = page);
    } while (cursor !== null);
    const name = `page${filter.replace("&", ", ")}`;
    const measured = latencies(name, times);
    printLatencies(measured);
    aims.push(msAim(`${name}, p99`, measured.p99, 10));
  }
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const page = sqlite.prepare(
    "SELECT * FROM contacts WHERE project_seq = 1 AND seq < ? ORDER BY seq DESC LIMIT 101",
  );
  const total = sqlite.prepare("SELECT count(*) FROM contacts WHERE project_seq = 1");
  printLatencies(measureRuns("baseline, bare SQL, rows only", (i) => page.values(1000 * (i + 1))));
  printLatencies(measureRuns("baseline, bare SQL, count(*)", () => total.values()));
  sqlite.close();
  return aims;
}

async function benchSearch(call: Call, data: string): Promise<Aim[]> {
  const first = performance.now();
  await pageAt(call, "search=first");
  printValue("search, right after the start", ms(performance.now() - first));
  const aims: Aim[] = [];
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const bare = sqlite.prepare("SELECT count(*) FROM contacts WHERE instr(email, ?) > 0");
  for (const term of TERMS) {
    const times: number[] = [];
    let total = 0;
    for (let i = 0; i < SEARCHES_PER_TERM; i++) {
      const startedAt = performance.now();
      ({ total } = await pageAt(call, `search=${encodeURIComponent(term)}`));
      times.push(performance.now() - startedAt);
    }
    const measured = latencies(`search "${term}", ${whole(total)} found`, times);
    printLatencies(measured);
    const expected = Number(bare.values(term)[0]?.[0]);
    if (expected !== total) throw new Error(`${term}: found ${total} of ${expected} contacts`);
    aims.push(msAim(measured.name, measured.p99, MAX_SEARCH_MS));
  }
  printLatencies(measureRuns("baseline, bare SQL, instr and count(*)", () => bare.values("gmail")));
  sqlite.close();
  return aims;
}

async function measureReports(call: Call, data: string, contacts: number): Promise<void> {
  for (const name of ["fields, first", "fields, again"]) {
    const startedAt = performance.now();
    await (await call("/contacts/fields")).arrayBuffer();
    printValue(name, ms(performance.now() - startedAt));
  }
  for (const format of ["csv", "ndjson"]) {
    const startedAt = performance.now();
    const bytes = await readBytes(await call(`/contacts/export?format=${format}`));
    const seconds = (performance.now() - startedAt) / 1000;
    printValue(
      `export, ${format}`,
      `${whole(contacts / seconds)} rows/s, ${whole(bytes / 2 ** 20)} MiB`,
    );
  }
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const startedAt = performance.now();
  let length = 0;
  const all = sqlite.query<{ data: string }, []>("SELECT data FROM contacts");
  for (const { data: text } of all.iterate()) length += JSON.stringify(JSON.parse(text)).length;
  printValue(
    "baseline, read, parse and write data",
    `${ms(performance.now() - startedAt)}, ${length}`,
  );
  sqlite.close();
}

async function readBytes(response: Response): Promise<number> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
  return bytes;
}

function measureRuns(name: string, work: (i: number) => unknown): Latencies {
  const times = Array.from({ length: BASELINE_RUNS }, (_, i) => {
    const startedAt = performance.now();
    work(i);
    return performance.now() - startedAt;
  });
  return latencies(name, times);
}
