/**
 * Finds the end of a placeholder `{{ … }}` and its alternatives.
 *
 * A placeholder is `value | filters ?? value | filters ?? text | filters`. Each character is read
 * at most a fixed number of times, so that a scan takes time linear in the length of the source.
 */

/** Offsets of one alternative: its value, then its filters, which begin with a `|`. */
export type Alternative = {
  readonly from: number;
  /** The offset of the first `|`; equal to `to` if there are no filters. */
  readonly pipe: number;
  readonly to: number;
  /** True if quotes enclose the whole value of an alternative after a `??`. */
  readonly isQuoted: boolean;
};

export type Scan = {
  readonly alternatives: readonly Alternative[];
  /** The offset of the closing `}}`, or the end of the text that was scanned. */
  readonly close: number;
  /** True if a `&` occurs outside of strings: it may begin an entity that an HTML editor wrote. */
  readonly hasAmpersand: boolean;
};

/** Scans from the offset after the `{{`; null if the placeholder is not closed. */
export function scanPlaceholder(source: string, from: number): Scan | null {
  return new Scanner(source, from, null).scan();
}

/** Scans text that is the whole content of a placeholder. */
export function scanContent(content: string): Scan {
  const scan = new Scanner(content, 0, content.length).scan();
  if (scan === null) throw new Error("The end of a placeholder's content was not found.");
  return scan;
}

class Scanner {
  readonly #source: string;
  /** The offset at which the content ends; null if it ends at the next `}}`. */
  readonly #end: number | null;
  readonly #alternatives: Alternative[] = [];
  #from: number;
  #pipe: number | null = null;
  #isQuoted = false;
  /** True while quotes delimit strings, which they do not between a `??` and its filters. */
  #hasStrings = true;
  #hasAmpersand = false;

  constructor(source: string, start: number, end: number | null) {
    this.#source = source;
    this.#from = start;
    this.#end = end;
  }

  scan(): Scan | null {
    const source = this.#source;
    const end = this.#end;
    let i = this.#from;
    while (i < (end ?? source.length)) {
      if (end === null && source.startsWith("}}", i)) return this.#finish(i);
      i = this.#step(i);
    }
    return end === null ? null : this.#finish(end);
  }

  /** Reads one character, string or operator, and returns the offset after it. */
  #step(i: number): number {
    const source = this.#source;
    if (source.startsWith("??", i)) return this.#nextAlternative(i);
    const char = source[i];
    if (char === "|") {
      this.#pipe ??= i;
      this.#hasStrings = true;
    } else if (char === "&") {
      this.#hasAmpersand = true;
    } else if (this.#hasStrings && isQuote(char) && canOpenString(source, i)) {
      return this.#endOfString(i) ?? i + 1;
    }
    return i + 1;
  }

  /**
   * The offset after the string that begins at `open`. A quote in a value may also be a character
   * of a key, as in "the '90s": then the result is null.
   */
  #endOfString(open: number): number | null {
    const end = endOfString(this.#source, open);
    if (this.#pipe !== null) return end ?? this.#source.length;
    return end !== null && this.#isFollowed(end, STRING_ENDS) ? end : null;
  }

  /** Whether the content ends at the next character that is not blank, or one of these follows. */
  #isFollowed(from: number, by: readonly string[]): boolean {
    const next = endOfBlanks(this.#source, from);
    return next === this.#end || by.some((text) => this.#source.startsWith(text, next));
  }

  /**
   * Begins an alternative at a `??`. Quotes in it delimit a string only if they enclose the whole
   * value.
   */
  #nextAlternative(operator: number): number {
    const source = this.#source;
    this.#push(operator);
    this.#from = operator + 2;
    this.#pipe = null;
    this.#hasStrings = false;
    this.#isQuoted = false;
    const first = endOfBlanks(source, this.#from);
    const afterString = isQuote(source[first]) ? endOfString(source, first) : null;
    if (afterString === null) return this.#from;
    this.#isQuoted = this.#isFollowed(afterString, ALTERNATIVE_ENDS);
    return this.#isQuoted ? afterString : this.#from;
  }

  #push(to: number): void {
    const pipe = this.#pipe ?? to;
    this.#alternatives.push({ from: this.#from, pipe, to, isQuoted: this.#isQuoted });
  }

  #finish(close: number): Scan {
    const hasDash = this.#end === null && close > this.#from && this.#source[close - 1] === "-";
    this.#push(hasDash ? close - 1 : close);
    return { alternatives: this.#alternatives, close, hasAmpersand: this.#hasAmpersand };
  }
}

/** A quoted text is the whole value of an alternative if one of these follows it. */
const ALTERNATIVE_ENDS = ["|", "??", "}}", "-}}"];

/** A quoted text in an expression is a string of Liquid if one of these follows it. */
const STRING_ENDS = [
  ...ALTERNATIVE_ENDS,
  ..."= ! < > ) ] , . [".split(" "),
  "and ",
  "or ",
  "contains ",
];

function isQuote(char: string | undefined): boolean {
  return char === '"' || char === "'";
}

/**
 * A quote after a word, as in "Mother's name", opens no string. Nor does a quote after a backslash:
 * so a quote that opens a string always closes the strings that were opened by the same quote
 * before, and no character is read as part of two of them.
 */
function canOpenString(source: string, quote: number): boolean {
  return source[quote - 1] !== "\\" && !isWordCharacter(source.charCodeAt(quote - 1));
}

function isWordCharacter(code: number): boolean {
  return (
    (code >= 0x30 && code <= 0x39) ||
    (code >= 0x41 && code <= 0x5a) ||
    (code >= 0x61 && code <= 0x7a) ||
    code === 0x5f ||
    (code > 0x7f && code !== 0xa0)
  );
}

/**
 * The offset after the closing quote of the string that begins at `open`; null if there is
 * none.
 */
function endOfString(source: string, open: number): number | null {
  const quote = source[open];
  for (let i = open + 1; i < source.length; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === quote) return i + 1;
  }
  return null;
}

function endOfBlanks(source: string, from: number): number {
  let end = from;
  while (isBlank(source.charCodeAt(end))) end++;
  return end;
}

/** Space, tab, line breaks, and the no-break space that HTML editors write. */
function isBlank(code: number): boolean {
  return code === 0x20 || (code >= 0x09 && code <= 0x0d) || code === 0xa0;
}
