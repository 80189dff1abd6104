/**
 * Guesses the encoding of a text from a stream of its bytes. A byte order mark decides; without
 * one, text that is not valid UTF-8 is Windows-1252, which includes Latin-1 (WHATWG Encoding).
 */

export const TEXT_ENCODINGS = ["utf-8", "windows-1252", "utf-16le", "utf-16be"] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

const REPLACEMENT = "\u{fffd}";
const LONGEST_MARK = 2;

type EncodingGuess = {
  /** Adds the next bytes. */
  see(bytes: Uint8Array): void;
  /** Returns the encoding of all bytes. */
  result(): TextEncoding;
};

export function guessEncoding(): EncodingGuess {
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
    },
    result() {
      count(decoder.decode());
      if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
      if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
      // A few invalid bytes in much valid UTF-8 are damage, not another encoding. They are compared
      // with the number of continuation bytes of valid characters.
      return invalid > bytesSeen - charactersSeen ? "windows-1252" : "utf-8";
    },
  };
}
