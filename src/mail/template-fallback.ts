/**
 * The one addition to Liquid: `{{ name ?? fallback text }}` is `{{ name | default: "fallback text" }}`.
 *
 * Only in output tags. The fallback is literal text up to `}}` or the next `|`; in quotes it may
 * contain those, and the quotes do not show.
 */

/** Where the rewritten text stops being the same as the source: offsets of both. */
export type Shift = { readonly rewritten: number; readonly source: number };

export type Rewritten = { readonly text: string; readonly shifts: readonly Shift[] };

/** Rewrites every `??` of a template; remembers where, so that errors point into the source. */
export function rewriteFallbacks(source: string): Rewritten {
  if (!source.includes("??")) return { text: source, shifts: [] };
  const shifts: Shift[] = [];
  let text = "";
  let done = 0;
  for (const { at, end, filter } of fallbacks(source)) {
    text += source.slice(done, at) + filter;
    done = end;
    shifts.push({ rewritten: text.length, source: end });
  }
  return { text: text + source.slice(done), shifts };
}

/** The offset in the source that an offset in the rewritten text stands for. */
export function sourceOffset(offset: number, shifts: readonly Shift[]): number {
  const shift = shifts.findLast(({ rewritten }) => rewritten <= offset);
  const next = shifts.find(({ rewritten }) => rewritten > offset);
  const moved = shift === undefined ? offset : offset - shift.rewritten + shift.source;
  return next === undefined ? moved : Math.min(moved, next.source);
}

type Fallback = { at: number; end: number; filter: string };

function* fallbacks(source: string): Generator<Fallback> {
  let from = 0;
  while (from < source.length) {
    const open = nextOpening(source, from);
    if (open === -1) return;
    if (source[open + 1] === "%") {
      from = endOfTag(source, open);
      continue;
    }
    const at = findOperator(source, open + 2);
    if (source[at] !== "?") {
      from = at + 2;
      continue;
    }
    const fallback = readFallback(source, at);
    yield fallback;
    from = fallback.end;
  }
}

function nextOpening(source: string, from: number): number {
  for (let i = source.indexOf("{", from); i !== -1; i = source.indexOf("{", i + 1)) {
    if (source[i + 1] === "{" || source[i + 1] === "%") return i;
  }
  return -1;
}

/** Behind a `{% tag %}`; behind the whole block if it is `raw`. */
function endOfTag(source: string, open: number): number {
  const close = source.indexOf("%}", open + 2);
  if (close === -1) return source.length;
  if (!/^\{%-?\s*raw\b/.test(source.slice(open, close))) return close + 2;
  const endRaw = /\{%-?\s*endraw\s*-?%\}/g;
  endRaw.lastIndex = close + 2;
  return endRaw.exec(source) === null ? source.length : endRaw.lastIndex;
}

/** The offset of the first `??` or `}}` outside quotes; the end of the source if there is none. */
function findOperator(source: string, from: number): number {
  for (let i = from; i < source.length; i++) {
    const char = source[i];
    if (char === '"' || char === "'") i = endOfString(source, i) - 1;
    else if (source.startsWith("??", i) || source.startsWith("}}", i)) return i;
  }
  return source.length;
}

/** Behind the closing quote of the string that begins at `open`. */
function endOfString(source: string, open: number): number {
  const quote = source[open];
  for (let i = open + 1; i < source.length; i++) {
    if (source[i] === "\\") i++;
    else if (source[i] === quote) return i + 1;
  }
  return source.length;
}

const QUOTED = /\s*("(?:[^"\\]|\\[^])*"|'(?:[^'\\]|\\[^])*')(?=\s*(?:\||-?\}\}))/y;
const LITERAL = /\s*([^]*?)\s*(?=\||-?\}\}|$)/y;

function readFallback(source: string, at: number): Fallback {
  const quoted = matchAt(QUOTED, source, at + 2);
  if (quoted !== null) return { at, end: quoted.end, filter: `| default: ${quoted.text}` };
  const literal = matchAt(LITERAL, source, at + 2) ?? { text: "", end: source.length };
  const escaped = literal.text.replace(/[\\"]/g, "\\$&");
  return { at, end: literal.end, filter: `| default: "${escaped}" ` };
}

function matchAt(pattern: RegExp, text: string, at: number): { text: string; end: number } | null {
  pattern.lastIndex = at;
  const found = pattern.exec(text)?.[1];
  return found === undefined ? null : { text: found, end: pattern.lastIndex };
}
