/**
 * Builds the URL of a WEBHOOK step from the parts that its template rendered.
 *
 * The template decides scheme, host, port, and how many path segments and query parameters there
 * are; a value fills one component and cannot change that. With `| raw`, the template's author lets a
 * value hold several components, from the path on; at the beginning of the URL, also scheme, host and
 * port. It still cannot end a host that the template began, be a port behind it, or be a dot segment
 * (RFC 3986 §3.3). Every URL is checked once more, and its address before it is called, by the HTTP
 * client.
 */

import type { UrlPart } from "../../mail/template-url.ts";

export type BuiltUrl = { ok: true; url: string } | { ok: false; reason: string };

const LONGEST_URL = 8 * 1024;
const MOST_VALUES = 200;

const NO_URL = "This is not a URL.";
const NO_ORIGIN =
  "The URL does not begin with http:// or https:// and a host. An output holds these only with | raw.";

/** Where an output stands in the URL. `value` is its text before it was encoded. */
type Output = { from: number; to: number; isRaw: boolean; value: string };

/** A URL with its outputs, and the offsets at which its components end. */
type Laid = {
  text: string;
  outputs: readonly Output[];
  scheme: number;
  host: number;
  path: number;
};

export function buildUrl(parts: readonly UrlPart[]): BuiltUrl {
  const { text, outputs } = join(parts);
  if (outputs.length === 0) return { ok: true, url: text };
  const reason = faultOf(text, outputs);
  return reason === null ? { ok: true, url: text } : { ok: false, reason };
}

function join(parts: readonly UrlPart[]): Pick<Laid, "text" | "outputs"> {
  const whole = parts.map((part) => part.text).join("");
  const text = whole.trim();
  const trimmed = whole.length - whole.trimStart().length;
  const place = (offset: number) => Math.min(Math.max(offset - trimmed, 0), text.length);
  const outputs: Output[] = [];
  let from = 0;
  for (const part of parts) {
    const to = from + part.text.length;
    if (part.kind !== "literal") {
      const isRaw = part.kind === "raw";
      outputs.push({ from: place(from), to: place(to), isRaw, value: part.value });
    }
    from = to;
  }
  return { text, outputs };
}

/** Why the values may not stand in this URL; null where they may. */
function faultOf(text: string, outputs: readonly Output[]): string | null {
  if (text.length > LONGEST_URL) return `The URL is longer than ${LONGEST_URL} characters.`;
  if (outputs.length > MOST_VALUES) return `The URL has more than ${MOST_VALUES} values.`;
  // The URL parser would drop tabs and line breaks, and so join what they separate.
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  if (/[\0-\x1f\x7f]/.test(text)) return "The URL has a tab, a line break or a control character.";
  if (text === "") return NO_URL;
  const laid = layOut(text, outputs);
  if (laid === null) return NO_ORIGIN;
  return originFault(laid) ?? pathFault(laid) ?? structureFault(laid);
}

/** The components by the template's own text and raw values: encoded values hold no delimiters. */
function layOut(text: string, outputs: readonly Output[]): Laid | null {
  const found = /^(https?:\/\/)([^/?#\\]+)([^?#]*)/i.exec(text);
  const [, scheme = "", host = "", path = ""] = found ?? [];
  if (found === null) return null;
  const hostEnd = scheme.length + host.length;
  return { text, outputs, scheme: scheme.length, host: hostEnd, path: hostEnd + path.length };
}

function originFault({ text, outputs, scheme, host }: Laid): string | null {
  for (const { from, to, isRaw } of outputs.filter((output) => output.from <= host)) {
    // A raw value at the beginning may be a whole URL.
    if (isRaw && from === 0) continue;
    if (from < scheme) return "A value cannot be the scheme of the URL. Only | raw allows it.";
    if (text.slice(scheme, from).includes(":")) return "A value cannot be the port of the URL.";
    const isName = (isRaw ? /^[a-z0-9._-]*$/i : /^[a-z0-9_-]+$/i).test(text.slice(from, to));
    if (!isName) {
      return "A value in the host of the URL must be letters, digits and dashes only.";
    }
  }
  return null;
}

/** A segment with a value must not be a dot segment, nor be empty because the value is. */
function pathFault({ text, outputs, host, path }: Laid): string | null {
  let from = host + 1;
  for (const segment of text.slice(from, path).split(/[/\\]/)) {
    const to = from + segment.length;
    const own = outputs.filter((output) => output.from <= to && output.to >= from);
    if (own.length > 0) {
      if (isDotSegment(segment) || isDotSegment(withValues(text, { from, to }, own))) {
        return 'A value would make "." or ".." a segment of the path.';
      }
      if (segment === "" && own.some(({ isRaw }) => !isRaw)) {
        return "A value in the path of the URL is empty.";
      }
    }
    from = to + 1;
  }
  return null;
}

/** The segment as it was before its values were encoded, which is how some servers read it. */
function withValues(
  text: string,
  { from, to }: { from: number; to: number },
  outputs: readonly Output[],
): string {
  let done = from;
  let segment = "";
  for (const output of outputs.filter(({ isRaw }) => !isRaw)) {
    segment += text.slice(done, output.from) + output.value;
    done = output.to;
  }
  return segment + text.slice(done, to);
}

/** `%2e` is a dot to URL parsers; `%252e` is one behind a proxy that decodes once more. */
function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment.replace(/%(?:25)+/g, "%"));
}

/**
 * A second check, by the URL parser that the request uses: with harmless values, the URL would have
 * the same scheme, port, and number of host labels, path segments and query parameters.
 */
function structureFault({ text, outputs }: Laid): string | null {
  let harmless = "";
  let done = 0;
  for (const { from, to } of outputs.filter(({ isRaw }) => !isRaw)) {
    harmless += `${text.slice(done, from)}x`;
    done = to;
  }
  harmless += text.slice(done);
  const url = URL.parse(text);
  if (url === null) return NO_URL;
  const model = URL.parse(harmless);
  const isSame = model !== null && Bun.deepEquals(structureOf(url), structureOf(model));
  return isSame ? null : "A value would change the structure of the URL.";
}

function structureOf(url: URL) {
  const { protocol, username, password, port } = url;
  const labels = url.hostname.split(".").length;
  const segments = url.pathname.split("/").length;
  const parameters = url.search.split("&").length;
  const hasFragment = url.hash !== "";
  return { protocol, username, password, port, labels, segments, parameters, hasFragment };
}
