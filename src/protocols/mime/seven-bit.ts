/**
 * Encodes the parts of a message that not every server takes (RFC 6152: a server may lack 8BITMIME),
 * and leaves all other octets as they are. The message is read twice as a stream:
 *
 * 1. `createPartSurvey` finds the octets of each part, and the parts that have to be encoded.
 * 2. `createPartEncoder` writes the message again, with these parts encoded.
 */

import { createContentCheck } from "./content-check.ts";
import { encodeField, isEightBit } from "./encode-fields.ts";
import { createPartReader, type MimePart, PartsFault } from "./part-reader.ts";
import { fieldsOf } from "./submitted-header.ts";
import {
  createBase64,
  createBase64Lines,
  createQuotedPrintable,
  type TransferEncoder,
} from "./transfer-encoders.ts";

/** The encoding of a part. `lines` breaks the lines of base64; `header` encodes only its header. */
type Treatment = "none" | "header" | "quoted-printable" | "base64" | "lines";

/** The treatment of each part in the order of their headers. */
export type Treatments = readonly Treatment[];

/** Text with at most this share of 8-bit octets is encoded as quoted-printable. */
const READABLE_SHARE = 1 / 6;

/** `end` throws a PartsFault if a part cannot be encoded. */
export function createPartSurvey() {
  const treatments: Treatment[] = [];
  let part: MimePart | null = null;
  let check = createContentCheck();
  let bytes = 0;
  let hasBadHeader = false;
  let hasBadText = false;
  let isMalformed = false;

  function close(): void {
    if (part === null) return;
    const content = { check, bytes };
    const treatment = part.kind === "leaf" ? treatmentOf(part, content) : "none";
    treatments.push(treatment === "none" && hasBadHeader ? "header" : treatment);
    if (part.isSigned && treatments.at(-1) !== "none") {
      throw new PartsFault("a signed part has octets that must be encoded");
    }
    if (isMalformed && treatments.at(-1) !== "none") {
      throw new PartsFault("the header of a part has a line that is not a header field");
    }
    part = null;
  }

  const reader = createPartReader({
    header(next, header) {
      close();
      part = next;
      check = createContentCheck();
      bytes = 0;
      hasBadHeader = isEightBit(header);
      isMalformed = fieldsOf(header.replace(/\r\n$/, "")) === null;
    },
    content(piece, isPart) {
      if (isPart) {
        check.see(piece);
        bytes += piece.byteLength;
      } else if (isEightBit(piece.toString("latin1"))) hasBadText = true;
    },
    delimiter: () => {},
  });

  return {
    add: reader.add,
    end(): Treatments {
      reader.end();
      close();
      if (hasBadText) throw new PartsFault("the text between its parts is not ASCII");
      return treatments;
    },
  };
}

const IDENTITIES: readonly string[] = ["", "7bit", "8bit", "binary"];

function treatmentOf(
  part: MimePart,
  { check, bytes }: { check: ReturnType<typeof createContentCheck>; bytes: number },
): Treatment {
  if (check.isPlain()) return "none";
  if (part.encoding === "base64") return "lines";
  if (!IDENTITIES.includes(part.encoding)) {
    throw new PartsFault(`a part says ${part.encoding.slice(0, 40)}, but is not encoded`);
  }
  const isText = part.type === "" || part.type.startsWith("text/");
  const isReadable = check.eightBits() <= bytes * READABLE_SHARE && !check.hasNul();
  return isText && isReadable ? "quoted-printable" : "base64";
}

export function createPartEncoder(survey: Treatments, write: (bytes: Buffer) => void) {
  let next = 0;
  let encoder: TransferEncoder | null = null;
  /** A line end that belongs to the content, or to the delimiter that may follow. */
  let held: Buffer = Buffer.alloc(0);

  function addContent(bytes: Buffer): void {
    if (encoder === null) return write(bytes);
    const all = held.byteLength === 0 ? bytes : Buffer.concat([held, bytes]);
    const end = all.byteLength - lineEndBytes(all);
    // The memory of the piece is used again.
    held = Buffer.from(all.subarray(end));
    write(encoder.add(all.subarray(0, end)));
  }

  function closePart(): void {
    if (encoder === null) return;
    write(encoder.end());
    encoder = null;
    write(held);
    held = Buffer.alloc(0);
  }

  const reader = createPartReader({
    header(part, header, end) {
      const treatment = survey[next++] ?? "none";
      encoder = encoderOf(treatment);
      const text = encodedHeader(header, part, treatment);
      write(Buffer.from(`${text}${end}`, "latin1"));
    },
    content: (bytes, isPart) => (isPart ? addContent(bytes) : write(bytes)),
    delimiter(line) {
      closePart();
      write(line);
    },
  });

  return {
    add: reader.add,
    end(): void {
      reader.end();
      // The last line end of the message belongs to its content.
      if (encoder !== null && held.byteLength === 2) {
        write(encoder.add(held));
        held = Buffer.alloc(0);
      }
      const isOpen = encoder !== null;
      closePart();
      if (isOpen) write(Buffer.from("\r\n"));
    },
  };
}

function encoderOf(treatment: Treatment): TransferEncoder | null {
  switch (treatment) {
    case "quoted-printable":
      return createQuotedPrintable();
    case "base64":
      return createBase64();
    case "lines":
      return createBase64Lines();
    default:
      return null;
  }
}

/** Number of octets at the end that are CRLF, or a CR that may become one. */
function lineEndBytes(bytes: Buffer): number {
  if (bytes.at(-1) === 0x0a && bytes.at(-2) === 0x0d) return 2;
  return bytes.at(-1) === 0x0d ? 1 : 0;
}

const ENCODING = "content-transfer-encoding";

function encodedHeader(header: string, part: MimePart, treatment: Treatment): string {
  const isContainer = part.kind !== "leaf" && ["8bit", "binary"].includes(part.encoding);
  if (treatment === "none" && !isContainer) return header;
  const isEncoded = treatment === "quoted-printable" || treatment === "base64";
  const fields = fieldsOf(header.replace(/\r\n$/, "")) ?? [];
  const kept = fields.filter(({ name }) => !(name === ENCODING && (isEncoded || isContainer)));
  const lines = kept.map(({ name, text, value }) => {
    if (!isEightBit(text)) return text;
    const written = text.slice(0, name.length);
    return encodeField(written, value) ?? `${written}:${value.replace(/[\x80-\xff]/g, "?")}`;
  });
  if (isEncoded) {
    const hasType = fields.some(({ name }) => name === "content-type");
    if (!hasType) lines.push("Content-Type: text/plain; charset=utf-8");
    lines.push(`Content-Transfer-Encoding: ${treatment}`);
  } else if (isContainer) lines.push("Content-Transfer-Encoding: 7bit");
  return lines.length === 0 ? "" : `${lines.join("\r\n")}\r\n`;
}
