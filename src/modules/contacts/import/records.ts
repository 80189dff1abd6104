/** The records of an uploaded file, in the encoding and with the delimiter that were found. */

import type { CsvItem, CsvReader } from "../../../lib/csv.ts";
import { createCsvReader, detectDialect } from "../../../lib/csv.ts";
import { startSlices } from "../../../lib/slices.ts";
import type { TextEncoding } from "../../../lib/text-encoding.ts";
import type { SliceQueue } from "../../../lib/slice-queue.ts";

export type TextFile = { bytes: AsyncIterable<Uint8Array>; encoding: TextEncoding };

/**
 * Yields batches that took a few milliseconds each; between them the event loop goes on. The
 * batches are the same each time the file is read.
 */
export async function* readRecords(file: TextFile, queue: SliceQueue): AsyncGenerator<CsvItem[]> {
  const slices = await startSlices(queue);
  for await (const batches of read(file)) {
    for (const items of batches) {
      yield items;
      if (slices.isOver()) await slices.next();
    }
  }
}

async function* read({ bytes, encoding }: TextFile): AsyncGenerator<Generator<CsvItem[]>> {
  const decoder = new TextDecoder(encoding);
  let reader: CsvReader | null = null;
  for await (const piece of bytes) {
    const text = decoder.decode(piece, { stream: true });
    reader ??= createCsvReader(detectDialect(text));
    yield reader.push(text);
  }
  if (reader === null) return;
  yield reader.push(decoder.decode());
  yield reader.end();
}

/** The cells of the first record, none where there is no record, and the records after it. */
export async function splitHeader(
  records: AsyncGenerator<CsvItem[]>,
): Promise<{ header: readonly string[]; rest: AsyncGenerator<CsvItem[]> }> {
  for (;;) {
    const next = await records.next();
    const [first, ...others] = next.done === true ? [] : next.value;
    if (first === undefined && next.done !== true) continue;
    const header = first?.kind === "record" ? first.cells : [];
    return { header, rest: startingWith(others, records) };
  }
}

async function* startingWith(
  items: CsvItem[],
  records: AsyncIterable<CsvItem[]>,
): AsyncGenerator<CsvItem[]> {
  yield items;
  yield* records;
}
