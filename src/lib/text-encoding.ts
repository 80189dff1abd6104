/**
 * Guesses the encoding of a text from a stream of its bytes. A byte order mark decides. Without one,
 * bytes of zero in every second place are UTF-16, and text that is not valid UTF-8 has one byte for
 * each character: Windows-1251 or KOI8-R if most of its words are Cyrillic, Windows-1250 if it has
 * letters of it where Windows-1252 has signs, and otherwise Windows-1252, which includes Latin-1
 * (WHATWG Encoding).
 */

export type TextEncoding =
  "utf-8" | "windows-1252" | "windows-1250" | "windows-1251" | "koi8-r" | "utf-16le" | "utf-16be";

/** A decoder for any encoding; the types of Bun know only a few of them. */
export function createDecoder(label: string): TextDecoder {
  const decoder: TextDecoder = Reflect.construct(TextDecoder, [label]);
  return decoder;
}

/** The encoding with a label (WHATWG Encoding §4.2); null if there is none. */
export function encodingNamed(label: string): string | null {
  try {
    const decoder = createDecoder(label.trim());
    return ENCODINGS.has(decoder.encoding) ? decoder.encoding : null;
  } catch {
    return null;
  }
}

const ENCODINGS = new Set(
  `utf-8 utf-16le utf-16be ibm866 iso-8859-2 iso-8859-3 iso-8859-4 iso-8859-5 iso-8859-6 iso-8859-7
   iso-8859-8 iso-8859-10 iso-8859-13 iso-8859-14 iso-8859-15 iso-8859-16 koi8-r koi8-u macintosh
   windows-874 windows-1250 windows-1251 windows-1252 windows-1253 windows-1254 windows-1255
   windows-1256 windows-1257 windows-1258 x-mac-cyrillic gbk gb18030 big5 euc-jp iso-2022-jp shift_jis
   euc-kr`.split(/\s+/),
);

const REPLACEMENT = "\u{fffd}";
const LONGEST_MARK = 2;

/** Fewer letters in a row may be those of a western language. */
const LONG_ROW = 5;
const MOST_EXAMINED = 1024 * 1024;
/** Letters of Windows-1250 such as ą, ł, ż, ś, ź, ľ and ť that Windows-1252 has no letters for. */
const CENTRAL_EUROPEAN = new Set([0xb9, 0xb3, 0xbf, 0xbe, 0x9d, 0x8d, 0x8f, 0xa3, 0xaf, 0xbc]);

/** A letter of ASCII, or a byte that is a letter in most encodings. */
const isLetter = (byte: number): boolean =>
  (byte >= 0x61 && byte <= 0x7a) || (byte >= 0x41 && byte <= 0x5a) || byte >= 0xc0;

type EncodingGuess = {
  /** Adds the next bytes. */
  see(bytes: Uint8Array): void;
  /** Returns the encoding of all bytes. */
  result(): TextEncoding;
};

export function guessEncoding(): EncodingGuess {
  const statistics = createByteStatistics();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let start = Buffer.alloc(0);
  /** Number of invalid UTF-8 sequences. */
  let invalid = 0;
  let bytesSeen = 0;
  let charactersSeen = 0;

  function count(text: string): void {
    charactersSeen += text.length;
    if (text.includes(REPLACEMENT)) invalid += text.split(REPLACEMENT).length - 1;
  }

  return {
    see(bytes) {
      if (start.byteLength < LONGEST_MARK) {
        start = Buffer.concat([start, bytes.subarray(0, LONGEST_MARK)]);
      }
      bytesSeen += bytes.byteLength;
      count(decoder.decode(bytes, { stream: true }));
      statistics.add(bytes);
    },
    result() {
      count(decoder.decode());
      if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
      if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
      const wide = statistics.wideEncoding();
      if (wide !== null) return wide;
      // A few invalid bytes in much valid UTF-8 are damage, not another encoding. They are compared
      // with the number of continuation bytes of valid characters.
      return invalid > bytesSeen - charactersSeen ? statistics.oneByteEncoding() : "utf-8";
    },
  };
}

/** Counts bytes at the start of a text, which tell the encodings apart that any bytes are valid in. */
function createByteStatistics() {
  let previous = 0;
  let beforePrevious = 0;
  let examined = 0;
  /** Bytes of zero in even and in odd places. */
  const zeros = [0, 0];
  /** Bytes above 127, and those of them that stand in a row of at least three. */
  let high = 0;
  let inRow = 0;
  let row = 0;
  let longestRow = 0;
  /** Letters of the rows in the half that has small letters in KOI8-R, and in the other one. */
  let lowerHalf = 0;
  let centralEuropean = 0;
  let western = 0;

  function examine(byte: number): void {
    const place = examined++ % 2;
    if (byte === 0) zeros[place] = (zeros[place] ?? 0) + 1;
    row = byte >= 0xc0 ? row + 1 : 0;
    if (byte >= 0x80) high++;
    longestRow = Math.max(longestRow, row);
    if (row === 3) inRow += 3;
    if (row > 3) inRow++;
    if (row >= 3 && byte < 0xe0) lowerHalf++;
    if (CENTRAL_EUROPEAN.has(previous) && isLetter(beforePrevious) && isLetter(byte)) {
      centralEuropean++;
    }
    if (byte === 0xe7 || byte === 0xe3 || byte === 0xf1) western++;
    beforePrevious = previous;
    previous = byte;
  }

  function oneByteEncoding(): TextEncoding {
    if (longestRow >= LONG_ROW && inRow > high * 0.6)
      return lowerHalf > inRow / 2 ? "koi8-r" : "windows-1251";
    return centralEuropean > western ? "windows-1250" : "windows-1252";
  }

  /** UTF-16 without its byte order mark; null for another encoding. */
  function wideEncoding(): TextEncoding | null {
    const [even = 0, odd = 0] = zeros;
    if (odd > examined / 5 && even === 0) return "utf-16le";
    return even > examined / 5 && odd === 0 ? "utf-16be" : null;
  }

  return {
    /** Examines the next bytes, unless enough were examined, which decide as well. */
    add(bytes: Uint8Array): void {
      for (const byte of bytes.subarray(0, MOST_EXAMINED - examined)) examine(byte);
    },
    oneByteEncoding,
    wideEncoding,
  };
}
