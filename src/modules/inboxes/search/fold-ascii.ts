/**
 * `foldText` and `singleSpaces` for bytes of ASCII. Most short messages are ASCII; one pass over their
 * bytes takes a fraction of the time of several passes over a string.
 */

const SPACE = 0x20;
/** A byte that is not ASCII. */
const OTHER = 0x80;
/** Longest text. */
export const MAX_ASCII_BYTES = 4 * 1024;
/** Every text is translated into this memory. */
const output = Buffer.alloc(MAX_ASCII_BYTES);

const SPACED = tableOf((character) => (/\s/.test(character) ? " " : character));
const FOLDED = tableOf((character) =>
  /[\s<>",;\0]/.test(character) ? " " : character.toLowerCase(),
);

function tableOf(change: (character: string) => string): Uint8Array {
  return Uint8Array.from({ length: 256 }, (_, code) =>
    code < OTHER ? change(String.fromCharCode(code)).charCodeAt(0) : OTHER,
  );
}

/** Null if the text has other characters or is too long. */
export function foldAscii(text: Uint8Array): string | null {
  return translate(text, FOLDED, text.byteLength);
}

/** The first characters of the text with single spaces. Null if there are other characters in them. */
export function spacedAscii(text: Uint8Array, characters: number): string | null {
  return translate(text, SPACED, characters);
}

function translate(text: Uint8Array, table: Uint8Array, most: number): string | null {
  if (Math.min(text.byteLength, most) > MAX_ASCII_BYTES) return null;
  let written = 0;
  let previous = SPACE;
  for (let at = 0; at < text.length && written < most; at++) {
    const code = table[text[at] ?? OTHER] ?? OTHER;
    if (code === OTHER) return null;
    if (code === SPACE && previous === SPACE) continue;
    output[written++] = code;
    previous = code;
  }
  return output.toString("latin1", 0, written).trim();
}
