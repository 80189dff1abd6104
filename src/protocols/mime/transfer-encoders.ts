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
const HEX = "0123456789ABCDEF";

export function createQuotedPrintable(): TransferEncoder {
  let column = 0;
  /** A blank or CR that waits for the next octet; -1 for none. */
  let held = -1;

  function write(out: number[], text: readonly number[]): void {
    if (column + text.length > QP_LINE) {
      out.push(EQUALS, CR, LF);
      column = 0;
    }
    out.push(...text);
    column += text.length;
  }

  function writeOctet(out: number[], octet: number): void {
    const isLiteral = octet >= SPACE && octet < 0x7f && octet !== EQUALS;
    write(out, isLiteral || octet === TAB ? [octet] : escaped(octet));
  }

  function addOctet(out: number[], octet: number): void {
    if (octet === LF && held === CR) {
      out.push(CR, LF);
      column = 0;
      held = -1;
      return;
    }
    if (held === SPACE || held === TAB) {
      // A blank at the end of a line would be lost.
      write(out, octet === CR ? escaped(held) : [held]);
    } else if (held !== -1) writeOctet(out, held);
    held = -1;
    if (octet === SPACE || octet === TAB || octet === CR) held = octet;
    else writeOctet(out, octet);
  }

  return {
    add(bytes) {
      const out: number[] = [];
      for (const octet of bytes) addOctet(out, octet);
      return Buffer.from(out);
    },
    end() {
      const out: number[] = [];
      if (held !== -1) write(out, escaped(held));
      held = -1;
      return Buffer.from(out);
    },
  };
}

function escaped(octet: number): number[] {
  return [EQUALS, HEX.charCodeAt(octet >> 4), HEX.charCodeAt(octet & 15)];
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
