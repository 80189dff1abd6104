/**
 * Contacts at a million: pages, search, fields, export; then an import of a million rows while the
 * API goes on answering. `/livez` does nothing, so its slowest answer is the longest that the event
 * loop was held.
 *
 * `bun scripts/bench/contacts.ts [--quick]`
 */

import { Database } from "bun:sqlite";
import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { seed } from "../seed.ts";
import {
  parse,
  removeFolder,
  residentMiB,
  type Server,
  startServer,
  temporaryFolder,
} from "./children.ts";
import { fileRows, writeFile } from "./contacts-file.ts";
import { type Latencies, latencies, startProbes } from "./probes.ts";
import { type Aim, fixed, judge, say, whole } from "./report.ts";
import { prepareStore } from "./store.ts";

type Options = { binary: string | null; isQuick: boolean };
type Post = { method: "POST"; headers?: Record<string, string>; body: FormData | string };
type Ask = (path: string, post?: Post) => Promise<Response>;

const ARGUMENTS = ["--transport", "capture", "--api-rate", "0"];
const POLL_MS = 100;
const PROBE_PAUSE_MS = 5;
/** Rows of one transaction of the baseline: about as many as one change of an import has. */
const BASELINE_BATCH = 300;
const TERMS = ["ada.1", "zzzzqq", "gmail", "@example.com", ".com", "a", "7x"];
const SEARCHES = 200;
const BASELINES = 20;

const Page = Type.Object({
  contacts: Type.Array(Type.Object({ email: Type.String() })),
  cursor: Type.Union([Type.String(), Type.Null()]),
  total: Type.Integer(),
});
const Started = Type.Object({ data: Type.Object({ jobId: Type.String() }) });
const Progress = Type.Object({
  data: Type.Object({
    status: Type.String(),
    processed: Type.Integer(),
    created: Type.Integer(),
    failed: Type.Integer(),
  }),
});

export async function benchContacts(options: Options): Promise<boolean> {
  const contacts = options.isQuick ? 100_000 : 1_000_000;
  const events = options.isQuick ? 100_000 : 10_000_000;
  console.log(`contacts: ${whole(contacts)} contacts, ${whole(events)} events`);
  const data = temporaryFolder();
  const key = await seed(data, { contacts, events, segments: 500 });
  const server = await startServer({ binary: options.binary, data, args: ARGUMENTS });
  const ask = asker(server, key);
  const aims = [
    ...(await benchSearch(ask, data)),
    ...(await benchPages(ask, data)),
    ...(await benchReports(ask, data, contacts)),
    memoryAim("memory after all of this", residentMiB(server.pid)),
  ];
  await server.stop();
  removeFolder(data);
  aims.push(...(await benchImport(options, contacts)));
  return judge(aims);
}

function asker(server: Server, key: string): Ask {
  const authorization = `Bearer ${key}`;
  return (path, post) =>
    fetch(`http://127.0.0.1:${server.port}${path}`, {
      ...post,
      headers: { authorization, ...post?.headers },
    });
}

async function pageAt(ask: Ask, query: string) {
  const response = await ask(`/contacts?${query}`);
  if (!response.ok) throw new Error(await response.text());
  return parse(Page, await response.json());
}

async function benchPages(ask: Ask, data: string): Promise<Aim[]> {
  const aims: Aim[] = [];
  for (const filter of ["", "&subscribed=true", "&subscribed=false"]) {
    const times: number[] = [];
    let cursor: string | null = null;
    do {
      const startedAt = performance.now();
      const at: string = cursor === null ? "" : `&cursor=${cursor}`;
      const page = await pageAt(ask, `limit=100${filter}${at}`);
      times.push(performance.now() - startedAt);
      ({ cursor } = page);
    } while (cursor !== null);
    const name = `page${filter.replace("&", ", ")}`;
    const measured = latencies(name, times);
    tell(measured);
    aims.push(aim(`${name}, p99`, measured.p99, 10));
  }
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const page = sqlite.prepare(
    "SELECT * FROM contacts WHERE project_seq = 1 AND seq < ? ORDER BY seq DESC LIMIT 101",
  );
  const total = sqlite.prepare("SELECT count(*) FROM contacts WHERE project_seq = 1");
  tell(timed("baseline, bare SQL, rows only", (i) => page.values(1000 * (i + 1))));
  tell(timed("baseline, bare SQL, count(*)", () => total.values()));
  sqlite.close();
  return aims;
}

