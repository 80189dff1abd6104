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

/** The offset behind a `{% tag %}`; behind the whole block if the tag is `raw`. */
function endOfTag(source: string, open: number): number {
  const close = source.indexOf("%}", open + 2);
  if (close === -1) return source.length;
  return tagName(source, open) === "raw" ? endOfRaw(source, close + 2) : close + 2;
}

/** The offset behind the next `{% endraw %}`; the end of the source if there is none. */
function endOfRaw(source: string, from: number): number {
  let open = source.indexOf("{%", from);
  while (open !== -1 && tagName(source, open) !== "endraw") open = source.indexOf("{%", open + 2);
  const close = open === -1 ? -1 : source.indexOf("%}", open + 2);
  return close === -1 ? source.length : close + 2;
}

function tagName(source: string, open: number): string {
  const from = source[open + 2] === "-" ? open + 3 : open + 2;
  const start = endOfBlanks(source, from);
  let end = start;
  while (isLetter(source.charCodeAt(end))) end++;
  return source.slice(start, end);
}

function isLetter(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
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

/**
 * Reads the fallback behind a `??`. The end of the placeholder is looked for once, and everything
 * else only before it, so that the whole scan takes linear time.
 */
function readFallback(source: string, at: number): Fallback {
  const start = endOfBlanks(source, at + 2);
  const quoted = quotedEnd(source, start);
  if (quoted !== null) {
    return { at, end: quoted, filter: `| default: ${source.slice(start, quoted)}` };
  }
  const close = source.indexOf("}}", start);
  const rest = source.slice(start, close === -1 ? source.length : close);
  const bar = rest.indexOf("|");
  const hasDash = bar === -1 && close !== -1 && rest.endsWith("-");
  const literal = bar === -1 ? rest.slice(0, hasDash ? -1 : rest.length) : rest.slice(0, bar);
  const escaped = literal.trimEnd().replace(/[\\"]/g, "\\$&");
  return { at, end: start + literal.length, filter: `| default: "${escaped}" ` };
}

/** The offset behind a quoted text that is the whole fallback; null if there is none at `start`. */
function quotedEnd(source: string, start: number): number | null {
  const quote = source[start];
  if (quote !== '"' && quote !== "'") return null;
  const end = endOfString(source, start);
  const next = endOfBlanks(source, end);
  const isWhole = ["|", "}}", "-}}"].some((stop) => source.startsWith(stop, next));
  return isWhole ? end : null;
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
