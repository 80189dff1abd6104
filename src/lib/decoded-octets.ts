/**
 * The octets of a message, or of a piece of one, in which a text can be found however it is encoded for
 * the transfer: the lines that quoted-printable has divided are joined (RFC 2045 §6.7), and the
 * decoded octets of lines in base64 are added at the end. It takes time in proportion to the length.
 * Pure.
 */

/** Several of the longest lines of a message, which have 1,000 octets (RFC 5321 §4.5.3.1.6). */
const OVERLAP_BYTES = 4 * 1024;
const BASE64_LINE = /^[A-Za-z\d+/]+={0,2}$/;

export function decodedOctets(raw: Uint8Array): Buffer {
  const text = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString("latin1");
  const joined = text.replaceAll("=\r\n", "");
  // Each line is decoded alone, because a piece may begin within one.
  const decoded = text
    .split("\r\n")
    .filter((line) => line.length % 4 === 0 && BASE64_LINE.test(line))
    .map((line) => Buffer.from(line, "base64"));
  return Buffer.concat([Buffer.from(`${joined}\n`, "latin1"), ...decoded]);
}

/**
 * A piece of a message, preceded by the end of the piece before it, so that a text which is divided
 * between the two is found.
 */
export function withEndOf(before: Uint8Array, piece: Uint8Array): Buffer {
  return Buffer.concat([before.subarray(-OVERLAP_BYTES), piece]);
}