async function benchSearch(ask: Ask, data: string): Promise<Aim[]> {
  const first = performance.now();
  await pageAt(ask, "search=first");
  say("search, right after the start", ms(performance.now() - first));
  const aims: Aim[] = [];
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const bare = sqlite.prepare("SELECT count(*) FROM contacts WHERE instr(email, ?) > 0");
  for (const term of TERMS) {
    const times: number[] = [];
    let total = 0;
    for (let i = 0; i < SEARCHES; i++) {
      const startedAt = performance.now();
      ({ total } = await pageAt(ask, `search=${encodeURIComponent(term)}`));
      times.push(performance.now() - startedAt);
    }
    const measured = latencies(`search "${term}", ${whole(total)} found`, times);
    tell(measured);
    const counted = Number(bare.values(term)[0]?.[0]);
    if (counted !== total) throw new Error(`${term}: ${total} found, ${counted} there`);
    aims.push(aim(measured.name, measured.p99, 50));
  }
  tell(timed("baseline, bare SQL, instr and count(*)", () => bare.values("gmail")));
  sqlite.close();
  return aims;
}

async function benchReports(ask: Ask, data: string, contacts: number): Promise<Aim[]> {
  const probing = startProbes([livez(ask)], PROBE_PAUSE_MS);
  for (const name of ["fields, first", "fields, again"]) {
    const startedAt = performance.now();
    await (await ask("/contacts/fields")).arrayBuffer();
    say(name, ms(performance.now() - startedAt));
  }
  for (const format of ["csv", "ndjson"]) {
    const startedAt = performance.now();
    const bytes = await drained(await ask(`/contacts/export?format=${format}`));
    const seconds = (performance.now() - startedAt) / 1000;
    say(`export, ${format}`, `${whole(contacts / seconds)} rows/s, ${whole(bytes / 2 ** 20)} MiB`);
  }
  const [loop] = await probing.stop();
  const sqlite = new Database(join(data, "mailstead.db"), { readonly: true });
  const startedAt = performance.now();
  let length = 0;
  const all = sqlite.query<{ data: string }, []>("SELECT data FROM contacts");
  for (const { data: text } of all.iterate()) length += JSON.stringify(JSON.parse(text)).length;
  say("baseline, read, parse and write data", `${ms(performance.now() - startedAt)}, ${length}`);
  sqlite.close();
  if (loop === undefined) throw new Error("no probe");
  tell(loop);
  return [aim("event loop held by fields and exports, at most", loop.max, 50)];
}

async function drained(response: Response): Promise<number> {
  let bytes = 0;
  for await (const chunk of response.body ?? []) bytes += chunk.byteLength;
  return bytes;
}

async function benchImport({ binary }: Options, rows: number): Promise<Aim[]> {
  console.log(`import: ${whole(rows)} rows, the API in use meanwhile`);
  const baseline = bareInserts(rows);
  say("baseline, the same rows, bare INSERT", `${fixed(baseline, 1)} s`);
  const data = temporaryFolder();
  const file = join(data, "contacts.csv");
  const sizeBytes = await writeFile(file, rows);
  const key = await prepareStore(data, 0);
  const server = await startServer({ binary, data, args: ARGUMENTS });
  const ask = asker(server, key);
  const form = new FormData();
  form.set("file", Bun.file(file));
  const sentAt = performance.now();
  const started = parse(
    Started,
    await (await ask("/contacts/import", { method: "POST", body: form })).json(),
  );
  const startedAt = performance.now();
  say("upload", `${whole(sizeBytes / 2 ** 20)} MiB in ${ms(startedAt - sentAt)}`);
  const probing = startProbes([livez(ask), list(ask), track(ask)], PROBE_PAUSE_MS);
  let memory = 0;
  let progress = { status: "QUEUED", created: 0, failed: 0 };
  while (progress.status === "QUEUED" || progress.status === "RUNNING") {
    await Bun.sleep(POLL_MS);
    memory = Math.max(memory, residentMiB(server.pid));
    const response = await ask(`/contacts/import/${started.data.jobId}`);
    progress = parse(Progress, await response.json()).data;
  }
  const seconds = (performance.now() - startedAt) / 1000;
  const measured = await probing.stop();
  await server.stop();
  removeFolder(data);
  if (progress.created !== rows)
    throw new Error(`not all were created: ${JSON.stringify(progress)}`);
  say("imported", `${whole(rows / seconds)} rows/s`);
  measured.forEach(tell);
  const loop = measured[0]?.max ?? Infinity;
  return [
    {
      name: `import of ${whole(rows)} rows`,
      isMet: seconds < 60,
      measured: `${fixed(seconds, 1)} s, ${fixed(seconds / baseline, 1)} × bare`,
      wanted: "< 60 s",
    },
    ...measured.map(({ name, p99 }) => aim(`${name} meanwhile, p99`, p99, 50)),
    aim("event loop held by the import, at most", loop, 50),
    memoryAim("memory during the import", memory),
  ];
}

