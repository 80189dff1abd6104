/**
 * Encodes the message for transfer after DATA (RFC 5321 §4.1.1.4, §4.5.2): dots at line starts are
 * doubled, a missing line end is added, and the final dot follows. Blocks without such dots are
 * views of the message; the other blocks, and the last one, are copied once.
 */

const BLOCK_BYTES = 131_072;
const LF = 0x0a;
const DOT = 0x2e;
const LINE_START_DOT = Buffer.from("\n.");

/** True if the message has more than one block. */
export function isLarge(message: Uint8Array): boolean {
  return message.byteLength > BLOCK_BYTES;
}

/** All blocks except the last, created one at a time when the connection can send them. */
export function* leadingBlocks(message: Uint8Array): Generator<Buffer> {
  const bytes = viewOf(message);
  const end = lastBlockStart(bytes);
  for (let start = 0; start < end; start += BLOCK_BYTES) {
    yield stuff(bytes, { start, end: start + BLOCK_BYTES, tail: "" });
  }
}

/**
 * The last block together with the final dot and the commands that follow it, so that a small
 * message needs a single write.
 */
export function finalBlock(message: Uint8Array, commands = ""): Buffer {
  const bytes = viewOf(message);
  const end = bytes.length === 0 || endsLine(bytes) ? ".\r\n" : "\r\n.\r\n";
  const tail = end + commands;
  return stuff(bytes, { start: lastBlockStart(bytes), end: bytes.length, tail });
}

function lastBlockStart(bytes: Buffer): number {
  return Math.floor(Math.max(0, bytes.length - 1) / BLOCK_BYTES) * BLOCK_BYTES;
}

function endsLine(bytes: Buffer): boolean {
  return bytes.at(-1) === LF && bytes.at(-2) === 0x0d;
}

function stuff(bytes: Buffer, part: { start: number; end: number; tail: string }): Buffer {
  const dots = lineStartDots(bytes, part.start, part.end);
  if (dots.length === 0 && part.tail === "") return bytes.subarray(part.start, part.end);

  const out = Buffer.allocUnsafe(
    part.end - part.start + dots.length + Buffer.byteLength(part.tail),
  );
  let from = part.start;
  let to = 0;
  for (const dot of dots) {
    to += bytes.copy(out, to, from, dot);
    out[to++] = DOT;
    from = dot;
  }
  to += bytes.copy(out, to, from, part.end);
  out.write(part.tail, to);
  return out;
}

/**
 * Positions of the dots to double. This includes a dot after a bare LF: messages have no bare LF,
 * but a receiver that accepts LF as a line end must never find the end of the data inside a
 * message.
 */
function lineStartDots(bytes: Buffer, start: number, end: number): number[] {
  const dots: number[] = [];
  if (start === 0 && end > 0 && bytes[0] === DOT) dots.push(0);
  const offset = Math.max(0, start - 1);
  const block = bytes.subarray(offset, end);
  let at = block.indexOf(LINE_START_DOT);
  while (at !== -1) {
    dots.push(offset + at + 1);
    at = block.indexOf(LINE_START_DOT, at + 1);
  }
  return dots;
}

function viewOf(message: Uint8Array): Buffer {
  if (Buffer.isBuffer(message)) return message;
  return Buffer.from(message.buffer, message.byteOffset, message.byteLength);
}
