/** Checks the structure and the headers of a message, without the network. */

import type { Detail } from "./detail.ts";

/** Gmail shows only the beginning of HTML that is longer. */
const GMAIL_CLIP_BYTES = 102 * 1024;
/** Longest HTML whose elements are checked. */
const MAX_CHARACTERS = 512 * 1024;
/** Many servers refuse larger messages. */
const LARGE_BYTES = 25 * 1024 * 1024;
/** Longest line without its CRLF (RFC 5322 §2.1.1). */
const LONGEST_LINE = 998;
/** Fields that a message must have, and fields that may occur once (RFC 5322 §3.6). */
const REQUIRED = ["From", "Date"];
const EXPECTED = ["To", "Subject", "Message-ID", "MIME-Version"];
const SINGLE = ["From", "Sender", "Reply-To", "To", "Cc", "Subject", "Date", "Message-ID"];

type Linted = {
  detail: Detail;
  raw: Uint8Array;
  hasBareLf: boolean;
  /**
   * The address of this server if it is one for development, which only this machine can reach. The
   * links that the server adds to mails then have no https, which is no fault of the mail.
   */
  localUrl?: string | null;
};

/** The finding of one check. ERROR: receivers are likely to refuse or to break the message. */
export type LintFinding = { name: string; status: "OK" | "WARNING" | "ERROR"; message: string };
type Found = Omit<LintFinding, "name">;

const CHECKS: Readonly<Record<string, (message: Linted) => Found>> = {
  "text-part": textPart,
  "html-size": htmlSize,
  "image-texts": imageTexts,
  "link-schemes": linkSchemes,
  "message-size": messageSize,
  "required-headers": requiredHeaders,
  "single-headers": singleHeaders,
  "list-unsubscribe": listUnsubscribe,
  "line-length": lineLength,
  "line-ends": lineEnds,
  "header-characters": headerCharacters,
};

export function lint(message: Linted): LintFinding[] {
  return Object.entries(CHECKS).map(([name, check]) => ({ name, ...check(message) }));
}

const ok = (message: string): Found => ({ status: "OK", message });
const warning = (message: string): Found => ({ status: "WARNING", message });
const error = (message: string): Found => ({ status: "ERROR", message });

function textPart({ detail: { text, html } }: Linted): Found {
  if (text.trim() !== "") return ok("The message has a text part.");
  if (html === "") return error("The message has neither a text part nor an HTML part.");
  return warning("The message has HTML and no text part; spam filters and readers of text mind.");
}

function htmlSize({ detail: { html } }: Linted): Found {
  const bytes = Buffer.byteLength(html);
  const shown = `The HTML has ${Math.ceil(bytes / 1024)} kB`;
  if (bytes <= GMAIL_CLIP_BYTES) return ok(`${shown}.`);
  return warning(`${shown}; Gmail shows only the first 102 kB.`);
}

/** Programs show the text of an image until it is loaded, and screen readers read it. */
function imageTexts({ detail: { html } }: Linted): Found {
  let images = 0;
  let without = 0;
  let empty = 0;
  eachElement(html, "img", (image) => {
    images++;
    const text = image.getAttribute("alt");
    if (text === null) without++;
    else if (text.trim() === "") empty++;
  });
  if (images === 0) return ok("The message has no images.");
  if (without > 0) return warning(`${without} of ${images} images have no alternative text.`);
  if (empty === 0) return ok("All images have an alternative text.");
  return ok(
    `No alternative text is missing. It is empty in ${empty} of ${images} images, which is right for ` +
      "decoration alone.",
  );
}

function linkSchemes({ detail: { html }, localUrl = null }: Linted): Found {
  let insecure = 0;
  eachElement(html, "a[href], area[href]", (link) => {
    const href = (link.getAttribute("href") ?? "").trim();
    if (/^http:/i.test(href) && !isBelow(localUrl, href)) insecure++;
  });
  if (insecure === 0) return ok("No link of the HTML uses http without encryption.");
  return warning(`Links that use http without encryption: ${insecure}.`);
}

const isBelow = (url: string | null, href: string): boolean =>
  url !== null && href.startsWith(`${url}/`);

