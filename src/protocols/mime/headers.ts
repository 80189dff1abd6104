/** Rules for header fields of callers (RFC 5322 §2.2, §3.6.8; docs/delivery.md#C2). */

import type { FieldError } from "../../lib/errors.ts";
import { parseUrl } from "../../lib/url.ts";

/** Largest number of caller headers of a mail. */
export const MOST_HEADERS = 50;

/** Longest value in octets: a line without its line end (RFC 5322 §2.1.1). */
export const LONGEST_HEADER_VALUE = 998;

/** Headers that the service writes itself. A second one from the caller would contradict it. */
const OWNED =
  /^(?:from|to|cc|bcc|subject|date|message-id|mime-version|content-.*|dkim-signature|received|return-path|sender|arc-.*|authentication-results)$/i;

/** The only valid value of List-Unsubscribe-Post (RFC 8058 §3.1). */
export const ONE_CLICK = "List-Unsubscribe=One-Click";

/** URLs in angle brackets with commas between, and comments around them (RFC 2369 §2). */
const GAP = String.raw`(?:[ \t]|\([ -'*-;=?-~]*\))*`;
const LINK = `${GAP}<(?:https?://|mailto:)[!-;=?-~]+>${GAP}`;
const UNSUBSCRIBE_LIST = new RegExp(`^${LINK}(?:,${LINK})*$`, "i");

/** Whether only the service may write this header. */
export function isOwnedHeader(name: string): boolean {
  return OWNED.test(name);
}

/**
 * Whether the text is a header name: printable ASCII except the colon (RFC 5322 §3.6.8). With at
 * most 76 characters, the line can still be folded.
 */
export function isHeaderName(name: string): boolean {
  return /^[!-9;-~]{1,76}$/.test(name);
}

/** Whether the text has no CR, LF, NUL or other control character except tab. */
export function isHeaderText(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- The expression searches for control characters.
  return !/[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/.test(value) && value.isWellFormed();
}

/** Whether the text is a Content-ID without angle brackets: visible ASCII (RFC 2392 §2). */
export function isContentId(value: string): boolean {
  return /^[!-;=?-~]{1,200}$/.test(value);
}

function isUnsubscribeList(value: string): boolean {
  if (!UNSUBSCRIBE_LIST.test(value)) return false;
  return [...value.matchAll(/<([^<>]*)>/g)].every(([, url = ""]) => parseUrl(url) !== null);
}

/** Returns all faults of the caller's headers; empty if all can be sent. */
export function checkHeaders(headers: Record<string, string>): FieldError[] {
  const names = Object.keys(headers);
  const checked = names.slice(0, MOST_HEADERS);
  const tooMany: FieldError[] =
    names.length > MOST_HEADERS
      ? [
          {
            field: "headers",
            message: `must have at most ${MOST_HEADERS} headers`,
            code: "too_big",
          },
        ]
      : [];
  const faulty = checked.flatMap((name) => checkHeader(name, headers[name] ?? ""));
  return [...tooMany, ...faulty, ...checkDuplicates(checked)];
}

function checkHeader(name: string, value: string): FieldError[] {
  const field = `headers.${name}`;
  const errors: FieldError[] = [];
  if (!isHeaderName(name)) {
    const message =
      "must have a name of 1 to 76 printable ASCII characters without colon and space";
    errors.push({ field, message, code: "invalid_format" });
  } else if (isOwnedHeader(name)) {
    errors.push({
      field,
      message: "is a header that the service sets itself",
      code: "invalid_value",
    });
  }
  if (!isHeaderText(value)) {
    const message = "must be a single line of text without control characters";
    errors.push({ field, message, code: "invalid_format" });
  }
  if (Buffer.byteLength(value) > LONGEST_HEADER_VALUE) {
    const message = `must have at most ${LONGEST_HEADER_VALUE} octets`;
    errors.push({ field, message, code: "too_big" });
  }
  const fault = errors.length === 0 ? listFault(name, value) : null;
  return fault === null ? errors : [{ field, message: fault, code: "invalid_format" }];
}

/** Returns the fault of a list header as the message of a field error; null if it is valid. */
function listFault(name: string, value: string): string | null {
  switch (name.toLowerCase()) {
    case "list-unsubscribe":
      return isUnsubscribeList(value)
        ? null
        : "must be <https:…>, <http:…> or <mailto:…>, or several of them with commas between";
    case "list-unsubscribe-post":
      return value === ONE_CLICK ? null : `must be ${ONE_CLICK}`;
    default:
      return null;
  }
}

/**
 * Finds headers that are given twice. Header names are case-insensitive (RFC 5322 §1.2.2), but the
 * keys of a JSON object are not.
 */
function checkDuplicates(names: string[]): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name): FieldError[] => {
    const isDuplicate = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    const message = "is a header that is given twice";
    return isDuplicate ? [{ field: `headers.${name}`, message, code: "invalid_value" }] : [];
  });
}
