/** DNS messages in wire format, as a hostile server could construct them. */

import { A, MX, readAnswer, type RecordKind, TXT } from "../../../src/protocols/dns/answer.ts";
import { messageCollector } from "../../../src/protocols/dns/exchange.ts";
import { makeQuery } from "../../../src/protocols/dns/query.ts";
import type { Parser } from "./linear.ts";

const MAX_OCTETS = 65_535;
/** Offset of the question's name, after the header. */
export const QUESTION = 12;
const [TYPE_A, TYPE_CNAME, TYPE_MX, TYPE_TXT, TYPE_OPT, TYPE_NSEC] = [1, 5, 15, 16, 41, 47];
/** A type for private use, so that the data of its records is not read. */
const TYPE_PRIVATE = 65_280;

export function pointerTo(offset: number): Buffer {
  const octets = Buffer.alloc(2);
  octets.writeUInt16BE(0xc000 | offset);
  return octets;
}

function nameOf(labels: readonly string[]): Buffer {
  const parts = labels.map((label) => Buffer.from(String.fromCharCode(label.length) + label));
  return Buffer.concat([...parts, Buffer.alloc(1)]);
}

function record(owner: Buffer, type: number, data: Buffer): Buffer {
  const head = Buffer.alloc(10);
  head.writeUInt16BE(type, 0);
  head.writeUInt16BE(1, 2);
  head.writeUInt32BE(60, 4);
  head.writeUInt16BE(data.length, 8);
  return Buffer.concat([owner, head, data]);
}

/** Pointers reach offsets below 16,384, so this many per record fit for a thousand records. */
const POINTERS_PER_RECORD = 7;

const OWNER = pointerTo(QUESTION);
const ADDRESS = Buffer.from([192, 0, 2, 1]);
const many = (count: number, make: (i: number) => Buffer) =>
  Array.from({ length: count }, (_, i) => make(i));

/** Makes records whose name is a chain of pointers, each of which leads to the one before. */
export function chained(count: number, start: number): Buffer[] {
  const length = POINTERS_PER_RECORD * count;
  const data = start + OWNER.length + 10;
  const chain = Buffer.concat(
    many(length, (i) => pointerTo(i === 0 ? QUESTION : data + 2 * (i - 1))),
  );
  const end = pointerTo(data + 2 * (length - 1));
  return [record(OWNER, TYPE_PRIVATE, chain), ...many(count, () => record(end, TYPE_A, ADDRESS))];
}

/** Makes a parser test that reads an answer with as many records as the text has characters. */
function answers<Value>(
  name: string,
  kind: RecordKind<Value>,
  records: (count: number, start: number) => Buffer[],
): Parser {
  const run = (text: string): unknown => {
    const query = makeQuery({ name: "a.test", type: kind.type }, false);
    const answerRecords = records(text.length, query.bytes.length);
    const message = Buffer.concat([query.bytes, ...answerRecords]);
    if (message.length > MAX_OCTETS) return null;
    message.writeUInt16BE(0x8180, 2);
    message.writeUInt16BE(answerRecords.length, 6);
    const reading = query.read(message);
    return reading.kind === "response" ? readAnswer(reading.packet, "a.test", kind) : reading;
  };
  return { name, run, maxCharacters: 30_000, pumps: ["x"], hasOwnPumpsOnly: true };
}

export const DNS_PARSERS: readonly Parser[] = [
  answers("addresses", A, (count) => many(count, () => record(OWNER, TYPE_A, ADDRESS))),
  answers("aliases", A, (count) =>
    many(count, (i) => record(OWNER, TYPE_CNAME, nameOf([`a${i}`, "test"]))),
  ),
  answers("long names", A, (count) =>
    many(Math.ceil(count / 64), () =>
      record(nameOf(Array.from({ length: 120 }, () => "a")), TYPE_A, ADDRESS),
    ),
  ),
  answers("mail servers", MX, (count) =>
    many(count, () => record(OWNER, TYPE_MX, Buffer.concat([Buffer.alloc(2), OWNER]))),
  ),
  answers("strings of texts", TXT, (count) => [
    record(OWNER, TYPE_TXT, Buffer.alloc(2 * count, Buffer.from([1, 0x61]))),
  ]),
  answers("options", A, (count) => [
    record(Buffer.alloc(1), TYPE_OPT, Buffer.alloc(Math.min(4 * count, 60_000))),
  ]),
  answers("lists of types", A, (count) =>
    many(count, () =>
      record(OWNER, TYPE_NSEC, Buffer.concat([OWNER, Buffer.from([0, 2, 255, 255])])),
    ),
  ),
  { ...answers("chains of pointers", A, chained), maxCharacters: 1_024 },
  {
    name: "messages that arrive octet by octet",
    run: (text) => {
      const collect = messageCollector();
      collect(Buffer.from([0xff, 0xff]));
      for (let i = 0; i < text.length; i++) collect(Buffer.from([0]));
    },
    maxCharacters: MAX_OCTETS,
    pumps: ["x"],
    hasOwnPumpsOnly: true,
  },
];
