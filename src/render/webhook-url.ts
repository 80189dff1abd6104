/**
 * Builds the URL of a WEBHOOK step from the parts that its template rendered.
 *
 * The template decides the scheme, the host, the port and the number of path segments and query
 * parameters; a value fills one component and cannot change them (docs/interface.md#workflows). With
 * `| raw`, a value may hold several components of path, query and fragment; at the beginning of the
 * URL, it may also hold scheme, host and port. It cannot complete a host that the template began, be
 * the port after it, or be a dot segment (RFC 3986 §3.3). The HTTP client checks every URL again, and
 * its address before the call.
 */

import { parseUrl } from "../lib/url.ts";
import type { UrlPart } from "./template/url.ts";

type BuiltUrl = { ok: true; url: string } | { ok: false; reason: string };

const LONGEST_URL = 8 * 1024;
const MAX_VALUES = 200;

const NO_URL = "This is not a URL.";
const NO_ORIGIN =
  "The URL does not begin with http:// or https:// and a host. An output holds these only with | raw.";

/** The range of an output in the URL. `value` is its text before it was encoded. */
type Output = { from: number; to: number; isRaw: boolean; value: string };

/** A URL with its outputs and the offsets at which its scheme, host and path end. */
type Layout = {
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

function join(parts: readonly UrlPart[]): Pick<Layout, "text" | "outputs"> {
  const whole = parts.map((part) => part.text).join("");
  const text = whole.trim();
  const trimmed = whole.length - whole.trimStart().length;
  const clamp = (offset: number) => Math.min(Math.max(offset - trimmed, 0), text.length);
  const outputs: Output[] = [];
  let from = 0;
  for (const part of parts) {
    const to = from + part.text.length;
    if (part.kind !== "literal") {
      const isRaw = part.kind === "raw";
      outputs.push({ from: clamp(from), to: clamp(to), isRaw, value: part.value });
    }
    from = to;
  }
  return { text, outputs };
}

/** The reason why the values are not allowed in this URL; null if they are. */
function faultOf(text: string, outputs: readonly Output[]): string | null {
  if (text.length > LONGEST_URL) return `The URL is longer than ${LONGEST_URL} characters.`;
  if (outputs.length > MAX_VALUES) return `The URL has more than ${MAX_VALUES} values.`;
  // The URL parser drops tabs and line breaks, which would join the text around them.
  // oxlint-disable-next-line no-control-regex -- the check is for control characters.
  if (/[\0-\x1f\x7f]/.test(text)) return "The URL has a tab, a line break or a control character.";
  if (text === "") return NO_URL;
  const layout = layoutOf(text, outputs);
  if (layout === null) return NO_ORIGIN;
  return originFault(layout) ?? pathFault(layout) ?? structureFault(layout);
}

/** Finds the components. Encoded values contain no delimiters, so only the template and raw values do. */
function layoutOf(text: string, outputs: readonly Output[]): Layout | null {
  const found = /^(https?:\/\/)([^/?#\\]+)([^?#]*)/i.exec(text);
  const [, scheme = "", host = "", path = ""] = found ?? [];
  if (found === null) return null;
  const hostEnd = scheme.length + host.length;
  return { text, outputs, scheme: scheme.length, host: hostEnd, path: hostEnd + path.length };
}

function originFault({ text, outputs, scheme, host }: Layout): string | null {
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

/** A segment with a value must not be a dot segment, and must not be empty because the value is. */
function pathFault({ text, outputs, host, path }: Layout): string | null {
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

/** The segment with its values not encoded, because some servers decode it before they split it. */
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

/** URL parsers read `%2e` as a dot; a server behind a proxy that decodes also reads `%252e` as one. */
function isDotSegment(segment: string): boolean {
  return /^(?:\.|%2e){1,2}$/i.test(segment.replace(/%(?:25)+/g, "%"));
}

/**
 * A second check with the URL parser of the HTTP client: a URL with harmless values must have the
 * same scheme, port, and number of host labels, path segments and query parameters.
 */
function structureFault({ text, outputs }: Layout): string | null {
  let harmless = "";
  let done = 0;
  for (const { from, to } of outputs.filter(({ isRaw }) => !isRaw)) {
    harmless += `${text.slice(done, from)}x`;
    done = to;
  }
  harmless += text.slice(done);
  const url = parseUrl(text);
  if (url === null) return NO_URL;
  const model = parseUrl(harmless);
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
