/**
 * Measures the filters of the list of mails, and how long they block the event loop of the server.
 * Half of the mails belong to another project, between those of the measured one.
 */

import { join } from "node:path";
import { Type } from "@sinclair/typebox";
import { openDatabase } from "../../src/db/open.ts";
import { seed } from "../seed.ts";
import { type Call, createCall } from "./call.ts";
import { parse, removeFolder, temporaryFolder } from "./children.ts";
import { startProbedServer } from "./loop.ts";
import { latencies } from "./probes.ts";
import { type Aim, msAim, printLatencies, reportAims, whole } from "./report.ts";

const MAILS = 200_000;
const QUICK_MAILS = 50_000;
const SUBJECTS = 1_000;
const PAGES = 20;
/** A search stops after two seconds. */
const MAX_PAGE_MS = 2_500;
const QUERIES = [
  "",
  "status=BOUNCED",
  "to=p104@d7.test",
  "to=@d7.test",
  "from=@acme.test",
  "subject=order 17",
  "subject=nowhere",
  "source=TEST",
  "since=2026-01-02T00:00:00Z",
  "subject=order&status=BOUNCED&to=@d7.test",
];

const Page = Type.Object({
  data: Type.Object({
    items: Type.Array(Type.Object({ id: Type.String() })),
    nextCursor: Type.Union([Type.String(), Type.Null()]),
    total: Type.Union([Type.Integer(), Type.Null()]),
  }),
});

export async function benchEmails(options: {
  binary: string | null;
  isQuick: boolean;
  mails: number;
}): Promise<boolean> {
  const mails = options.mails === 0 ? (options.isQuick ? QUICK_MAILS : MAILS) : options.mails;
  console.log(`emails: filters of the list, with ${whole(mails)} mails`);
  const data = temporaryFolder();
  const key = await seed(data, { contacts: 1_000, events: 0, segments: 0 });
  addMails(data, mails);
  const args = ["--transport", "capture", "--api-rate", "0"];
  const server = await startProbedServer({ binary: options.binary, data, args });
  const call = createCall(server, key);
  const aims: Aim[] = [];
  for (const query of QUERIES) aims.push(await measure(call, query));
  aims.push(...(await server.reportLoop("searching mails")));
  await server.stop();
  removeFolder(data);
  return reportAims(aims);
}

/** Reads the first pages of a filter. */
async function measure(call: Call, query: string): Promise<Aim> {
  const times: number[] = [];
  let cursor: string | null = null;
  let found = 0;
  let total: number | null = null;
  do {
    const startedAt = performance.now();
    const at: string = cursor === null ? "" : `&cursor=${cursor}`;
    const response = await call(`/emails?${encodeURI(query)}${at}`);
    if (!response.ok) throw new Error(await response.text());
    const page = parse(Page, await response.json()).data;
    times.push(performance.now() - startedAt);
    found += page.items.length;
    ({ nextCursor: cursor, total } = page);
  } while (cursor !== null && times.length < PAGES);
  const known = total === null ? "unknown" : whole(total);
  const name = `page of "${query}", ${found} read, total ${known}`;
  const measured = latencies(name, times);
  printLatencies(measured);
  return msAim(`page of "${query}", max`, measured.max, MAX_PAGE_MS);
}

function addMails(data: string, mails: number): void {
  const { sqlite } = openDatabase(join(data, "mailstead.db"));
  sqlite.run("PRAGMA synchronous = OFF");
  sqlite.run("PRAGMA foreign_keys = OFF");
  sqlite.run(`INSERT INTO messages (seq, project_seq, digest, from_address, html, headers,
                is_marketing, has_attachments, created_at)
              VALUES (1, 1, 'one', 'hello@acme.test', '<p>Hello</p>', '[]', 0, 0, 0)`);
  sqlite.run(
    `WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < ?1)
     INSERT INTO emails (id, project_seq, contact_seq, message_seq, source, to_address, subject,
                         variables, status, priority, created_at)
     SELECT 'mail-' || n, 1 + n % 2, 1 + n % 1000, 1, 'TRANSACTIONAL',
            'p' || (n % 9973) || '@d' || (n % 97) || '.test',
            'Your order ' || (n % ?2) || ' has shipped',
            '{"order":' || n || ',"name":"Ada Lovelace","note":"${"x".repeat(120)}"}',
            iif(n % 199 < 2, 'BOUNCED', 'SENT'), 0, 1767225600000 + n * 1000
     FROM numbers`,
    [mails, SUBJECTS],
  );
  sqlite.run(
    "UPDATE project_usage SET emails = (SELECT count(*) FROM emails WHERE project_seq = 1) WHERE project_seq = 1",
  );
  sqlite.run("PRAGMA wal_checkpoint(TRUNCATE)");
  sqlite.close();
}
