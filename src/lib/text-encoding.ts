/**
 * Guesses the encoding of a text from a stream of its bytes. A byte order mark decides. Without one,
 * bytes of zero in every second place are UTF-16. Text that is not valid UTF-8 is read in each of the
 * other encodings, and the one in which its words are plausible wins (encoding-plausibility.ts). If
 * several do, the guess is not sure, and it says how the first word differs.
 */

import { isAscii } from "node:buffer";
import {
  centralLanguages,
  commonShare,
  foreignWords,
  isPlausible,
  type Script,
} from "./encoding-plausibility.ts";

/** A decoder for any encoding; the types of Bun know only a few of them. */
export function createDecoder(label: string): Pick<TextDecoder, "decode"> {
  if (label === IBM850) return { decode: decodeIbm850 };
  return textDecoder(label);
}

function textDecoder(label: string): TextDecoder {
  const decoder: TextDecoder = Reflect.construct(TextDecoder, [label]);
  return decoder;
}

/** The encoding with a label (WHATWG Encoding §4.2), or ibm850; null if there is none. */
export function encodingNamed(label: string): string | null {
  if (/^(?:ibm|cp)-?850$/i.test(label.trim())) return IBM850;
  try {
    const { encoding } = textDecoder(label.trim());
    return ENCODINGS.has(encoding) ? encoding : null;
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

/** The code page of DOS in western Europe, which WHATWG Encoding does not contain. */
const IBM850 = "ibm850";
const IBM850_LETTERS =
  "ÇüéâäàåçêëèïîìÄÅÉæÆôöòûùÿÖÜø£Ø×ƒáíóúñÑªº¿®¬½¼¡«»░▒▓│┤ÁÂÀ©╣║╗╝¢¥┐└┴┬├─┼ãÃ╚╔╩╦╠═╬¤ðÐÊËÈıÍÎÏ┘┌█▄¦Ì▀ÓßÔÒõÕµþÞÚÛÙýÝ¯´" +
  "\u00ad±‗¾¶§÷¸°¨·¹³²■\u00a0";

function decodeIbm850(bytes?: Parameters<TextDecoder["decode"]>[0]): string {
  if (bytes === undefined) return "";
  const view = ArrayBuffer.isView(bytes)
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
    : Buffer.from(bytes);
  return view
    .toString("latin1")
    .replace(/[\u0080-\u00ff]/g, (letter) => IBM850_LETTERS.charAt(letter.charCodeAt(0) - 0x80));
}

const CANDIDATES: readonly (readonly [encoding: string, script: Script])[] = [
  ["windows-1252", "western"],
  ["windows-1250", "central"],
  ["iso-8859-2", "central"],
  ["windows-1254", "turkish"],
  ["windows-1251", "cyrillic"],
  ["koi8-r", "cyrillic"],
  ["ibm866", "cyrillic"],
  ["windows-1253", "greek"],
  ["windows-1255", "hebrew"],
  ["windows-1256", "arabic"],
  ["windows-874", "thai"],
  ["macintosh", "western"],
  [IBM850, "western"],
  ["shift_jis", "japanese"],
  ["euc-jp", "japanese"],
  ["gb18030", "chinese"],
  ["big5", "chinese"],
  ["euc-kr", "korean"],
];

/** Encodings of old systems, which are never taken without a question. */
const RARE = new Set(["macintosh", IBM850]);
const RARE_WEIGHT = 0.75;

const REPLACEMENT = "\u{fffd}";
const LONGEST_MARK = 2;
const MOST_EXAMINED = 1024 * 1024;
/** Bytes of words that are compared. */
const SAMPLE_BYTES = 6 * 1024;
const LONGEST_WORD = 64;
const LONGEST_READING = 24;
/** Score of a good reading, and the lead that it needs. */
const GOOD = 0.85;
const LEAD = 0.2;
/** Scripts that have a letter for nearly each byte, so that few words look typical by chance. */
const DENSE = new Set<Script>(["cyrillic", "greek", "hebrew", "arabic", "thai"]);
/** Letters from which the letters that are common in a script decide between them. */
const ENOUGH_LETTERS = 40;
/** Share of common letters from which words are typical of a script. */
const TYPICAL_FROM = 0.3;
const TYPICAL_SPAN = 0.3;

type EncodingGuess = {
  encoding: string;
  /** Two ways to read a word, if the guess is not sure. */
  doubt: { word: string; encoding: string }[] | null;
};

type EncodingGuesser = {
  /** Adds the next bytes. */
  see(bytes: Uint8Array): void;
  /** Returns the encoding of all bytes. */
  result(): EncodingGuess;
};

const sure = (encoding: string): EncodingGuess => ({ encoding, doubt: null });

export function guessEncoding(): EncodingGuesser {
  const words = createWordSample();
  const zeros = createZeroCount();
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let start = Buffer.alloc(0);
  /** Number of invalid UTF-8 sequences. */
  let invalid = 0;
  let bytesSeen = 0;
  let charactersSeen = 0;
  let hasEscapes = false;
  let lastCharacter = "";

  function count(text: string): void {
    charactersSeen += text.length;
    if (text.includes(REPLACEMENT)) invalid += text.split(REPLACEMENT).length - 1;
    // ISO-2022-JP switches its letters with this sequence.
    hasEscapes ||= (lastCharacter + text).includes("\u001b$");
    lastCharacter = text.at(-1) ?? lastCharacter;
  }

  return {
    see(bytes) {
      if (start.byteLength < LONGEST_MARK) {
        start = Buffer.concat([start, bytes.subarray(0, LONGEST_MARK)]);
      }
      bytesSeen += bytes.byteLength;
      count(decoder.decode(bytes, { stream: true }));
      zeros.add(bytes);
      words.add(bytes);
    },
    result() {
      count(decoder.decode());
      if (start[0] === 0xff && start[1] === 0xfe) return sure("utf-16le");
      if (start[0] === 0xfe && start[1] === 0xff) return sure("utf-16be");
      const wide = zeros.wideEncoding();
      if (wide !== null) return sure(wide);
      if (hasEscapes) return sure("iso-2022-jp");
      // A few invalid bytes in much valid UTF-8 are damage, not another encoding. They are compared
      // with the number of continuation bytes of valid characters, because a few letters of another
      // encoding can be valid by chance.
      return invalid * 3 > bytesSeen - charactersSeen ? guessFrom(words.bytes()) : sure("utf-8");
    },
  };
}

type Reading = {
  encoding: string;
  script: Script;
  words: string[];
  /** Share of the words that are plausible. */
  share: number;
  score: number;
};

/** The encoding in which the words are the most plausible. */
function guessFrom(sample: Buffer): EncodingGuess {
  const readings = readingsOf(sample).toSorted((a, b) => b.score - a.score);
  const [best, ...others] = readings;
  if (best === undefined) return sure("windows-1252");
  const rivals = others.filter((other) => isRival(best, other));
  const rival = rivals.find(({ script }) => script !== best.script) ?? rivals[0];
  const isGood = best.score >= GOOD;
  if (isGood && rival === undefined) return sure(best.encoding);
  const other = rival ?? others.find(({ words }) => differingWord(best, words) !== undefined);
  return { encoding: best.encoding, doubt: doubtBetween(best, other ?? best) };
}

/** Letters that are ordinary in western languages, and rare in the words that others read in them. */
const MOSTLY_WESTERN = /^[ -~àâäãåáçéèêëíîïñóôöúüÿ’‘“”…–€°²³º·]+$/iu;

/** True if the other reading is nearly as good as the best, and another one. */
function isRival(best: Reading, other: Reading): boolean {
  if (isShort(best) && DENSE.has(best.script) && DENSE.has(other.script) && other.share === 1) {
    return true;
  }
  if (other.score <= best.score - LEAD || other.score === 0) return false;
  const at = best.words.findIndex((word, i) => word !== other.words[i]);
  if (at === -1) return false;
  if (best.encoding !== "windows-1252") return true;
  if (other.script === "western") return false;
  return best.words.some((word, i) => word !== other.words[i] && !MOSTLY_WESTERN.test(word));
}

const isShort = ({ words }: Reading): boolean =>
  words.join("").replace(/[ -~]/g, "").length < ENOUGH_LETTERS;

const differingWord = (best: Reading, words: readonly string[]) =>
  best.words.find((word, i) => word !== words[i]);

function doubtBetween(best: Reading, other: Reading): NonNullable<EncodingGuess["doubt"]> {
  const at = Math.max(
    0,
    best.words.findIndex((word, i) => word !== other.words[i]),
  );
  return [best, other].map(({ encoding, words }) => ({
    encoding,
    word: (words[at] ?? "").slice(0, LONGEST_READING).replace(/[\u0080-\u009f]/g, REPLACEMENT),
  }));
}

function readingsOf(sample: Buffer): Reading[] {
  const western = foreignWords(createDecoder("windows-1252").decode(sample));
  return CANDIDATES.map(([encoding, script]) => {
    const words = foreignWords(createDecoder(encoding).decode(sample));
    const isLikeWestern = (word: string, i: number) =>
      word === western[i] && isPlausible(word, "western");
    const plausible = words.filter(
      (word, i) => isPlausible(word, script) || (script === "central" && isLikeWestern(word, i)),
    );
    const share = plausible.length / Math.max(1, words.length);
    // Hebrew in Windows-1255 is Cyrillic capitals in KOI8-R.
    const isShouted = encoding === "koi8-r" && words.every((word) => word === word.toUpperCase());
    const weight = RARE.has(encoding) || isShouted ? RARE_WEIGHT : 1;
    return {
      encoding,
      script,
      words,
      share,
      score: share * weight * weightOf(script, words, western),
    };
  });
}

/** The degree to which the words are typical for the script, from 0 to 1. */
function weightOf(script: Script, words: readonly string[], western: readonly string[]): number {
  if (script === "western" || script === "central" || script === "turkish") {
    // A word does not end with a quotation mark that was never opened.
    const isOpened = words.some((word) => /^[“”„]/u.test(word));
    if (!isOpened && words.some((word) => /[”‚„]$/u.test(word))) return 0.5;
  }
  if (script === "central") {
    const own = words.filter((word, i) => word !== western[i]).map(centralLanguages);
    const counts = new Map<number, number>();
    for (const language of own.flat()) counts.set(language, (counts.get(language) ?? 0) + 1);
    return own.length === 0 ? 1 : 0.5 + Math.max(0, ...counts.values()) / own.length / 2;
  }
  if (script === "western" || script === "turkish") return 1;
  return Math.min(1, Math.max(0, (commonShare(words, script) - TYPICAL_FROM) / TYPICAL_SPAN));
}

/** Keeps the first words that have bytes above 127, with blanks between them. */
function createWordSample() {
  const sample: Buffer[] = [];
  let size = 0;
  let word: number[] = [];
  let isForeign = false;

  function end(): void {
    if (isForeign && word.length > 0) {
      sample.push(Buffer.from([...word, 0x20]));
      size += word.length + 1;
    }
    word = [];
    isForeign = false;
  }

  function examine(bytes: Uint8Array): void {
    for (const byte of bytes) {
      if (size >= SAMPLE_BYTES) return;
      // No encoding of several bytes for a character has these bytes in it.
      if (byte <= 0x20 || byte === 0x22 || byte === 0x2c || byte === 0x3b) {
        end();
        continue;
      }
      if (byte >= 0x80) isForeign = true;
      if (word.length < LONGEST_WORD) word.push(byte);
    }
  }

  return {
    add(bytes: Uint8Array): void {
      // In a long run of bytes below 128, only the ends can belong to words with other bytes.
      if (bytes.byteLength <= 2 * LONGEST_WORD || !isAscii(bytes)) return examine(bytes);
      examine(bytes.subarray(0, LONGEST_WORD));
      end();
      examine(bytes.subarray(-LONGEST_WORD));
    },
    bytes(): Buffer {
      end();
      return Buffer.concat(sample);
    },
  };
}

/** Counts the bytes of zero in even and in odd places at the start of a text. */
function createZeroCount() {
  const zeros = [0, 0];
  let examined = 0;
  return {
    add(bytes: Uint8Array): void {
      for (const byte of bytes.subarray(0, MOST_EXAMINED - examined)) {
        const place = examined++ % 2;
        if (byte === 0) zeros[place] = (zeros[place] ?? 0) + 1;
      }
    },
    /** UTF-16 without its byte order mark; null for another encoding. */
    wideEncoding(): string | null {
      const [even = 0, odd = 0] = zeros;
      if (odd > examined / 5 && even === 0) return "utf-16le";
      return even > examined / 5 && odd === 0 ? "utf-16be" : null;
    },
  };
}