const livez = (ask: Ask) => ({ name: "GET /livez", send: () => ask("/livez") });
const list = (ask: Ask) => ({ name: "GET /contacts", send: () => ask("/contacts?limit=20") });
const track = (ask: Ask) => ({
  name: "POST /v1/track",
  send: (number: number) =>
    ask("/v1/track", {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ event: "probe", email: `probe-${number % 100}@example.net` }),
    }),
});

/** Seconds for the rows in the order of the file into the table with its indexes, nothing else. */
function bareInserts(rows: number): number {
  const folder = temporaryFolder();
  const sqlite = new Database(join(folder, "bare.db"));
  sqlite.run("PRAGMA journal_mode = WAL");
  sqlite.run("PRAGMA synchronous = FULL");
  sqlite.run(`CREATE TABLE contacts (seq INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT NOT NULL,
    project_seq INTEGER NOT NULL, email TEXT NOT NULL, is_subscribed INTEGER NOT NULL,
    data TEXT NOT NULL, created_at INTEGER NOT NULL, updated_at INTEGER NOT NULL)`);
  for (const columns of [
    "id",
    "project_seq, email",
    "project_seq, seq",
    "project_seq, is_subscribed, seq",
    "project_seq, updated_at",
  ]) {
    const name = columns.replaceAll(", ", "_");
    sqlite.run(`CREATE INDEX by_${name} ON contacts (${columns})`);
  }
  const insert = sqlite.prepare("INSERT INTO contacts VALUES (NULL, ?, 1, ?, ?, ?, ?, ?)");
  const startedAt = performance.now();
  let batch: { email: string; subscribed: boolean; data: unknown }[] = [];
  const write = sqlite.transaction(() => {
    for (const { email, subscribed, data } of batch) {
      const now = Date.now();
      insert.run(Bun.randomUUIDv7(), email, subscribed, JSON.stringify(data), now, now);
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
  removeFolder(folder);
  return seconds;
}

function timed(name: string, work: (i: number) => unknown): Latencies {
  const times = Array.from({ length: BASELINES }, (_, i) => {
    const startedAt = performance.now();
    work(i);
    return performance.now() - startedAt;
  });
  return latencies(name, times);
}

function tell({ name, p50, p99, max }: Latencies): void {
  say(name, `p50 ${ms(p50)}, p99 ${ms(p99)}, max ${ms(max)}`);
}

function aim(name: string, measured: number, below: number): Aim {
  return { name, isMet: measured < below, measured: ms(measured), wanted: `< ${below} ms` };
}

function memoryAim(name: string, mib: number): Aim {
  return { name, isMet: mib < 350, measured: `${whole(mib)} MiB`, wanted: "< 350 MiB" };
}

function ms(value: number): string {
  return `${fixed(value, value < 10 ? 1 : 0)} ms`;
}

if (import.meta.main) {
  const isMet = await benchContacts({ binary: null, isQuick: Bun.argv.includes("--quick") });
  process.exit(isMet ? 0 : 1);
}
