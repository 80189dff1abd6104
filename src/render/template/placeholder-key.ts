/**
 * Keys as placeholders: `{{ First Name }}`, or `{{ a.b }}` where `a.b` is one key of the data.
 *
 * Which keys exist is known when a mail is rendered, not when its template is stored. A template may
 * therefore name every text that could be a key, and a key that does not exist renders as nothing.
 */

import { type Context, Drop } from "liquidjs";

/** Longest text that is taken for a key, in UTF-16 units. */
const LONGEST_KEY = 255;

/**
 * Text that could be a key: it begins with a letter, a digit, `_` or a currency sign, and continues
 * with letters, marks, digits, blanks, symbols such as `°`, and the punctuation `_ - . , : / & @ # ( )`.
 * An apostrophe follows a letter or digit, `+ * %` have no blanks on both sides, two dots are never
 * adjacent, and a `?` is the last character. No two alternatives match the same character at the same
 * place, as otherwise the expression would take exponential time. Quotes, brackets, `|` and comparisons are Liquid, so
 * that mistakes in them are still found.
 */
const KEY =
  /^[\p{L}\p{N}_\p{Sc}](?:[\p{L}\p{M}\p{N}\p{Pc}\p{Pd}\p{Sc}\p{So} ,:/&@#()’]|\.(?!\.)|(?<=[\p{L}\p{N}])'|[+*%](?! )|(?<! )[+*%](?= ))*\??$/u;

/** The spellings of a key that could be meant, the most exact one first; null for text of Liquid. */
export function keyNames(text: string): readonly string[] | null {
  const exact = trimInvisible(text);
  if (exact.length === 0 || exact.length > LONGEST_KEY) return null;
  // An editor may break the line within a key, and write no-break spaces for spaces.
  const plain = exact.split(/\s+/).join(" ");
  if (!KEY.test(plain)) return null;
  return exact === plain ? [exact] : [exact, plain];
}

/**
 * The value of a key; undefined where there is none. At each level, the whole rest of the name is
 * looked for before its part up to the first dot. Variables that the template made hide the data.
 */
export function keyValue(context: Context, name: string): unknown {
  const whole = context.getSync([name]);
  const dot = name.indexOf(".");
  if (dot === -1) return whole;
  const head = name.slice(0, dot);
  const inner = context.getSync([head]);
  const isData = inner === ownValue(context.globals, head);
  return isData && whole !== undefined ? whole : innerValue(inner, name.slice(dot + 1));
}

function innerValue(value: unknown, name: string): unknown {
  let scope = value;
  let rest = name;
  for (;;) {
    const whole = ownValue(scope, rest);
    const dot = rest.indexOf(".");
    if (whole !== undefined || dot === -1) return whole;
    scope = ownValue(scope, rest.slice(0, dot));
    rest = rest.slice(dot + 1);
  }
}

/** A property that the object has itself; undefined for lists, texts and the library's objects. */
function ownValue(scope: unknown, name: string): unknown {
  if (typeof scope !== "object" || scope === null) return undefined;
  if (Array.isArray(scope) || scope instanceof Drop) return undefined;
  return Object.hasOwn(scope, name) ? Reflect.get(scope, name) : undefined;
}

/** Trims blanks, no-break spaces, and the characters of no width that HTML editors leave behind. */
function trimInvisible(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && isInvisible(text.charAt(start))) start++;
  while (end > start && isInvisible(text.charAt(end - 1))) end--;
  return text.slice(start, end);
}

function isInvisible(char: string): boolean {
  return char.trim() === "" || "\u200b\u200c\u200d\u2060".includes(char);
}
