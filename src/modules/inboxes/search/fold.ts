/**
 * The texts of a message that searches compare. They are folded: case, the form of composed
 * characters, line breaks and the punctuation around addresses make no difference.
 */

import type { Addresses, NamedAddress } from "../messages/record.ts";
import { signatureOf } from "./signature.ts";

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

/** Characters of the body that are in the index; the rest is searched without it. */
const INDEXED_CHARACTERS = 4 * 1024;
/** Longest body that is searched. */
const MAX_BODY_CHARACTERS = 2 * 1024 * 1024;

export function foldText(text: string): string {
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
 * Replaces all white space between words by one space. Most of it is that already, and each match of
 * an expression takes as long as dozens of characters, so no expression matches single spaces.
 */
export function singleSpaces(text: string): string {
  return text.replace(/[^\S ]/g, " ").replace(/ {2,}/g, " ");
}

export function searchTextsOf(message: {
  messageId: string;
  subject: string;
  addresses: Addresses;
  filenames: readonly string[];
  body: string;
}): SearchTexts {
  const { messageId, subject, addresses, filenames, body } = message;
  const { from, to, cc, bcc, replyTo } = addresses;
  const mailboxes = [...from, ...to, ...cc, ...bcc, ...replyTo];
  const head = [subject, ...mailboxes.map(mailboxText), ...filenames].join("\n");
  const text = foldText(`${head}\n${body.slice(0, INDEXED_CHARACTERS)}`);
  const rest =
    body.length > INDEXED_CHARACTERS ? foldText(body.slice(0, MAX_BODY_CHARACTERS)) : null;
  return {
    text,
    rest: rest === null ? null : Bun.zstdCompressSync(rest),
    signature: rest === null ? null : signatureOf(`${text}\n${rest}`),
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
