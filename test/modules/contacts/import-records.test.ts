import { describe, expect, test } from "bun:test";
import type { CsvItem } from "../../../src/lib/csv.ts";
import { createFairScheduler } from "../../../src/lib/slice-queue.ts";
import { readRecords } from "../../../src/modules/contacts/import/records.ts";

const MIB = 1024 * 1024;
const PIECE = new Uint8Array(64 * 1024).fill("x".charCodeAt(0));
const LINE_BYTES = 100 * MIB;
const LOOK_BYTES = 10 * MIB;
/** A record as long as one may be, a few times over. */
const MOST_BYTES = 16 * MIB;

/** What is reachable, strings and buffers included. */
function heldBytes(): number {
  Bun.gc(true);
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** `before`, 100 MiB without a newline, `after`; `look` is called now and then. */
async function* longLine(
  before: string,
  after: string,
  look: () => void,
): AsyncGenerator<Uint8Array> {
  yield Buffer.from(before);
  for (let sent = 0; sent < LINE_BYTES; sent += PIECE.byteLength) {
    if (sent % LOOK_BYTES === 0) look();
    yield PIECE;
  }
  yield Buffer.from(after);
}

async function readLong(before: string, after: string) {
  const atFirst = heldBytes();
  const items: CsvItem[] = [];
  let mostBytes = 0;
  const look = () => (mostBytes = Math.max(mostBytes, heldBytes() - atFirst));
  const bytes = longLine(before, after, look);
  for await (const batch of readRecords(
    { bytes, encoding: "utf-8" },
    createFairScheduler().of(1),
  )) {
    items.push(...batch);
  }
  return { items, mostBytes };
}

const TOO_LONG = "The line is longer than 1 MiB.";

describe("a line of 100 MiB is one fault, and little of it is in memory:", () => {
  const cases: [what: string, before: string, after: string, items: CsvItem[]][] = [
    [
      "in the middle",
      "email,n\na@x.io,1\nb@x.io,",
      "\nc@x.io,3\n",
      [
        { kind: "record", line: 1, cells: ["email", "n"] },
        { kind: "record", line: 2, cells: ["a@x.io", "1"] },
        { kind: "fault", line: 3, message: TOO_LONG },
        { kind: "record", line: 4, cells: ["c@x.io", "3"] },
      ],
    ],
    ["the only one", "email,", "", [{ kind: "fault", line: 1, message: TOO_LONG }]],
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
      const { items, mostBytes } = await readLong(before, after);
      expect(items).toEqual(expected);
      expect(mostBytes).toBeLessThan(MOST_BYTES);
    },
    30_000,
  );
});
