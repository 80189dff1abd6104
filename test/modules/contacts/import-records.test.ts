import { describe, expect, test } from "bun:test";
import type { CsvItem } from "../../../src/lib/csv.ts";
import { readRecords } from "../../../src/modules/contacts/import/records.ts";

const MIB = 1024 * 1024;
const CHUNK = new Uint8Array(64 * 1024).fill("x".charCodeAt(0));
const LINE_BYTES = 50 * MIB;
const MEASURE_EVERY_BYTES = 20 * MIB;
/** Several times the length of the longest record. */
const MAX_BYTES = 16 * MIB;

/** Memory of all reachable objects, including strings and buffers. */
function heldBytes(): number {
  Bun.gc(true);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Yields `before`, 50 MiB without a newline, and `after`. Calls `measure` every 20 MiB. */
async function* longLine(
  before: string,
  after: string,
  measure: () => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(before);
  for (let sent = 0; sent < LINE_BYTES; sent += CHUNK.byteLength) {
    if (sent > 0 && sent % MEASURE_EVERY_BYTES === 0) measure();
    yield CHUNK;
  }
  yield Buffer.from(after);
}

async function readLong(before: string, after: string) {
  const initialBytes = heldBytes();
  const items: CsvItem[] = [];
  let peakBytes = 0;
  const measure = () => (peakBytes = Math.max(peakBytes, heldBytes() - initialBytes));
  const bytes = longLine(before, after, measure);
  for await (const batch of readRecords({ bytes, encoding: "utf-8" })) {
    items.push(...batch);
  }
  return { items, peakBytes };
}

const TOO_LONG = "The line is longer than 1 MiB.";

describe("a line of 50 MiB is one error and does not stay in memory", () => {
  const cases: [what: string, before: string, after: string, items: CsvItem[]][] = [
    [
      "between other lines",
      "email,n\na@x.io,1\nb@x.io,",
      "\nc@x.io,3\n",
      [
        { kind: "record", line: 1, cells: ["email", "n"] },
        { kind: "record", line: 2, cells: ["a@x.io", "1"] },
        { kind: "fault", line: 3, message: TOO_LONG },
        { kind: "record", line: 4, cells: ["c@x.io", "3"] },
      ],
    ],
    ["as the only line", "email,", "", [{ kind: "fault", line: 1, message: TOO_LONG }]],
    [
      "in quotes",
      'email,n\na@x.io,"',
      '"\nc@x.io,3\n',
      [
        { kind: "record", line: 1, cells: ["email", "n"] },
        { kind: "fault", line: 2, message: TOO_LONG },
        { kind: "record", line: 3, cells: ["c@x.io", "3"] },
      ],
    ],
  ];
  test.each(cases)(
    "%s",
    async (_, before, after, expected) => {
      const { items, peakBytes } = await readLong(before, after);
      expect(items).toEqual(expected);
      expect(peakBytes).toBeLessThan(MAX_BYTES);
    },
    30_000,
  );
});
