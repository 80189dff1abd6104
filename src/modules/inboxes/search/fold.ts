/**
 * The texts of a message that searches compare. They are folded: case, the form of composed
 * characters, line breaks and the punctuation around addresses make no difference.
 */

import type { Addresses, NamedAddress } from "../messages/record.ts";
import { signatureOf } from "../../../lib/text-signature.ts";

/** The folded texts of one message. */
export type SearchTexts = {
  /** Addresses, subject, names of attachments and the beginning of the body; it has an index. */
  text: string;
  /**
   * The whole body, compressed with zstd, if it is longer than its part in `text`; null otherwise.
   * The parser's thread compresses it, because that takes milliseconds for a long body.
   */
  rest: Uint8Array | null;
  /** The signature of `text` and `rest` together; null without `rest`. */
  signature: Uint8Array | null;
  fields: SearchFields;
};

/**
 * Each field apart, for terms such as `to:`. A list of mailboxes has one line for each: the name,
 * a tab and the address. So a term never matches across two mailboxes.
 */
export type SearchFields = {
  from: string;
  to: string;
  cc: string;
  bcc: string;
  replyTo: string;
  subject: string;
  messageId: string;
};

/** The body of a message: its text, or all of it folded, which is possible only for a short one. */
export type SearchBody = { text: string } | { folded: string };

/** Characters of the body that are in the index; the rest is searched without it. */
const INDEXED_CHARACTERS = 4 * 1024;
/** Longest body that is searched. */
const MAX_BODY_CHARACTERS = 2 * 1024 * 1024;

/** Most addresses and ids; folding changes nothing in them. */
const FOLDED = /^[a-z0-9@._+-]*$/;

export function foldText(text: string): string {
  if (FOLDED.test(text)) return text;
  return singleSpaces(
    text
      .toWellFormed()
      .toLowerCase()
      .normalize("NFC")
      // oxlint-disable-next-line no-control-regex -- SQLite ends a text at NUL in some functions.
      .replace(/[<>",;\0]/g, " "),
  ).trim();
}

/**
 * Replaces all white space between words by one space. Most of it is single spaces and line ends, and
 * each match of an expression takes as long as dozens of characters, so the expressions match others.
 */
export function singleSpaces(text: string): string {
  const lines = text.includes("\n") ? text.replaceAll("\n", " ") : text;
  const spaces = /[^\S ]/.test(lines) ? lines.replace(/[^\S ]/g, " ") : lines;
  return spaces.includes("  ") ? spaces.replace(/ {2,}/g, " ") : spaces;
}

export function searchTextsOf(message: {
  messageId: string;
  subject: string;
  addresses: Addresses;
  filenames: readonly string[];
  body: SearchBody;
}): SearchTexts {
  const { messageId, subject, addresses, filenames, body } = message;
  const { from, to, cc, bcc, replyTo } = addresses;
  const mailboxes = [...from, ...to, ...cc, ...bcc, ...replyTo];
  const head = [subject, ...mailboxes.map(mailboxText), ...filenames].join("\n");
  return {
    ...bodyTextsOf(head, body),
    fields: {
      from: mailboxLines(from),
      to: mailboxLines(to),
      cc: mailboxLines(cc),
      bcc: mailboxLines(bcc),
      replyTo: mailboxLines(replyTo),
      subject: foldText(subject),
      messageId: foldText(messageId),
    },
  };
}

function bodyTextsOf(
  head: string,
  body: SearchBody,
): Pick<SearchTexts, "text" | "rest" | "signature"> {
  if ("folded" in body) {
    return { text: `${foldText(head)} ${body.folded}`.trim(), rest: null, signature: null };
  }
  const text = foldText(`${head}\n${body.text.slice(0, INDEXED_CHARACTERS)}`);
  if (body.text.length <= INDEXED_CHARACTERS) return { text, rest: null, signature: null };
  const rest = foldText(body.text.slice(0, MAX_BODY_CHARACTERS));
  return { text, rest: Bun.zstdCompressSync(rest), signature: signatureOf(`${text}\n${rest}`) };
}

function mailboxText({ name, address }: NamedAddress): string {
  return name === "" ? address : `${name} <${address}>`;
}

function mailboxLines(list: readonly NamedAddress[]): string {
  return list.map(({ name, address }) => `${foldText(name)}\t${foldText(address)}\n`).join("");
}

/** The part of a field of mailboxes that contains the whole address, and only it. */
export function exactAddress(address: string): string {
  return `\t${foldText(address)}\n`;
}
