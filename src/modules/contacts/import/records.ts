/** Reads the records of an uploaded file, with its encoding and delimiter. */

import { createCsvReader, type CsvItem, type Delimiter, detectDialect } from "../../../lib/csv.ts";
import { createDecoder } from "../../../lib/text-encoding.ts";
import { createYield } from "../../../lib/yield.ts";

/** The delimiter is detected if it is not given. */
type TextFile = {
  bytes: AsyncIterable<Uint8Array>;
  encoding: string;
  delimiter?: Delimiter | undefined;
};

/** Rows that are examined before an import is accepted; the job examines all others. */
export const SAMPLED_ROWS = 5_000;

type OpenedFile = {
  /** The cells of the first record; empty if there is none. */
  header: readonly string[];
  /** The records after the header. */
  rest: AsyncGenerator<CsvItem[]>;
  delimiter: Delimiter;
};

/** Awaited before each piece of the work on files, of which all imports together do some milliseconds at once. */
export const yieldIfBusy = createYield();

/** Calls `use` with the records of a file, and closes it, even if it was not read to its end. */
export async function withRecords<T>(
  file: TextFile,
  use: (opened: OpenedFile) => Promise<T>,
): Promise<T> {
  let delimiter: Delimiter = ",";
  const records = readRecords(file, (detected) => (delimiter = detected));
  try {
    const { header, rest } = await splitHeader(records);
    return await use({ header, rest, delimiter });
  } finally {
    await records.return(undefined);
  }
}

/**
 * Yields records in groups that take a few milliseconds to parse; other work runs between two
 * groups. The groups are the same each time the file is read.
 */
export async function* readRecords(
  file: TextFile,
  detected?: (delimiter: Delimiter) => void,
): AsyncGenerator<CsvItem[]> {
  for await (const batches of read(file, detected)) {
    for (const items of batches) {
      yield items;
      await yieldIfBusy();
    }
  }
}

async function* read(
  { bytes, encoding, delimiter }: TextFile,
  detected?: (delimiter: Delimiter) => void,
): AsyncGenerator<Generator<CsvItem[]>> {
  const decoder = createDecoder(encoding);
  let reader: ReturnType<typeof createCsvReader> | null = null;
  for await (const chunk of bytes) {
    const text = decoder.decode(chunk, { stream: true });
    if (reader === null) {
      const dialect = detectDialect(text, delimiter);
      detected?.(dialect.delimiter);
      reader = createCsvReader(dialect);
    }
    yield reader.push(text);
  }
  if (reader === null) return;
  yield reader.push(decoder.decode());
  yield reader.end();
}

async function splitHeader(
  records: AsyncGenerator<CsvItem[]>,
): Promise<Pick<OpenedFile, "header" | "rest">> {
  for (;;) {
    const next = await records.next();
    const [first, ...others] = next.done === true ? [] : next.value;
    if (first === undefined && next.done !== true) continue;
    const header = first?.kind === "record" ? first.cells : [];
    return { header, rest: prependItems(others, records) };
  }
}

/** The first groups, with `count` items or more, and all groups from the first on. */
export async function peekItems(records: AsyncGenerator<CsvItem[]>, count: number) {
  const first: CsvItem[] = [];
  while (first.length < count) {
    const next = await records.next();
    if (next.done === true) break;
    first.push(...next.value);
  }
  return { first, rest: prependItems(first, records) };
}

async function* prependItems(
  items: CsvItem[],
  records: AsyncIterable<CsvItem[]>,
): AsyncGenerator<CsvItem[]> {
  yield items;
  yield* records;
}
