/** Rules for header fields that callers bring (RFC 5322 §2.2, §3.6.8; docs/delivery.md#C2). */

import type { FieldError } from "../../lib/errors.ts";
import { parseUrl } from "../../lib/url.ts";

/** How many headers of its own a mail may have. */
export const MOST_HEADERS = 50;

/** Longest value in octets: a line without its end (RFC 5322 §2.1.1). */
export const LONGEST_HEADER_VALUE = 998;

/** Names the service writes itself; a caller's twin would be a second, contradicting header. */
const OWNED =
  /^(?:from|to|cc|bcc|subject|date|message-id|mime-version|content-.*|dkim-signature|received|return-path|sender|arc-.*|authentication-results)$/i;

/** The one value of List-Unsubscribe-Post (RFC 8058 §3.1). */
export const ONE_CLICK = "List-Unsubscribe=One-Click";

/** URLs in angle brackets with commas between; comments may stand beside them (RFC 2369 §2). */
const GAP = String.raw`(?:[ \t]|\([ -'*-;=?-~]*\))*`;
const LINK = `${GAP}<(?:https?://|mailto:)[!-;=?-~]+>${GAP}`;
const UNSUBSCRIBE_LIST = new RegExp(`^${LINK}(?:,${LINK})*$`, "i");

/** Whether only the service may write this header. */
export function isOwnedHeader(name: string): boolean {
  return OWNED.test(name);
}

/** RFC 5322 §3.6.8 ftext: printable ASCII but the colon. 76 keeps a folded line possible. */
export function isHeaderName(name: string): boolean {
  return /^[!-9;-~]{1,76}$/.test(name);
}

/** Text that may stand in a header: no CR, LF, NUL or other control character but tab. */
export function isHeaderText(value: string): boolean {
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for.
  return !/[\0-\x08\x0a-\x1f\x7f-\x9f\u2028\u2029]/.test(value) && value.isWellFormed();
}

/** What may stand between the angle brackets of a Content-ID: visible ASCII (RFC 2392 §2). */
export function isContentId(value: string): boolean {
  return /^[!-;=?-~]{1,200}$/.test(value);
}

function isUnsubscribeList(value: string): boolean {
  if (!UNSUBSCRIBE_LIST.test(value)) return false;
  return [...value.matchAll(/<([^<>]*)>/g)].every(([, url = ""]) => parseUrl(url) !== null);
}

/** Every fault of the caller's headers; empty if all may be sent. */
export function checkHeaders(headers: Record<string, string>): FieldError[] {
  const names = Object.keys(headers);
  const looked = names.slice(0, MOST_HEADERS);
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
  const faulty = looked.flatMap((name) => checkHeader(name, headers[name] ?? ""));
  return [...tooMany, ...faulty, ...checkTwins(looked)];
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

/** What keeps mail programs from understanding a header of lists, as the message of a field error. */
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

/** Names are case-insensitive (RFC 5322 §1.2.2), the keys of a JSON object are not. */
function checkTwins(names: string[]): FieldError[] {
  const seen = new Set<string>();
  return names.flatMap((name): FieldError[] => {
    const isTwin = seen.has(name.toLowerCase());
    seen.add(name.toLowerCase());
    const message = "is a header that is given twice";
    return isTwin ? [{ field: `headers.${name}`, message, code: "invalid_value" }] : [];
  });
}
