/** Makes what lists and searches need from the content of a message, within bounds. */

import type { Addresses, NamedAddress, ParsedMessage, Part } from "../messages/record.ts";
import { plusTagsOf, tagsFrom } from "../messages/tags.ts";
import { type SearchBody, searchTextsOf, singleSpaces } from "../search/fold.ts";

export const SNIPPET_CHARACTERS = 250;

/**
 * Bounds of what a message adds to lists and to the index. A header section may have 1 MB, and lists
 * are built on the event loop.
 */
const MAX_SUBJECT_CHARACTERS = 4_096;
export const MAX_NAME_CHARACTERS = 1_024;
/** Names and addresses of one header field together. */
const MAX_FIELD_CHARACTERS = 32 * 1024;
/** Names of all attachments together, in searches. */
const MAX_FILENAMES_CHARACTERS = 32 * 1024;

/** The content of a message, as a parser found it. */
export type MessageContent = Addresses & {
  messageId: string;
  subject: string;
  /** Null if there is no Date header, or if it is not a date. */
  date: Date | null;
  /** The beginning of the visible text. */
  snippet: string;
  /** The visible text. */
  body: SearchBody;
  /** The values of X-Tags. */
  tags: readonly string[];
  parts: Part[];
};

export function parsedMessageOf(
  content: MessageContent,
  envelopeRecipients: readonly string[],
): ParsedMessage {
  const { snippet, body, date, parts } = content;
  const addresses = addressesOf(content, envelopeRecipients);
  const subject = content.subject.slice(0, MAX_SUBJECT_CHARACTERS);
  const messageId = content.messageId.slice(0, MAX_NAME_CHARACTERS).replace(/^<|>$/g, "");
  const filenames = firstOf(
    parts.map(({ filename }) => filename),
    MAX_FILENAMES_CHARACTERS,
    ({ length }) => length,
  );
  return {
    messageId,
    subject,
    addresses,
    date: date === null || Number.isNaN(date.getTime()) ? null : date.toISOString(),
    snippet,
    tags: tagsOf(content.tags, addresses),
    parts,
    search: searchTextsOf({ messageId, subject, addresses, filenames, body }),
  };
}

function addressesOf(named: Addresses, envelopeRecipients: readonly string[]): Addresses {
  const shown = new Set(
    [...named.to, ...named.cc, ...named.bcc].map(({ address }) => address.toLowerCase()),
  );
  // A recipient of the envelope that no header names was a Bcc recipient.
  const hidden = envelopeRecipients
    .filter((address) => !shown.has(address.toLowerCase()))
    .map((address) => ({ name: "", address }));
  return {
    from: firstMailboxes(named.from),
    to: firstMailboxes(named.to),
    cc: firstMailboxes(named.cc),
    bcc: firstMailboxes([...named.bcc, ...hidden]),
    replyTo: firstMailboxes(named.replyTo),
  };
}

function firstMailboxes(all: readonly NamedAddress[]): NamedAddress[] {
  const length = ({ name, address }: NamedAddress) =>
    Math.min(name.length, MAX_NAME_CHARACTERS) + Math.min(address.length, MAX_NAME_CHARACTERS) + 1;
  return firstOf(all, MAX_FIELD_CHARACTERS, length).map(({ name, address }) => ({
    name: name.slice(0, MAX_NAME_CHARACTERS),
    address: address.slice(0, MAX_NAME_CHARACTERS),
  }));
}

/** The first items whose lengths together are within the limit. */
function firstOf<T>(all: readonly T[], limit: number, lengthOf: (item: T) => number): T[] {
  let length = 0;
  const end = all.findIndex((item) => (length += lengthOf(item)) > limit);
  return end === -1 ? [...all] : all.slice(0, end);
}

export function snippetOf(text: string): string {
  return singleSpaces(text.slice(0, 4 * SNIPPET_CHARACTERS))
    .trim()
    .slice(0, SNIPPET_CHARACTERS);
}

/** The tags of X-Tags, and those of the sender's and the recipients' addresses. */
function tagsOf(values: readonly string[], { from, to, cc, bcc }: Addresses): string[] {
  const people = [...from, ...to, ...cc, ...bcc];
  return tagsFrom([
    ...values.flatMap((value) => value.split(",")),
    ...people.flatMap(({ address }) => plusTagsOf(address)),
  ]);
}
