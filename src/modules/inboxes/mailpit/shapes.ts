/**
 * The shapes of Mailpit's answers. Clients compare them with full equality, so they have exactly
 * these members.
 */

import { parseEnvelope } from "../envelope.ts";
import type { NamedAddress, MessageRecord, Part } from "../messages/record.ts";
import type { Detail } from "../../../checks/detail.ts";

type Address = { Name: string; Address: string };

const NO_ADDRESS: Address = { Name: "", Address: "" };

const addressOf = ({ name, address }: NamedAddress): Address => ({ Name: name, Address: address });

export function mailpitSummary(message: MessageRecord) {
  const { addresses } = message;
  const [from] = addresses.from;
  return {
    ID: message.id,
    MessageID: message.messageId,
    Read: message.isRead,
    From: from === undefined ? NO_ADDRESS : addressOf(from),
    To: addresses.to.map(addressOf),
    Cc: addresses.cc.map(addressOf),
    Bcc: addresses.bcc.map(addressOf),
    ReplyTo: addresses.replyTo.map(addressOf),
    Subject: message.subject,
    Created: timeOf(new Date(message.receivedAt).toISOString()),
    Username: message.username,
    Tags: message.tags,
    Size: message.size,
    Attachments: message.attachments,
    Snippet: message.snippet,
  };
}

/** A time as Go writes it: RFC 3339 without zeros at the end of the fraction. */
export function timeOf(text: string): string {
  return text.replace(/(?:\.000|(?<=\.\d)00|(?<=\.\d\d)0)Z$/, "Z");
}

function attachmentOf(part: Part) {
  return {
    PartID: part.partId,
    FileName: part.filename,
    ContentType: part.contentType,
    ContentID: part.contentId.replace(/^<|>$/g, ""),
    Size: part.size,
    Checksums: { MD5: part.md5, SHA1: part.sha1, SHA256: part.sha256 },
  };
}

export function mailpitMessage(message: MessageRecord, detail: Detail, parts: readonly Part[]) {
  const { ID, MessageID, From, To, Cc, Bcc, ReplyTo, Subject, Username, Tags, Size, Created } =
    mailpitSummary(message);
  return {
    ID,
    MessageID,
    // Mailpit left this field out later, and mailpit-api-client for Python requires it.
    Read: true,
    From,
    To,
    Cc,
    Bcc,
    ReplyTo,
    ReturnPath: parseEnvelope(message.envelope).from,
    Subject,
    ListUnsubscribe: listUnsubscribeOf(detail),
    Date: message.date === null ? Created : timeOf(message.date),
    Tags,
    Username,
    Text: detail.text,
    HTML: detail.html,
    Size,
    Inline: parts.filter(({ isInline }) => isInline).map(attachmentOf),
    Attachments: parts.filter(({ isInline }) => !isInline).map(attachmentOf),
  };
}

/** The links of List-Unsubscribe (RFC 2369), and List-Unsubscribe-Post (RFC 8058). */
function listUnsubscribeOf({ headers }: Detail) {
  const Header = valueOf(headers, "list-unsubscribe");
  const Links = [...Header.matchAll(/<([^<>]{1,2000})>/g)].map(([, link = ""]) => link.trim());
  const isKnown = Links.every((link) => /^(?:https?:|mailto:)/i.test(link));
  const Errors =
    Header === ""
      ? ""
      : Links.length === 0
        ? "the header has no links in angle brackets"
        : isKnown
          ? ""
          : "a link is neither http(s) nor mailto";
  return { Header, Links, Errors, HeaderPost: valueOf(headers, "list-unsubscribe-post") };
}

function valueOf(headers: Detail["headers"], name: string): string {
  return headers.find((header) => header.name.toLowerCase() === name)?.value.trim() ?? "";
}

/** Names in the canonical case of MIME headers, sorted; each with the values of its occurrences. */
export function headersOf({ headers }: Detail): Record<string, string[]> {
  const found = new Map<string, string[]>();
  for (const { name, value } of headers) {
    const key = canonicalName(name);
    const values = found.get(key);
    if (values === undefined) found.set(key, [value.trim()]);
    else values.push(value.trim());
  }
  return Object.fromEntries([...found].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Each word begins with a capital and goes on in small letters: `Message-Id`, `Dkim-Signature`. */
function canonicalName(name: string): string {
  return name
    .split("-")
    .map((word) => word.charAt(0).toUpperCase() + word.slice(1).toLowerCase())
    .join("-");
}
