/** Compares a submitted message with the one that left. */

import { createHash } from "node:crypto";
import { simpleParser } from "mailparser";

/** Fields that the server adds if they are missing (docs/smtp-submission.md). */
const ADDED = ["message-id", "date", "mime-version"];

export type Comparison = {
  /** `same bytes`, or `texts re-encoded` for a message with 8-bit text. */
  body: string;
  /** Names of the fields that were added. */
  added: string[];
  faults: string[];
};

/** The mail that every client submits. */
export type ClientMail = {
  from: string;
  to: string;
  subject: string;
  text: string;
  html: string;
  filename: string;
  /** Path of the file. */
  attachment: string;
};

export async function compareMessages(
  sent: Buffer,
  left: Buffer,
  mail: ClientMail & { content: Buffer },
): Promise<Comparison> {
  const [before, after] = [split(sent), split(left)];
  const is8Bit = sent.some((octet) => octet > 0x7f);
  const isSame = before.body.equals(after.body);
  const faults = is8Bit || isSame ? [] : ["the body has other bytes"];
  if (left.some((octet) => octet > 0x7f)) faults.push("8-bit text left");
  const added = after.fields.filter((field) => !before.fields.includes(field)).map(nameOf);
  const lost = before.fields.filter((field) => !after.fields.includes(field)).map(nameOf);
  const mayChange = is8Bit ? ["content-transfer-encoding"] : [];
  const wrong = added.filter((name) => ![...ADDED, ...mayChange].includes(name));
  const missing = lost.filter((name) => !mayChange.includes(name));
  if (missing.length > 0) faults.push(`fields are missing: ${missing.join(", ")}`);
  if (wrong.length > 0) faults.push(`fields are new: ${wrong.join(", ")}`);
  const body = isSame ? "same bytes" : "texts re-encoded";
  return { body, added, faults: [...faults, ...(await contentFaults(left, mail))] };
}

/** The content that a reader sees, parsed by a library that is not ours. */
async function contentFaults(
  left: Buffer,
  mail: ClientMail & { content: Buffer },
): Promise<string[]> {
  const parsed = await simpleParser(left);
  const [file] = parsed.attachments;
  const digest = (bytes: Uint8Array) => createHash("sha256").update(bytes).digest("hex");
  const texts: [what: string, found: unknown, expected: unknown][] = [
    ["subject", parsed.subject, mail.subject],
    ["from", parsed.from?.value[0]?.address, mail.from],
    ["text", trimmed(parsed.text), mail.text.trim()],
    ["html", trimmed(parsed.html === false ? "" : parsed.html), mail.html],
    ["name of the file", file?.filename, mail.filename],
    ["file", file === undefined ? null : digest(file.content), digest(mail.content)],
  ];
  return texts
    .filter(([, found, expected]) => found !== expected)
    .map(([what, found]) => `the ${what} is ${JSON.stringify(found)?.slice(0, 100)}`);
}

const trimmed = (text: string | undefined) => (text ?? "").replaceAll("\r\n", "\n").trim();

function split(message: Buffer): { fields: string[]; body: Buffer } {
  const end = message.indexOf("\r\n\r\n");
  const header = message.toString("latin1", 0, end === -1 ? message.length : end);
  const body = end === -1 ? Buffer.of() : message.subarray(end + 4);
  return { fields: header.split(/\r\n(?![ \t])/), body };
}

const nameOf = (field: string) => field.slice(0, field.indexOf(":")).toLowerCase();
