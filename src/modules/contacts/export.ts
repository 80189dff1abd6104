/**
 * Exports all contacts of a filter as CSV or NDJSON, one page at a time, as fast as the client
 * reads. An import of the exported CSV restores the same contacts: see import/cells.ts and
 * import/columns.ts.
 */

import { and } from "drizzle-orm";
import type { App } from "../../core/app.ts";
import { type AppError, fieldError } from "../../lib/errors.ts";
import { writeCell, writeRecord } from "./import/cells.ts";
import { columnName } from "./import/columns.ts";
import type { FindAudience } from "./bulk/bulk.ts";
import { parseData } from "./data.ts";
import { MOST_SURVEYED_KEYS, surveyFields } from "./fields.ts";
import type { JobQuota } from "./jobs/quota.ts";
import type { ExportQuery } from "./model.ts";
import { contactFilter, contactPages, contactsAmong, hasId } from "./search.ts";
import { type ContactRow, presentContact } from "./service.ts";
import { topicsOf, topicStatesOf, type TopicRow } from "../topics/choices.ts";

export type Exports = ReturnType<typeof createExports>;

/** Without it, Excel reads the file in the code page of the computer. */
const BYTE_ORDER_MARK = "\u{feff}";
type FileWriter = { header: string; write: (contact: ContactRow) => string };

export function createExports(deps: {
  app: App;
  quota: JobQuota;
  audience: Pick<FindAudience, "membersOfSegment">;
}) {
  const { app, quota, audience } = deps;

  async function* pagesOf(
    projectSeq: number,
    query: ExportQuery,
    members: AsyncIterable<readonly number[]> | null,
  ): AsyncGenerator<ContactRow[]> {
    const { ids } = query;
    const filter = and(contactFilter(query), ids === undefined ? undefined : hasId(ids.split(",")));
    if (members === null) return yield* contactPages(app, projectSeq, filter);
    for await (const seqs of members) {
      yield await contactsAmong(app, projectSeq, seqs, filter);
    }
  }

  async function* exportPages(
    { header, write }: FileWriter,
    pages: AsyncGenerator<ContactRow[]>,
  ): AsyncGenerator<string> {
    if (header !== "") yield header;
    for await (const rows of pages) {
      const text = rows.map(write).join("");
      if (text !== "") yield text;
    }
  }

  return {
    /**
     * A response body that is produced while it is read. Throws 404 for an unknown segment, 429 if
     * the project's quota is reached, and 422 if the contacts have too many keys for CSV.
     */
    async stream(projectSeq: number, query: ExportQuery): Promise<ReadableStream<Uint8Array>> {
      const { segmentId } = query;
      const members =
        segmentId === undefined ? null : audience.membersOfSegment(projectSeq, segmentId);
      const endExport = quota.begin(projectSeq);
      const topics = topicColumns(app, projectSeq);
      let writer = lineWriter(topics);
      try {
        if (query.format !== "ndjson")
          writer = csvWriter(await surveyFields(app, projectSeq), topics);
      } catch (error) {
        endExport();
        throw error;
      }
      const encoder = new TextEncoder();
      const pages = exportPages(writer, pagesOf(projectSeq, query, members));
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

type TopicColumns = {
  topics: readonly TopicRow[];
  /** Whether the contact is in each of the topics. */
  statesOf: (contact: ContactRow) => boolean[];
};

/** The topics that exist when the export begins. */
function topicColumns(app: App, projectSeq: number): TopicColumns {
  const topics = topicsOf(app, projectSeq);
  const statesOf = ({ seq }: ContactRow) =>
    topics.length === 0 ? [] : topicStatesOf(app, topics, seq);
  return { topics, statesOf };
}

/**
 * Header and row writer of a CSV file with a column for each key that exists when the export begins.
 * Throws 422 if there are more keys than a survey counts, because the file would not have the values
 * of the others.
 */
function csvWriter(
  { fields, isComplete, unclearKeys }: Awaited<ReturnType<typeof surveyFields>>,
  { topics, statesOf }: TopicColumns,
): FileWriter {
  if (!isComplete) throw tooManyKeys();
  const columns = fields.map(({ key, types }) => {
    // An import reads all values of a column as one type.
    const isMixed = types.length > 1 || unclearKeys.has(key);
    const holdsJson = key === "" || isMixed || types.includes("array") || types.includes("object");
    const cellOf = holdsJson ? jsonCell : writeCell;
    return { key, cellOf, name: columnName(key, holdsJson) };
  });
  const ofTopics = topics.map(({ key }) => `topic:${key}`);
  const names = ["email", "subscribed", ...ofTopics, ...columns.map(({ name }) => name)];
  return {
    header: BYTE_ORDER_MARK + writeRecord(names),
    write(contact) {
      const data = parseData(contact.data);
      const cells = columns.map(({ key, cellOf }) => cellOf(data[key]));
      const states = [contact.isSubscribed, ...statesOf(contact)].map(String);
      return writeRecord([writeCell(contact.email), ...states, ...cells]);
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

/** Each line is a contact; `topics` says by key which it is in, if the project has any. */
function lineWriter({ topics, statesOf }: TopicColumns): FileWriter {
  return {
    header: "",
    write(contact) {
      const shown = presentContact(contact);
      const states = statesOf(contact);
      const byKey = Object.fromEntries(topics.map(({ key }, i) => [key, states[i] ?? false]));
      return `${JSON.stringify(topics.length === 0 ? shown : { ...shown, topics: byKey })}\n`;
    },
  };
}

function jsonCell(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value);
}
