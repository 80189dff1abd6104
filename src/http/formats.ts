/** The string formats that the schemas of the API use. */

import { Type } from "@sinclair/typebox";
import { isEventName, isEventPattern } from "../lib/event-name.ts";
import { parseAddressFilter } from "./address-filter.ts";
import { LONGEST_ADDRESS_TEXT, parseAddress } from "../protocols/mime/address.ts";
import { displayName, type Mailbox, mailboxText, parseMailbox } from "../protocols/mime/mailbox.ts";
import { isContentId, isHeaderText } from "../protocols/mime/headers.ts";
import { hasPlaceholder, NOT_RENDERED } from "../render/template/foreign-literals.ts";
import { defineFormat } from "./field-messages.ts";

const ONE_LINE = "must be a single line of text without control characters";

/** Registers the formats. Call it once, before the first route is compiled. */
export function defineFormats(): void {
  const noAddress = "must be an email address such as ada@example.com";
  const oneAddress =
    "must be one email address such as ada@example.com or Ada <ada@example.com>; " +
    'a name with an address in it needs quotes: "eve@example.com" <ada@example.com>';
  defineFormat(
    "email",
    (text) => readMailbox(text) !== null,
    (text) => (/@.*@/s.test(text) ? oneAddress : noAddress),
  );
  defineFormat("bare-email", (text) => parseAddress(text).ok, noAddress);
  defineFormat("header-text", isHeaderText, ONE_LINE);
  defineFormat("display-name", (text) => !hasPlaceholder(displayName(text)), NOT_RENDERED);
  defineFormat(
    "file-name",
    (text) => displayName(text) !== "" && !hasPlaceholder(displayName(text)),
    (text) => (displayName(text) === "" ? "must have a visible character" : NOT_RENDERED),
  );
  defineFormat(
    "content-id",
    isContentId,
    "must have 1 to 200 visible ASCII characters, none of them < or >",
  );
  defineFormat(
    "date-time",
    isDateTime,
    "must be a date and time with its offset, such as 2026-03-02T09:00:00Z",
  );
  defineFormat(
    "address-filter",
    (text) => parseAddressFilter(text) !== null,
    "must be an email address such as ada@example.com, or a domain such as @example.com",
  );
  defineFormat(
    "tag-filter",
    (text) => /^[A-Za-z0-9_-]{1,256}(?::[^\n]{1,256})?$/.test(text),
    "must be the name of a tag, or its name and value, such as order:1001",
  );
  defineFormat("event-name", isEventName, "must have a visible character");
  defineFormat(
    "event-pattern",
    isEventPattern,
    "must be the name of an event, or the beginning of names followed by *",
  );
  defineFormat("contains-at", (text) => text.includes("@"), "must contain an @");
}

/**
 * Patterns that all texts of a private format match. They are for the OpenAPI document and use only
 * syntax that all languages have, so some accept more than the format.
 */
const PATTERNS: Readonly<Record<string, string>> = {
  "header-text": "^[^\\u0000-\\u0008\\u000a-\\u001f\\u007f-\\u009f\\u2028\\u2029]*$",
  "display-name": ".*",
  "file-name": "\\S",
  "content-id": "^[!-;=?-~]{1,200}$",
  "address-filter": "@",
  "tag-filter": "^[A-Za-z0-9_-]",
  "bare-email": "@",
  "event-name": "\\S",
  "event-pattern": "^[^*]*[*]?\\s*$",
  "contains-at": "@",
};

/** Returns the pattern of a private format; null for a format that JSON Schema defines. */
export function patternOf(format: string): string | null {
  return PATTERNS[format] ?? null;
}

const LONGEST_MAILBOX_TEXT = 1_000;

/** An address as callers send it, which may have a display name: `Ada <ada@example.com>`. */
export const EmailAddress = Type.String({ format: "email", maxLength: LONGEST_MAILBOX_TEXT });

/** An address without a display name. */
export const BareAddress = Type.String({ format: "bare-email", maxLength: LONGEST_ADDRESS_TEXT });

/** The mailbox in a text; null if it is none, or if its name has a placeholder. */
function readMailbox(text: string): Mailbox | null {
  const parsed = parseMailbox(text);
  if (!parsed.ok) return null;
  const { name } = parsed.mailbox;
  return name !== null && hasPlaceholder(name) ? null : parsed.mailbox;
}

/** The address in its stored spelling and the display name of a text that its schema has checked. */
export function mailboxIn(text: string): Mailbox {
  const mailbox = readMailbox(text);
  if (mailbox === null) {
    throw new Error("the text is not an address although its schema accepted it");
  }
  return mailbox;
}

/** A name that is sent in a header, as it is stored. */
export const DisplayName = Type.String({ format: "display-name", maxLength: 255 });

/** Returns the stored spelling of an address that its schema has already checked. */
export const normalizedAddress = (text: string): string => mailboxIn(text).address;

/** The same with its display name, for fields that are sent with it. */
export const normalizedMailbox = (text: string): string => mailboxText(mailboxIn(text));

/** Requires a date, a time and an offset (RFC 3339 §5.6), and a day that exists. */
export function isDateTime(text: string): boolean {
  return (
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/.test(text) &&
    !Number.isNaN(Date.parse(text)) &&
    Number(text.slice(8, 10)) <= daysInMonth(Number(text.slice(0, 4)), Number(text.slice(5, 7)))
  );
}

function daysInMonth(year: number, month: number): number {
  return new Date(Date.UTC(year, month, 0)).getUTCDate();
}
