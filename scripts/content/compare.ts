/** Compares a message that arrived with the message that was expected, as a whole and by part. */

import { simpleParser } from "mailparser";
import { withoutSignatures } from "../../test/support/dkim.ts";

/** Longest line of an encoded body, without its line end. */
const LONGEST_LINE = 76;

type Wanted = { message: string; html: string; text: string };

/**
 * Returns the names of the parts that differ; empty if the message is the expected one. A letter has
 * another encoding than a message that was rendered in full, so only its decoded parts are compared.
 */
export async function differencesOf(arrived: Uint8Array, wanted: Wanted): Promise<string[]> {
  const unsigned = withoutSignatures(Buffer.from(arrived).toString("latin1"));
  const [head, body] = splitHead(unsigned);
  const [wantedHead] = splitHead(wanted.message);
  const parsed = await simpleParser(Buffer.from(arrived), {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  });
  const differences: string[] = [];
  if (withoutBoundary(head) !== withoutBoundary(wantedHead)) differences.push("headers");
  // The parser has no HTML for an empty part.
  const html = parsed.html === false ? "" : parsed.html;
  if (!isSameText(html, wanted.html)) differences.push("HTML");
  if (!isSameText(parsed.text ?? "", wanted.text)) differences.push("text");
  if (body.split("\r\n").some((line) => line.length > LONGEST_LINE))
    differences.push("line length");
  if (isLetter(unsigned, wanted.message)) {
    if (unsigned.includes("\r\n.")) differences.push("a dot at the beginning of a line");
  } else if (unsigned !== wanted.message) differences.push("octets");
  return differences;
}

/** True if a message was not rendered in full: the boundary of a letter is not that of its mail. */
export function isLetter(message: string, wanted: string): boolean {
  return boundaryOf(message) !== boundaryOf(wanted);
}

const BOUNDARY = /^ boundary="([^"]*)"/m;

function boundaryOf(message: string): string | null {
  return BOUNDARY.exec(message)?.[1] ?? null;
}

function withoutBoundary(head: string): string {
  return head.replace(BOUNDARY, "");
}

function splitHead(message: string): [head: string, body: string] {
  const end = message.indexOf("\r\n\r\n");
  return [message.slice(0, end), message.slice(end + 4)];
}

/** True for equal texts. Line ends become CRLF in a mail, and surrogates without a pair U+FFFD. */
function isSameText(read: string, wanted: string): boolean {
  const lines = (text: string) => text.toWellFormed().replace(/\r\n?/g, "\n").trimEnd();
  return lines(read) === lines(wanted);
}
