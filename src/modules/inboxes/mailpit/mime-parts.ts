/**
 * Splits a message into its MIME parts without decoding them (RFC 2046 §5.1), as MailHog shows
 * them. The depth and the number of parts are limited; what is beyond stays in the body.
 */

export type MimeEntity = {
  headers: Record<string, string[]>;
  body: string;
  parts: MimeEntity[];
};

const MAX_DEPTH = 10;
const MAX_PARTS = 500;
const MAX_HEADER_LINES = 2_000;

export function splitMime(raw: string): MimeEntity {
  let left = MAX_PARTS;

  function split(text: string, depth: number): MimeEntity {
    const end = headEnd(text);
    const headers = headersIn(text.slice(0, end.at));
    const body = text.slice(end.at + end.length);
    const boundary = depth < MAX_DEPTH ? boundaryOf(headers) : null;
    const parts: MimeEntity[] = [];
    if (boundary !== null) {
      for (const part of partsBetween(body, boundary)) {
        if (left-- <= 0) break;
        parts.push(split(part, depth + 1));
      }
    }
    return { headers, body, parts };
  }

  return split(raw, 0);
}

/** The blank line after the headers. */
function headEnd(text: string): { at: number; length: number } {
  if (text.startsWith("\r\n")) return { at: 0, length: 2 };
  const at = text.indexOf("\r\n\r\n");
  return at === -1 ? { at: text.length, length: 0 } : { at, length: 4 };
}

function headersIn(head: string): Record<string, string[]> {
  const headers = new Map<string, string[]>();
  const lines = head.split("\r\n", MAX_HEADER_LINES);
  let last: string[] | null = null;
  for (const line of lines) {
    if (/^[ \t]/.test(line) && last !== null) {
      last.push(`${last.pop() ?? ""} ${line.trim()}`);
      continue;
    }
    const colon = line.indexOf(":");
    if (colon <= 0) continue;
    const name = line.slice(0, colon);
    last = headers.get(name) ?? [];
    last.push(line.slice(colon + 1).trim());
    headers.set(name, last);
  }
  return Object.fromEntries(headers);
}

function boundaryOf(headers: Record<string, string[]>): string | null {
  const name = Object.keys(headers).find((key) => key.toLowerCase() === "content-type") ?? "";
  const type = (headers[name]?.[0] ?? "").slice(0, 1_000);
  if (!/^multipart\//i.test(type)) return null;
  const [, quoted, plain] = /\bboundary=(?:"([^"]{1,200})"|([^\s;"]{1,200}))/i.exec(type) ?? [];
  return quoted ?? plain ?? null;
}

/** The texts between the lines of the boundary. */
function* partsBetween(body: string, boundary: string): Generator<string> {
  const mark = `\r\n--${boundary}`;
  const text = `\r\n${body}`;
  let start = text.indexOf(mark);
  while (start !== -1) {
    const after = start + mark.length;
    if (text.startsWith("--", after)) return;
    const lineEnd = text.indexOf("\r\n", after);
    if (lineEnd === -1) return;
    const next = text.indexOf(mark, lineEnd);
    yield text.slice(lineEnd + 2, next === -1 ? text.length : next);
    start = next;
  }
}
