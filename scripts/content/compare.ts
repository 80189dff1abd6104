/** Compares a message that arrived with the message that was expected, as a whole and by part. */

import { simpleParser } from "mailparser";
import { withoutSignatures } from "../../test/support/dkim.ts";

/** Longest line of an encoded body, without its line end. */
const LONGEST_LINE = 76;

type Wanted = { message: string; html: string; text: string };

/** Returns the names of the parts that differ; empty if the message is the expected one. */
export async function differencesOf(arrived: Uint8Array, wanted: Wanted): Promise<string[]> {
  const raw = Buffer.from(arrived).toString("latin1");
  const unsigned = withoutSignatures(raw);
  const [head, body] = splitHead(unsigned);
  const [wantedHead] = splitHead(wanted.message);
  const parsed = await simpleParser(Buffer.from(arrived), {
    skipHtmlToText: true,
    skipTextToHtml: true,
    skipTextLinks: true,
    skipImageLinks: true,
  });
  const differences: string[] = [];
  if (head !== wantedHead) differences.push("headers");
  // The parser has no HTML for an empty part.
  const html = parsed.html === false ? "" : parsed.html;
  if (!isSameText(html, wanted.html)) differences.push("HTML");
  if (!isSameText(parsed.text ?? "", wanted.text)) differences.push("text");
  if (unsigned !== wanted.message) differences.push("octets");
  if (body.split("\r\n").some((line) => line.length > LONGEST_LINE))
    differences.push("line length");
  return differences;
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
