/** Encodes the content of a part as a stream: quoted-printable and base64 (RFC 2045 §6.7, §6.8). */

export type TransferEncoder = {
  add(bytes: Buffer): Buffer;
  /** Returns what is left, without a line end. */
  end(): Buffer;
};

const LF = 0x0a;
const CR = 0x0d;
const SPACE = 0x20;
const TAB = 0x09;
const EQUALS = 0x3d;
/** Octets of a line without its soft line break. */
const QP_LINE = 75;
const HEX = Buffer.from("0123456789ABCDEF");
/** Whether an octet stands for itself anywhere in a line. */
const IS_LITERAL = Array.from({ length: 256 }, (_, octet) => {
  return octet > SPACE && octet < 0x7f && octet !== EQUALS;
});

export function createQuotedPrintable(): TransferEncoder {
  let out = Buffer.alloc(0);
  let written = 0;
  let column = 0;
  /** A blank or CR that waits for the next octet; -1 for none. */
  let held = -1;

  /** Ends the line softly if `length` more octets do not fit. */
  function reserve(length: number): void {
    if (column + length > QP_LINE) {
      out[written++] = EQUALS;
      out[written++] = CR;
      out[written++] = LF;
      column = 0;
    }
    column += length;
  }

  function writeLiteral(octet: number): void {
    reserve(1);
    out[written++] = octet;
  }

  function writeEscaped(octet: number): void {
    reserve(3);
    out[written++] = EQUALS;
    out[written++] = HEX[octet >> 4] ?? 0;
    out[written++] = HEX[octet & 15] ?? 0;
  }

  /** Writes the octet that waits; a blank at the end of a line would be lost. */
  function release(isLineEnd: boolean): void {
    if (held === CR || isLineEnd) writeEscaped(held);
    else writeLiteral(held);
    held = -1;
  }

  function addOctet(octet: number): void {
    if (octet === LF && held === CR) {
      out[written++] = CR;
      out[written++] = LF;
      column = 0;
      held = -1;
      return;
    }
    if (held !== -1) release(octet === CR);
    if (IS_LITERAL[octet]) writeLiteral(octet);
    else if (octet === SPACE || octet === TAB || octet === CR) held = octet;
    else writeEscaped(octet);
  }

  function take(): Buffer {
    const result = out.subarray(0, written);
    out = Buffer.alloc(0);
    written = 0;
    return result;
  }

  return {
    add(bytes) {
      // Three octets for each one, and a soft line break after 73 of them at least.
      out = Buffer.allocUnsafe(4 * bytes.byteLength + 16);
      for (const octet of bytes) addOctet(octet);
      return take();
    },
    end() {
      out = Buffer.allocUnsafe(16);
      if (held !== -1) release(true);
      return take();
    },
  };
}

/** Octets of a line of 76 characters. */
const BASE64_LINE = 57;
const LINE_END = Buffer.from("\r\n");

export function createBase64(): TransferEncoder {
  let rest: Buffer = Buffer.alloc(0);
  let isFirst = true;

  function linesOf(bytes: Buffer): Buffer {
    const lines: Buffer[] = [];
    for (let at = 0; at < bytes.byteLength; at += BASE64_LINE) {
      if (!isFirst) lines.push(LINE_END);
      isFirst = false;
      lines.push(Buffer.from(bytes.toString("base64", at, at + BASE64_LINE), "latin1"));
    }
    return Buffer.concat(lines);
  }

  return {
    add(bytes) {
      const all = Buffer.concat([rest, bytes]);
      const whole = all.byteLength - (all.byteLength % BASE64_LINE);
      rest = all.subarray(whole);
      return linesOf(all.subarray(0, whole));
    },
    end() {
      const last = linesOf(rest);
      rest = Buffer.alloc(0);
      return last;
    },
  };
}

const BASE64_CHARACTERS = 76;

/** Breaks the lines of base64 again, and removes octets that are not base64. */
export function createBase64Lines(): TransferEncoder {
  let column = 0;
  return {
    add(bytes) {
      const text = bytes.toString("latin1").replace(/[^A-Za-z0-9+/=]+/g, "");
      const lines: string[] = [];
      for (let at = 0; at < text.length;) {
        if (column === BASE64_CHARACTERS) {
          lines.push("\r\n");
          column = 0;
        }
        const line = text.slice(at, at + BASE64_CHARACTERS - column);
        lines.push(line);
        at += line.length;
        column += line.length;
      }
      return Buffer.from(lines.join(""), "latin1");
    },
    end: () => Buffer.alloc(0),
  };
}