function eachElement(
  html: string,
  selector: string,
  check: (element: HTMLRewriterTypes.Element) => void,
): void {
  new HTMLRewriter().on(selector, { element: check }).transform(html.slice(0, MAX_CHARACTERS));
}

function messageSize({ raw }: Linted): Found {
  const shown = `The message has ${Math.ceil(raw.byteLength / 1024)} kB`;
  if (raw.byteLength <= LARGE_BYTES) return ok(`${shown}.`);
  return error(`${shown}; many servers refuse more than 25 MB.`);
}

function named({ detail: { headers } }: Linted, name: string): string[] {
  const wanted = name.toLowerCase();
  return headers.filter((field) => field.name.toLowerCase() === wanted).map(({ value }) => value);
}

function requiredHeaders(message: Linted): Found {
  const isMissing = (name: string) => named(message, name).length === 0;
  const required = REQUIRED.filter(isMissing);
  const missing = [...required, ...EXPECTED.filter(isMissing)];
  if (missing.length === 0) return ok("No usual header is missing.");
  const text = `These headers are missing: ${missing.join(", ")}.`;
  return required.length > 0 ? error(text) : warning(text);
}

function singleHeaders(message: Linted): Found {
  const repeated = SINGLE.filter((name) => named(message, name).length > 1);
  if (repeated.length === 0) return ok("No header occurs more often than it may.");
  return error(`These headers occur more than once: ${repeated.join(", ")}.`);
}

/** RFC 2369, RFC 8058. */
function listUnsubscribe(message: Linted): Found {
  const [list] = named(message, "List-Unsubscribe");
  const [post] = named(message, "List-Unsubscribe-Post");
  if (list === undefined && post === undefined) {
    const asks = /unsubscribe|abmelden|désabonner/i.test(message.detail.html);
    return asks
      ? warning("The message has a link to unsubscribe and no List-Unsubscribe header.")
      : ok("The message has no List-Unsubscribe; only bulk mail needs it.");
  }
  if (list === undefined) return error("List-Unsubscribe-Post needs a List-Unsubscribe header.");
  const isOneClick = post?.replaceAll(/\s/g, "").toLowerCase() === "list-unsubscribe=one-click";
  const { localUrl = null } = message;
  if (isOneClick && addressesIn(list).some((address) => isBelow(localUrl, address))) {
    return ok("One click will unsubscribe when --url of this server is an https address.");
  }
  if (!/<https:\/\/[^>]{1,4096}>/i.test(list)) {
    return warning("List-Unsubscribe has no https address, so one click cannot unsubscribe.");
  }
  if (!isOneClick) {
    return warning("List-Unsubscribe-Post: List-Unsubscribe=One-Click is missing.");
  }
  return ok("One click unsubscribes (RFC 8058).");
}

const addressesIn = (list: string): string[] =>
  [...list.matchAll(/<([^<>]{1,4096})>/g)].map(([, address = ""]) => address);

function lineLength({ raw }: Linted): Found {
  const longest = longestLine(raw);
  if (longest <= LONGEST_LINE) return ok(`The longest line has ${longest} bytes.`);
  return error(`A line has ${longest} bytes; RFC 5322 allows ${LONGEST_LINE}.`);
}

function longestLine(raw: Uint8Array): number {
  let longest = 0;
  let start = 0;
  for (let end = raw.indexOf(0x0a); end !== -1; end = raw.indexOf(0x0a, start)) {
    longest = Math.max(longest, end - start - (raw[end - 1] === 0x0d ? 1 : 0));
    start = end + 1;
  }
  return Math.max(longest, raw.byteLength - start);
}

function lineEnds({ hasBareLf }: Linted): Found {
  if (!hasBareLf) return ok("All lines ended with CRLF.");
  return error("Lines ended with LF alone; strict servers refuse that (RFC 5321 §2.3.8).");
}

function headerCharacters({ detail: { headers } }: Linted): Found {
  const odd = headers.filter(({ value }) => /[^\t\x20-\x7e]/.test(value)).map(({ name }) => name);
  if (odd.length === 0) return ok("All headers are ASCII.");
  const names = [...new Set(odd)].slice(0, 10).join(", ");
  return warning(`These headers have characters beyond ASCII and need SMTPUTF8: ${names}.`);
}
