/** Encodes a question, and checks which response answers it. */

import { randomInt } from "node:crypto";
import { decode, encode, RECURSION_DESIRED, type DecodedPacket } from "dns-packet";
import { canonicalName, responseCode, type RecordKind } from "./answer.ts";

export type Query = {
  bytes: Buffer;
  /**
   * - response: the message answers the question.
   * - malformed: the message has the right id, but it is not a valid response.
   * - foreign: the message belongs to another question, or is forged.
   */
  read(bytes: Buffer): QueryReading;
};

type QueryReading =
  { kind: "response"; packet: DecodedPacket } | { kind: "malformed" } | { kind: "foreign" };

export type Question = { name: string; type: RecordKind<unknown>["type"] };

/** UDP payload that nearly every network carries without fragmentation (RFC 9715). */
const UDP_PAYLOAD_BYTES = 1_232;

/** Encodes a query. `withEdns` is false for servers that answer FORMERR to EDNS (RFC 6891 §7). */
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

/** Checks that id and question match (RFC 5452 §4). The socket has already checked the sender. */
function readResponse(bytes: Buffer, question: Question, id: number): QueryReading {
  if (bytes.length < 2 || bytes.readUInt16BE(0) !== id) return { kind: "foreign" };
  const packet = decodeOrNull(bytes);
  if (packet === null || !packet.flag_qr) return { kind: "malformed" };
  if (!repeatsQuestion(packet, question)) return { kind: "foreign" };
  return { kind: "response", packet };
}

function repeatsQuestion(packet: DecodedPacket, { name, type }: Question): boolean {
  const [asked, second] = packet.questions ?? [];
  // A server that could not read the question does not have to repeat it (RFC 1035 §4.1.1).
  if (asked === undefined) return isFormatError(packet);
  if (second !== undefined) return false;
  return asked.type === type && asked.class === "IN" && canonicalName(asked.name) === name;
}

/** Whether the response is FORMERR or NOTIMP, as old servers answer to EDNS. */
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

/** Longest chain of pointers to pointers. Servers have no reason to write more than one. */
const LONGEST_POINTER_CHAIN = 16;
const POINTER = 0xc0;

/**
 * Whether compression pointers (RFC 1035 §4.1.4) form a long chain. A decoder follows the chain for
 * each name that ends in it, which takes quadratic time in the length of the message.
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
