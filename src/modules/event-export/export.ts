/**
 * Writes new events to files of another place, from which a data warehouse reads them: one JSON object
 * on each line (NDJSON), compressed with zstd. The position is that of a reader of the event log, so that
 * no event is removed before it is written. An interruption before the position is stored leads to the
 * same file again, with the same name.
 */

import { zstdCompressSync } from "node:zlib";
import { installationId } from "../../backup/stored.ts";
import type { BackupTarget } from "../../backup/target.ts";
import type { App } from "../../core/app.ts";
import { EXPORT_READER } from "../../db/schema/readers.ts";
import { createReader } from "../../events/reader.ts";
import { isoTime } from "../../lib/clock.ts";

/** Events of one file, which is made in memory. */
const EVENTS_OF_FILE = 20_000;
const SEQ_DIGITS = 15;

type Row = {
  seq: number;
  id: string;
  name: string;
  projectId: string;
  contactId: string | null;
  email: string | null;
  emailId: string | null;
  data: string | null;
  createdAt: number;
};

type ExportedEvents = { files: number; events: number };

/** Resolves when there is no newer event. Runs in a process of its own: it holds the event loop. */
export async function exportEvents(
  { db, writer, secret }: Pick<App, "db" | "writer" | "secret">,
  target: BackupTarget,
): Promise<ExportedEvents> {
  const reader = createReader({ db, name: EXPORT_READER });
  const find = db.sqlite.query<Row, [number]>(`
    SELECT e.seq, e.id, e.name, p.id AS projectId, c.id AS contactId, c.email, m.id AS emailId,
           e.data, e.created_at AS createdAt
    FROM events e
    JOIN projects p ON p.seq = e.project_seq
    LEFT JOIN contacts c ON c.seq = e.contact_seq
    LEFT JOIN emails m ON m.seq = e.email_seq
    WHERE e.seq > ? ORDER BY e.seq LIMIT ${EVENTS_OF_FILE}`);
  const exported = { files: 0, events: 0 };
  for (;;) {
    const rows = find.all(reader.place());
    const [first] = rows;
    const last = rows.at(-1);
    if (first === undefined || last === undefined) return exported;
    const bytes = zstdCompressSync(rows.map(lineOf).join(""));
    await target.write(nameOf(first, secret), piecesOf(bytes), bytes.byteLength);
    await writer.write(() => reader.advance(last.seq));
    exported.files++;
    exported.events += rows.length;
  }
}

async function* piecesOf(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

function lineOf({ id, name, projectId, contactId, email, emailId, data, createdAt }: Row): string {
  const fields = { id, createdAt: isoTime(createdAt), name, projectId, contactId, email, emailId };
  // The stored data is JSON, so it needs no parsing.
  return `${JSON.stringify(fields).slice(0, -1)},"data":${data ?? "null"}}\n`;
}

/** Named by the first event; two installations may have the same place. */
function nameOf({ seq, createdAt }: Row, secret: string): string {
  const [date = "", time = ""] = isoTime(createdAt).split("T");
  const file = `${installationId(secret)}-${String(seq).padStart(SEQ_DIGITS, "0")}.ndjson.zst`;
  return `date=${date}/hour=${time.slice(0, 2)}/${file}`;
}
