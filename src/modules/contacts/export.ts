/**
 * Exports all contacts of a filter as CSV or NDJSON, one page at a time, as fast as the client
 * reads. An import of the exported CSV restores the same contacts: see import/cells.ts and
 * import/columns.ts.
 */

import type { Db } from "../../db/open.ts";
import { type AppError, fieldError } from "../../lib/errors.ts";
import { startSlices } from "../../lib/slices.ts";
import type { FairScheduler } from "../../lib/slice-queue.ts";
import { writeCell, writeRecord } from "./import/cells.ts";
import { columnName } from "./import/columns.ts";
import type { FindAudience } from "./bulk/bulk.ts";
import { parseData } from "./data.ts";
import { type Fields, MOST_SURVEYED_KEYS } from "./fields.ts";
import type { JobQuota } from "./jobs/quota.ts";
import { filterOf } from "./list.ts";
import type { ExportQuery } from "./model.ts";
import { type ContactRow, presentContact } from "./service.ts";

export type Exports = ReturnType<typeof createExports>;

/** Without it, Excel reads the file in the code page of the computer. */
const BYTE_ORDER_MARK = "\u{feff}";
/** Contacts read by one statement. */
const PAGE_SIZE = 500;

type StoredContact = Omit<ContactRow, "isSubscribed"> & { isSubscribed: number };
type FileWriter = { header: string; write: (contact: ContactRow) => string };

const NDJSON: FileWriter = { header: "", write: writeLine };

export function createExports(deps: {
  db: Db;
  scheduler: FairScheduler;
  fields: Fields;
  quota: JobQuota;
  audience: Pick<FindAudience, "membersOfSegment">;
}) {
  const { db, scheduler, fields, quota, audience } = deps;
  const columns = `seq, id, project_seq AS projectSeq, email, is_subscribed AS isSubscribed, data,
      created_at AS createdAt, updated_at AS updatedAt`;
  const readPage = db.sqlite.prepare<StoredContact, [number, number, number]>(`
    SELECT ${columns} FROM contacts WHERE project_seq = ? AND seq > ? ORDER BY seq LIMIT ?`);
  const readSome = db.sqlite.prepare<StoredContact, [string]>(`
    SELECT ${columns} FROM contacts
    WHERE seq IN (SELECT value FROM json_each(?)) ORDER BY seq`);

  /** All contacts of the project, the oldest first. */
  async function* allPages(projectSeq: number): AsyncGenerator<StoredContact[]> {
    const slices = await startSlices(scheduler.queueOf(projectSeq));
    let after = 0;
    for (;;) {
      const rows = readPage.all(projectSeq, after, PAGE_SIZE);
      yield rows;
      const last = rows.at(-1);
      if (rows.length < PAGE_SIZE || last === undefined) return;
      after = last.seq;
      if (slices.isOver()) await slices.next();
    }
  }

  async function* pagesOf(
    members: AsyncIterable<readonly number[]>,
  ): AsyncGenerator<StoredContact[]> {
    for await (const seqs of members) {
      for (let i = 0; i < seqs.length; i += PAGE_SIZE) {
        yield readSome.all(JSON.stringify(seqs.slice(i, i + PAGE_SIZE)));
      }
    }
  }

  async function* exportPages(
    query: ExportQuery,
    { header, write }: FileWriter,
    pages: AsyncGenerator<StoredContact[]>,
  ): AsyncGenerator<string> {
    const matches = matcher(query);
    let text = header;
    for await (const rows of pages) {
      for (const row of rows) {
        const contact = { ...row, isSubscribed: row.isSubscribed === 1 };
        if (matches(contact)) text += write(contact);
      }
      if (text !== "") yield text;
      text = "";
    }
    if (text !== "") yield text;
  }

  return {
    /**
     * A response body that is produced while it is read. Throws 404 for an unknown segment, 429 if
     * the project's quota is reached, and 422 if the contacts have too many keys for CSV.
     */
    async stream(projectSeq: number, query: ExportQuery): Promise<ReadableStream<Uint8Array>> {
      const { segmentId } = query;
      const found =
        segmentId === undefined
          ? allPages(projectSeq)
          : pagesOf(audience.membersOfSegment(projectSeq, segmentId));
      const endExport = quota.begin(projectSeq);
      let writer = NDJSON;
      try {
        if (query.format !== "ndjson") writer = csvWriter(await fields.survey(projectSeq));
      } catch (error) {
        endExport();
        throw error;
      }
      const encoder = new TextEncoder();
      const pages = exportPages(query, writer, found);
      return new ReadableStream({
        async pull(controller) {
          try {
            const { value, done } = await pages.next();
            if (done !== true) return controller.enqueue(encoder.encode(value));
          } catch (error) {
            endExport();
            throw error;
          }
          endExport();
          controller.close();
        },
        async cancel() {
          endExport();
          await pages.return(undefined);
        },
      });
    },
  };
}

/**
 * Header and row writer of a CSV file with a column for each key that exists when the export begins.
 * Throws 422 if there are more keys than a survey counts, because the file would not have the values
 * of the others.
 */
function csvWriter({
  fields,
  isComplete,
  unclearKeys,
}: Awaited<ReturnType<Fields["survey"]>>): FileWriter {
  if (!isComplete) throw tooManyKeys();
  const columns = fields.map(({ key, types }) => {
    // An import reads all values of a column as one type.
    const isMixed = types.length > 1 || unclearKeys.has(key);
    const holdsJson = key === "" || isMixed || types.includes("array") || types.includes("object");
    const cellOf = holdsJson ? jsonCell : writeCell;
    return { key, cellOf, name: columnName(key, holdsJson) };
  });
  return {
    header:
      BYTE_ORDER_MARK + writeRecord(["email", "subscribed", ...columns.map(({ name }) => name)]),
    write(contact) {
      const data = parseData(contact.data);
      const cells = columns.map(({ key, cellOf }) => cellOf(data[key]));
      return writeRecord([writeCell(contact.email), String(contact.isSubscribed), ...cells]);
    },
  };
}

function tooManyKeys(): AppError {
  const most = MOST_SURVEYED_KEYS.toLocaleString("en-US");
  const message =
    `must be ndjson: the contacts of this project have more than ${most} data keys, and a CSV ` +
    "file has a column for each";
  return fieldError("format", "invalid_value", message);
}

function matcher(query: ExportQuery): (contact: ContactRow) => boolean {
  const { isSubscribed, part } = filterOf(query);
  const [spelling, other] = part ?? ["", null];
  return ({ email, ...contact }) =>
    (isSubscribed === undefined || contact.isSubscribed === isSubscribed) &&
    (email.includes(spelling) || (other !== null && email.includes(other)));
}

function writeLine(contact: ContactRow): string {
  return `${JSON.stringify(presentContact(contact))}\n`;
}

function jsonCell(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}
