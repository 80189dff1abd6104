/** The message on standard input: its recipients, and the header fields that sendmail completes. */

import addressparser from "nodemailer/lib/addressparser";
import { encodeWord } from "nodemailer/lib/mime-funcs";

/** Longest header block in which recipients are looked for. */
const MAX_HEADER_BYTES = 1024 * 1024;
const LF = 0x0a;
const CR = 0x0d;
const RECIPIENT_FIELDS = ["to", "cc", "bcc"];

/** A header field with its name in lower case; `text` has all its lines, with their ends. */
type Field = { name: string; value: string; text: string };

type Prepared = {
  raw: Buffer;
  /** Addresses of To, Cc and Bcc, without repetitions. */
  recipients: string[];
};

export class UnreadableMessageError extends Error {}

/** Removes a first line `From …`, as mail folders have it, and what follows a line with a dot. */
export function cutInput(input: Buffer, { ignoresDots }: { ignoresDots: boolean }): Buffer {
  const start = input.toString("latin1", 0, 5) === "From " ? input.indexOf(LF) + 1 : 0;
  const end = ignoresDots ? -1 : findDotLine(input, start);
  return input.subarray(start, end === -1 ? input.byteLength : end);
}

function findDotLine(input: Buffer, start: number): number {
  for (let at = start; at < input.byteLength; at = nextLine(input, at)) {
    if (input[at] !== 0x2e) continue;
    if (input[at + 1] === LF || (input[at + 1] === CR && input[at + 2] === LF)) return at;
    if (at + 1 === input.byteLength) return at;
  }
  return -1;
}

function nextLine(input: Buffer, at: number): number {
  const end = input.indexOf(LF, at);
  return end === -1 ? input.byteLength : end + 1;
}

/** Adds Date, From and Message-ID if they are absent, and removes Bcc. */
export function prepareMessage(
  input: Buffer,
  defaults: { from: string; fullName: string | null; date: Date; messageId: string },
): Prepared {
  const { fields, rest, isOpen } = splitHeader(input);
  const names = new Set(fields.map(({ name }) => name));
  const from =
    defaults.fullName === null ? defaults.from : `${phrase(defaults.fullName)} <${defaults.from}>`;
  const added = [
    names.has("date") ? "" : `Date: ${defaults.date.toUTCString().replace("GMT", "+0000")}\n`,
    names.has("from") ? "" : `From: ${from}\n`,
    names.has("message-id") ? "" : `Message-ID: ${defaults.messageId}\n`,
  ].join("");
  const kept = fields.filter(({ name }) => name !== "bcc").map(({ text }) => text);
  const separator = isOpen ? "\n" : "";
  const header = Buffer.from(`${added}${kept.join("")}${separator}`, "latin1");
  return { raw: Buffer.concat([header, rest]), recipients: recipientsOf(fields) };
}

/** A display name (RFC 5322 §3.2.5), encoded if it is not ASCII (RFC 2047 §5). */
function phrase(given: string): string {
  const name = given.replace(/\p{Cc}/gu, " ");
  if (/[^ -~]/.test(name)) return encodeWord(name, "Q");
  return /^[\w !#$%&'*+/=?^`{|}~-]*$/.test(name) ? name : `"${name.replace(/["\\]/g, "\\$&")}"`;
}

function recipientsOf(fields: readonly Field[]): string[] {
  const lists = fields.filter(({ name }) => RECIPIENT_FIELDS.includes(name));
  const text = (value: string) => Buffer.from(value, "latin1").toString("utf8");
  const found = lists.flatMap(({ value }) => addressparser(text(value), { flatten: true }));
  return [...new Set(found.map(({ address }) => address).filter((address) => address !== ""))];
}

/** `rest` begins with the empty line; `isOpen` if there is none and text follows the header. */
function splitHeader(input: Buffer): { fields: Field[]; rest: Buffer; isOpen: boolean } {
  const fields: Field[] = [];
  let at = 0;
  while (at < input.byteLength) {
    const end = nextLine(input, at);
    if (end > MAX_HEADER_BYTES) throw new UnreadableMessageError("the header is longer than 1 MiB");
    const line = input.toString("latin1", at, end);
    if (line.trim() === "") return { fields, rest: input.subarray(at), isOpen: false };
    const last = fields.at(-1);
    if (/^[ \t]/.test(line) && last !== undefined) {
      last.text += line;
      last.value += ` ${line.trim()}`;
    } else {
      const colon = line.indexOf(":");
      // A line that is no field begins the body of a message without an empty line.
      if (!/^[!-9;-~]+[ \t]*$/.test(line.slice(0, Math.max(colon, 0)))) break;
      const text = line.endsWith("\n") ? line : `${line}\n`;
      const name = line.slice(0, colon).trim().toLowerCase();
      fields.push({ name, value: line.slice(colon + 1).trim(), text });
    }
    at = end;
  }
  return { fields, rest: input.subarray(at), isOpen: true };
}
