/**
 * Messages in an mbox file (RFC 4155): each begins with a line `From …` after an empty line. In a
 * message, `>From`, `>>From` and so on stand for lines with one `>` less (the form mboxrd).
 */

const LF = 0x0a;
const CR = 0x0d;
const GREATER = 0x3e;
const CRLF = Buffer.from("\r\n");
/** A longer line is passed on in pieces. */
const MAX_LINE_BYTES = 1024 * 1024;

/** A line without its end, or a piece of a long one. */
type Line = { bytes: Buffer; isStart: boolean; isEnd: boolean };

/** One message, with lines that end with CRLF; null if it is larger than the limit. */
type Message = Buffer | null;

async function* linesOf(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Line> {
  let rest: Buffer = Buffer.alloc(0);
  let isStart = true;
  for await (const piece of pieces) {
    let all = rest.byteLength === 0 ? Buffer.from(piece) : Buffer.concat([rest, piece]);
    for (let end = all.indexOf(LF); end !== -1; end = all.indexOf(LF)) {
      const withCr = end > 0 && all[end - 1] === CR;
      yield { bytes: all.subarray(0, withCr ? end - 1 : end), isStart, isEnd: true };
      isStart = true;
      all = all.subarray(end + 1);
    }
    rest = all;
    if (rest.byteLength > MAX_LINE_BYTES) {
      // A final CR may belong to the end of the line, so it waits for the next piece.
      const length = rest.at(-1) === CR ? rest.byteLength - 1 : rest.byteLength;
      yield { bytes: rest.subarray(0, length), isStart, isEnd: false };
      rest = rest.subarray(length);
      isStart = false;
    }
  }
  if (rest.byteLength > 0) yield { bytes: rest, isStart, isEnd: false };
}

export async function* splitMbox(
  pieces: AsyncIterable<Uint8Array>,
  maxBytes: number,
): AsyncGenerator<Message> {
  let message = createMessage(maxBytes);
  let hasMessage = false;
  let isAfterBlank = true;
  for await (const line of linesOf(pieces)) {
    const isFirst = !hasMessage && beginsWithFrom(line.bytes);
    if (line.isStart && isAfterBlank && (isFirst || isSeparator(line.bytes))) {
      if (hasMessage) yield message.take();
      message = createMessage(maxBytes);
      hasMessage = true;
      isAfterBlank = false;
      continue;
    }
    isAfterBlank = line.isStart && line.isEnd && line.bytes.byteLength === 0;
    message.add({ ...line, bytes: line.isStart ? unescaped(line.bytes) : line.bytes });
  }
  if (hasMessage) yield message.take();
}

function createMessage(maxBytes: number) {
  const parts: Buffer[] = [];
  let bytes = 0;
  /** The empty line before a separator belongs to the file, not to the message. */
  let blankLines = 0;

  return {
    add({ bytes: text, isEnd }: Line): void {
      if (isEnd && text.byteLength === 0) return void blankLines++;
      for (; blankLines > 0; blankLines--) parts.push(CRLF);
      bytes += text.byteLength + 2;
      if (bytes > maxBytes) parts.length = 0;
      else parts.push(text, ...(isEnd ? [CRLF] : []));
    },
    take(): Message {
      for (; blankLines > 1; blankLines--) parts.push(CRLF);
      return bytes > maxBytes ? null : Buffer.concat(parts);
    },
  };
}

export function beginsWithFrom(line: Uint8Array): boolean {
  return Buffer.from(line.subarray(0, 5)).toString("latin1") === "From ";
}

/**
 * A separator ends with a date, which tells it from a line of text that was not escaped. The first
 * line of a file needs none.
 */
function isSeparator(line: Uint8Array): boolean {
  return (
    beginsWithFrom(line) && / \d\d:\d\d/.test(Buffer.from(line.subarray(0, 500)).toString("latin1"))
  );
}

function unescaped(line: Buffer): Buffer {
  return line[0] === GREATER && needsEscape(line) ? line.subarray(1) : line;
}

/** True for `From `, `>From `, `>>From ` and so on. */
function needsEscape(line: Uint8Array): boolean {
  let at = 0;
  while (line[at] === GREATER) at++;
  return beginsWithFrom(line.subarray(at));
}

/** A message as mbox has it: with LF, `From` lines escaped, and an empty line at the end. */
export async function mboxEntry(
  raw: Uint8Array,
  { sender, receivedAt }: { sender: string; receivedAt: Date },
): Promise<Buffer> {
  const day = receivedAt.toUTCString().slice(0, 3);
  const [, date = "", month = "", year = "", time = ""] = receivedAt.toUTCString().split(" ");
  const head = `From ${sender || "MAILER-DAEMON"} ${day} ${month} ${date} ${time} ${year}\n`;
  const parts: Buffer[] = [Buffer.from(head)];
  for await (const { bytes, isStart, isEnd } of linesOf(once(raw))) {
    if (isStart && needsEscape(bytes)) parts.push(Buffer.from(">"));
    parts.push(bytes, Buffer.from(isEnd ? "\n" : ""));
  }
  const isEnded = raw.at(-1) === LF;
  parts.push(Buffer.from(isEnded ? "\n" : "\n\n"));
  return Buffer.concat(parts);
}

async function* once(bytes: Uint8Array): AsyncGenerator<Uint8Array> {
  yield bytes;
}

/** The message with lines that end with CRLF. */
export async function withCrlf(raw: Uint8Array): Promise<Buffer> {
  const parts: Buffer[] = [];
  for await (const { bytes, isEnd } of linesOf(once(raw))) {
    parts.push(bytes);
    if (isEnd) parts.push(CRLF);
  }
  return Buffer.concat(parts);
}
