/**
 * Which encoding a text is in, told by its bytes going by: a byte order mark decides, then whether
 * the bytes are UTF-8. Windows-1252 is what programs write that call it Latin-1 (WHATWG Encoding).
 */

export const TEXT_ENCODINGS = ["utf-8", "windows-1252", "utf-16le", "utf-16be"] as const;
export type TextEncoding = (typeof TEXT_ENCODINGS)[number];

const REPLACEMENT = "\u{fffd}";
const LONGEST_MARK = 2;

export type EncodingGuess = {
  /** Takes the next bytes. */
  see(bytes: Uint8Array): void;
  /** What all of them together are. */
  result(): TextEncoding;
};

export function guessEncoding(): EncodingGuess {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let start = Buffer.alloc(0);
  /** What is no UTF-8. */
  let strange = 0;
  let bytesSeen = 0;
  let charactersSeen = 0;

  function weigh(text: string): void {
    charactersSeen += text.length;
    if (text.includes(REPLACEMENT)) strange += text.split(REPLACEMENT).length - 1;
  }

  return {
    see(bytes) {
      if (start.byteLength < LONGEST_MARK) {
        start = Buffer.concat([start, bytes.subarray(0, LONGEST_MARK)]);
      }
      bytesSeen += bytes.byteLength;
      weigh(decoder.decode(bytes, { stream: true }));
    },
    result() {
      weigh(decoder.decode());
      if (start[0] === 0xff && start[1] === 0xfe) return "utf-16le";
      if (start[0] === 0xfe && start[1] === 0xff) return "utf-16be";
      // A few broken bytes in much good UTF-8 are damage, not another encoding. What tells is how
      // many bytes belong to characters of more than one.
      return strange > bytesSeen - charactersSeen ? "windows-1252" : "utf-8";
    },
  };
}
