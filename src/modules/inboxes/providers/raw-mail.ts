/** Reads the header of a message in MIME, and writes further headers in front of it. */

import { isHeaderName, isHeaderText } from "../../../protocols/mime/headers.ts";
import { rawLine } from "../../../protocols/mime/header-lines.ts";
import { parseFrom } from "../../../protocols/mime/from-field.ts";
import { decodeOctets } from "../../../protocols/mime/encode-fields.ts";
import { fieldsOf } from "../../../protocols/mime/submitted-header.ts";
import type { SentMailbox } from "../mailpit/compose.ts";
import { invalidField, readMailboxes } from "./provider.ts";

type MessageHead = {
  /** Null if the message has no From. */
  from: { address: string } | null;
  /** With angle brackets; null if the message has none. */
  messageId: string | null;
  hasDate: boolean;
  /** The mailboxes of To, Cc and Bcc. */
  recipients: () => SentMailbox[];
};

/** Longest header section. */
const MAX_HEADER_BYTES = 1024 * 1024;

/** `source` is the field that has the message, for refusals. */
export function readMessageHead(message: Uint8Array, source: string): MessageHead {
  const start = Buffer.from(message.subarray(0, MAX_HEADER_BYTES)).toString("latin1");
  const text = start.replace(/\r\n?|\n/g, "\r\n");
  const end = text.startsWith("\r\n") ? 0 : text.indexOf("\r\n\r\n");
  if (end === -1 && message.byteLength > MAX_HEADER_BYTES) {
    throw invalidField(source, "has a header of more than 1 MiB");
  }
  const fields = fieldsOf(end === -1 ? text.replace(/\r\n$/, "") : text.slice(0, end));
  if (fields === null) {
    throw invalidField(source, "has a line in its header that is not a header field");
  }
  const valueOf = (name: string) => fields.find((field) => field.name === name)?.value.trim();
  const sender = valueOf("from");
  return {
    from: sender === undefined ? null : parsedFrom(decodeOctets(sender), source),
    messageId: valueOf("message-id") || null,
    hasDate: valueOf("date") !== undefined,
    recipients: () =>
      fields
        .filter(({ name }) => name === "to" || name === "cc" || name === "bcc")
        .flatMap(({ value }) => readMailboxes(source, decodeOctets(value))),
  };
}

function parsedFrom(value: string, source: string): { address: string } {
  const parsed = parseFrom(value);
  if (!parsed.ok) throw invalidField(source, `has a From that cannot be used: ${parsed.reason}`);
  return { address: parsed.mailbox.address };
}

const MAX_HEADER_VALUE_CHARACTERS = 10_000;

/** The lines of headers that are written in front of a message. */
export function checkedHeaders(
  headers: readonly (readonly [name: string, value: string])[],
): string[] {
  return headers.map(([name, value]) => {
    if (!isHeaderName(name)) throw invalidField("header", "has an invalid name");
    if (!isHeaderText(value) || value.length > MAX_HEADER_VALUE_CHARACTERS) {
      throw invalidField(name, "has a control character or is too long");
    }
    return rawLine(name, value);
  });
}
