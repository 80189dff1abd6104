/**
 * Makes a message that can be parsed from one that cannot: the header without its fields about the
 * content, and the beginning of the body as text. So each message is listed with its sender, recipients
 * and subject.
 */

const MAX_HEADER_BYTES = 256 * 1024;
const MAX_BODY_BYTES = 512 * 1024;

export function readableRest(raw: Buffer): Buffer {
  const crlf = raw.indexOf("\r\n\r\n");
  const lf = raw.indexOf("\n\n");
  const isCrlf = crlf !== -1 && (lf === -1 || crlf < lf);
  const end = isCrlf ? crlf : lf;
  const head = raw.toString(
    "latin1",
    0,
    Math.min(end === -1 ? raw.byteLength : end, MAX_HEADER_BYTES),
  );
  const body = end === -1 ? "" : raw.subarray(end + (isCrlf ? 4 : 2));
  const fields = head
    .split(/\r?\n(?![ \t])/)
    .filter((field) => !/^(?:content-|mime-version[ \t]*:)/i.test(field));
  return Buffer.concat([
    Buffer.from(`${fields.join("\r\n")}\r\n\r\n`, "latin1"),
    Buffer.from(body.slice(0, MAX_BODY_BYTES)),
  ]);
}
