/** One question as it goes over the wire, and which response is an answer to it. */

import { randomInt } from "node:crypto";
import { decode, encode, RECURSION_DESIRED, type DecodedPacket } from "dns-packet";
import { canonicalName, responseCode, type RecordKind } from "./answer.ts";

export type Query = {
  bytes: Buffer;
  /**
   * - response: the answer.
   * - malformed: carries our id, and is no answer.
   * - foreign: somebody else's, or forged.
   */
  read(bytes: Buffer): QueryReading;
};

export type QueryReading =
  { kind: "response"; packet: DecodedPacket } | { kind: "malformed" } | { kind: "foreign" };

export type Question = { name: string; type: RecordKind<unknown>["type"] };

/** What fits through nearly every network without fragments (RFC 9715). */
const UDP_PAYLOAD_BYTES = 1_232;

/** `withEdns` false is for servers that answer FORMERR to it (RFC 6891 §7). */
export function makeQuery(question: Question, withEdns: boolean): Query {
  const id = randomInt(0x1_0000);
  const bytes = encode({
    type: "query",
    id,
    flags: RECURSION_DESIRED,
    questions: [{ name: question.name, type: question.type, class: "IN" }],
    additionals: withEdns ? [{ ...OPT, options: [] }] : [],
  });
  return { bytes, read: (response) => readResponse(response, question, id) };
}

const OPT = {
  type: "OPT",
  name: ".",
  udpPayloadSize: UDP_PAYLOAD_BYTES,
  extendedRcode: 0,
  ednsVersion: 0,
  flags: 0,
  flag_do: false,
} as const;

/** RFC 5452 §4: the id and the question must be ours; the source is the socket's matter. */
function readResponse(bytes: Buffer, question: Question, id: number): QueryReading {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== id) return { kind: "foreign" };
  const packet = decodeOrNull(bytes);
  if (packet === null || !packet.flag_qr) return { kind: "malformed" };
  if (!repeatsQuestion(packet, question)) return { kind: "foreign" };
  return { kind: "response", packet };
}

function repeatsQuestion(packet: DecodedPacket, { name, type }: Question): boolean {
  const [asked, second] = packet.questions ?? [];
  // A server that could not read the question need not repeat it (RFC 1035 §4.1.1).
  if (asked === undefined) return isFormatError(packet);
  if (second !== undefined) return false;
  return asked.type === type && asked.class === "IN" && canonicalName(asked.name) === name;
}

/** FORMERR or NOTIMP: what an old server says to EDNS. */
export function isFormatError(packet: DecodedPacket): boolean {
  const code = responseCode(packet);
  return code === 1 || code === 4;
}

function decodeOrNull(bytes: Buffer): DecodedPacket | null {
  if (hasPointerChain(bytes)) return null;
  try {
    return decode(bytes);
  } catch {
    return null;
  }
}

/** Pointers that lead to each other directly; servers have no reason to write more than one. */
const LONGEST_POINTER_CHAIN = 16;
const POINTER = 0xc0;

/**
 * Whether compression pointers (RFC 1035 §4.1.4) lead through a long chain of pointers. Such a chain
 * is walked for each name that ends in it, which takes time by the square of the message's length.
 */
export function hasPointerChain(bytes: Uint8Array): boolean {
  const lengths = new Uint8Array(bytes.length);
  for (let at = 0; at < bytes.length; at++) {
    const high = bytes[at] ?? 0;
    if (high < POINTER) continue;
    const target = ((high - POINTER) << 8) | (bytes[at + 1] ?? 0);
    const length = target < at ? (lengths[target] ?? 0) + 1 : 1;
    if (length > LONGEST_POINTER_CHAIN) return true;
    lengths[at] = length;
  }
  return false;
}
