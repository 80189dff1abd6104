/** Reads the records of an uploaded file, with the detected encoding and delimiter. */

import type { CsvItem, CsvReader } from "../../../lib/csv.ts";
import { createCsvReader, detectDialect } from "../../../lib/csv.ts";
import { startSlices } from "../../../lib/slices.ts";
import { createDecoder } from "../../../lib/text-encoding.ts";
import type { SliceQueue } from "../../../lib/slice-queue.ts";

type TextFile = { bytes: AsyncIterable<Uint8Array>; encoding: string };

/**
 * Yields records in groups that take a few milliseconds to parse; other work runs between two
 * groups. The groups are the same each time the file is read.
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
  const decoder = createDecoder(encoding);
  let reader: CsvReader | null = null;
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    reader ??= createCsvReader(detectDialect(text));
    yield reader.push(text);
  }
  if (reader === null) return;
  yield reader.push(decoder.decode());
  yield reader.end();
}

/**
 * The cells of the first record, and the records after it. The header is empty if there is no
 * record.
 */
export async function splitHeader(
  records: AsyncGenerator<CsvItem[]>,
): Promise<{ header: readonly string[]; rest: AsyncGenerator<CsvItem[]> }> {
  for (;;) {
    const next = await records.next();
    const [first, ...others] = next.done === true ? [] : next.value;
    if (first === undefined && next.done !== true) continue;
    const header = first?.kind === "record" ? first.cells : [];
    return { header, rest: prependItems(others, records) };
  }
}

async function* prependItems(
  items: CsvItem[],
  records: AsyncIterable<CsvItem[]>,
): AsyncGenerator<CsvItem[]> {
  yield items;
  yield* records;
}
