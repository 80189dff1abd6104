/** Presents inboxes and messages as the HTTP interface shows them. */

import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { parseEnvelope } from "./envelope.ts";
import type { MessageRecord, Part } from "./messages/record.ts";
import type { Counts } from "./messages/numbers.ts";
import type { Inbox } from "./inbox-model.ts";
import type { Message, MessageDetail } from "./model.ts";
import type { Detail } from "../../checks/detail.ts";
import { ADDRESS_DOMAIN, type InboxRow } from "./service.ts";

export function presentInbox(
  inbox: InboxRow,
  password: string,
  counts: Counts & { activeRules: number },
): Inbox {
  return {
    id: inbox.id,
    name: inbox.name,
    username: inbox.id,
    password,
    addressSuffix: `@${inbox.id}.${ADDRESS_DOMAIN}`,
    ...counts,
    expiresAt: isoTimeOrNull(inbox.expiresAt),
    createdAt: isoTime(inbox.createdAt),
  };
}

export function presentMessage(record: MessageRecord): Message {
  const { addresses, receivedAt, isRead, isPinned } = record;
  const { from, to, peer, helo, tls, sessionId, hasBareLf } = parseEnvelope(record.envelope);
  return {
    id: record.id,
    messageId: record.messageId,
    from: addresses.from[0] ?? null,
    to: addresses.to,
    cc: addresses.cc,
    bcc: addresses.bcc,
    replyTo: addresses.replyTo,
    subject: record.subject,
    snippet: record.snippet,
    date: record.date,
    receivedAt: isoTime(receivedAt),
    size: record.size,
    attachments: record.attachments,
    inlines: record.inlines,
    read: isRead,
    pinned: isPinned,
    tags: record.tags,
    username: record.username,
    emailId: record.emailId,
    envelope: {
      from,
      to: to.map(({ address }) => address),
      peer,
      helo,
      tls,
      sessionId,
      bareLf: hasBareLf,
    },
    parseError: record.parseError,
  };
}

export function presentDetail(
  record: MessageRecord,
  { text, html, headers }: Detail,
  parts: readonly Part[],
): MessageDetail {
  return {
    ...presentMessage(record),
    text,
    html,
    headers,
    parts: parts.map(({ partId, filename, contentType, contentId, isInline, size, sha256 }) => ({
      partId,
      filename,
      contentType,
      contentId,
      inline: isInline,
      size,
      sha256,
    })),
  };
}
