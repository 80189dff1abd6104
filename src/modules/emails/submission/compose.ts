/**
 * Submitted messages that ask for tracking or the rules of marketing mail. Both change the content for
 * each recipient, so such a message is not sent as it is: its texts and files become the content of
 * mails like those of POST /v1/send.
 */

import PQueue from "p-queue";
import { senderOfProject } from "../../../lib/message-senders.ts";
import type { SharedMessage } from "../../../outbox/enqueue.ts";
import { isDateTime } from "../../../http/formats.ts";
import type { TemplateCache } from "../../../render/template/cache.ts";
import { isContentId } from "../../../protocols/mime/headers.ts";
import { decodeOctets } from "../../../protocols/mime/encode-fields.ts";
import { parseFrom } from "../../../protocols/mime/from-field.ts";
import { displayName, mailboxText, splitMailboxes } from "../../../protocols/mime/mailbox.ts";
import {
  decodeMailbox,
  fieldsOf,
  type SubmittedHeader,
} from "../../../protocols/mime/submitted-header.ts";
import type { ArrivedMessage } from "./arrival.ts";
import { PRIORITY_FIELDS } from "../priority.ts";
import { scheduleFault } from "../schedule.ts";
import { parseTagList, writeTags } from "../tags.ts";
import { SubmissionRefusal } from "./refusal.ts";

type ParsedPart = {
  partId: string;
  filename: string;
  contentType: string;
  contentId: string;
  isInline: boolean;
  size: number;
};

/** Parses messages in a thread. */
export type SubmissionParser = {
  /** Null if the message cannot be parsed. */
  read(
    raw: Uint8Array,
    sender: string,
  ): Promise<{ text: string; html: string; parts: ParsedPart[] } | null>;
  /** The contents of the parts by their ids. */
  parts(
    raw: Uint8Array,
    partIds: readonly string[],
    sender: string,
  ): Promise<ReadonlyMap<string, Uint8Array>>;
};

/** The options that our own header fields of a message set. */
type SubmissionOptions = {
  isMarketing: boolean;
  isTracked: boolean;
  /** JSON; null for none. */
  tags: string | null;
  /** Null for mail that is sent at once. */
  scheduledAt: number | null;
};

/** The same limits as over HTTP. */
const MAX_REPLY_TO = 10;
const MAX_ATTACHMENTS = 10;
const MAX_ATTACHMENT_BYTES = 10 * 1024 * 1024;
/** Longest message: attachments in base64, and texts. */
const MAX_BYTES = 16 * 1024 * 1024;
const MEDIA_TYPE = /^[a-z0-9!#$&^_.+-]{1,64}\/[a-z0-9!#$&^_.+-]{1,64}$/i;

/** Throws the refusal of a value that an own field cannot have. */
export function readOptions(options: ReadonlyMap<string, string>, now: number): SubmissionOptions {
  const type = valueOf(options, "Type", ["TRANSACTIONAL", "MARKETING"]);
  const tracking = valueOf(options, "Tracking", ["off", "on"]);
  const isMarketing = type === "MARKETING";
  if (isMarketing && options.has("tracking") && tracking === "off") {
    const text = "X-Mailstead-Tracking: off is not possible for MARKETING; change the project";
    throw new SubmissionRefusal(550, `5.6.0 ${text}`);
  }
  return {
    isMarketing,
    isTracked: tracking === "on",
    tags: tagsIn(options.get("tags")),
    scheduledAt: timeIn(options.get("scheduled-at"), now),
  };
}

function tagsIn(text: string | undefined): string | null {
  if (text === undefined) return null;
  const tags = parseTagList(decodeOctets(text));
  if (tags !== null) return writeTags(tags);
  const form = "X-Mailstead-Tags must be up to 10 tags, as in order=1001; kind=receipt";
  throw new SubmissionRefusal(550, `5.6.0 ${form}`);
}

function timeIn(text: string | undefined, now: number): number | null {
  if (text === undefined) return null;
  const name = "5.6.0 X-Mailstead-Scheduled-At";
  if (!isDateTime(text)) {
    throw new SubmissionRefusal(550, `${name} must be a time such as 2026-03-02T09:00:00Z`);
  }
  const at = Date.parse(text);
  const fault = scheduleFault(at, now);
  if (fault !== null) throw new SubmissionRefusal(550, `${name} ${fault.message}`);
  return at;
}

/** One of the words, in any letter case; the first one without the field. */
function valueOf(
  options: ReadonlyMap<string, string>,
  name: string,
  words: readonly [string, string],
): string {
  const given = options.get(name.toLowerCase());
  if (given === undefined) return words[0];
  const word = words.find((each) => each.toLowerCase() === given.toLowerCase());
  if (word !== undefined) return word;
  throw new SubmissionRefusal(550, `5.6.0 X-Mailstead-${name} must be ${words.join(" or ")}`);
}

/** Returns the function that makes the content of mails of a message. */
export function createRecomposition(deps: {
  parser: SubmissionParser;
  templateCache: TemplateCache;
  readPiece: (messageSeq: number, position: number) => Buffer;
}) {
  const { parser, templateCache, readPiece } = deps;
  const queue = new PQueue({ concurrency: 1 });

  function rawOf({ header, body, stored }: ArrivedMessage): Buffer {
    const pieces: Uint8Array[] = [Buffer.from(`${header}\r\n\r\n`, "latin1")];
    let bytes = body.byteLength;
    const { seq = 0, pieces: count = 0 } = stored ?? {};
    for (let n = 1; n <= count; n++) {
      const piece = readPiece(seq, n);
      bytes += piece.byteLength;
      if (bytes > MAX_BYTES) throw tooLarge();
      pieces.push(piece);
    }
    return Buffer.concat([...pieces, body]);
  }

  async function attachmentsOf(
    { raw, sender }: { raw: Uint8Array; sender: string },
    parts: readonly ParsedPart[],
  ): Promise<SharedMessage["attachments"]> {
    const bytes = parts.reduce((sum, { size }) => sum + size, 0);
    if (parts.length > MAX_ATTACHMENTS || bytes > MAX_ATTACHMENT_BYTES) throw tooLarge();
    if (parts.length === 0) return [];
    const contents = await parser.parts(
      raw,
      parts.map(({ partId }) => partId),
      sender,
    );
    return parts.map((part) => attachmentOf(part, contents.get(part.partId)));
  }

  async function recompose(
    projectSeq: number,
    { header, arrived, isMarketing }: Submitted,
  ): Promise<SharedMessage> {
    const raw = rawOf(arrived);
    const sender = senderOfProject(projectSeq);
    const parsed = await parser.read(raw, sender);
    if (parsed === null) throw new SubmissionRefusal(550, "5.6.0 The message cannot be parsed");
    const { text, html, parts } = parsed;
    const source = literal(html.trim() === "" ? htmlOf(text) : html);
    const compiled = templateCache.compile(source, "html");
    if (!compiled.ok) {
      throw new SubmissionRefusal(550, `5.6.0 The text cannot be used: ${compiled.message}`);
    }
    return {
      ...(text.trim() === "" ? {} : { text: literal(text) }),
      projectSeq,
      fromAddress: header.from.address,
      fromName: header.from.name,
      replyTo: replyToOf(arrived.header),
      html: source,
      headers: keptFields(arrived.header),
      isMarketing,
      attachments: await attachmentsOf({ raw, sender }, parts),
    };
  }

  return (projectSeq: number, message: Submitted): Promise<SharedMessage> =>
    message.arrived.stored === null
      ? recompose(projectSeq, message)
      : queue.add(() => recompose(projectSeq, message));
}

type Submitted = { header: SubmittedHeader; arrived: ArrivedMessage; isMarketing: boolean };

function attachmentOf(part: ParsedPart, content: Uint8Array | undefined) {
  const id = part.contentId.replace(/^<|>$/g, "");
  const contentId = isContentId(id) ? id : null;
  return {
    filename: displayName(part.filename) || "attachment",
    contentType: MEDIA_TYPE.test(part.contentType) ? part.contentType : "application/octet-stream",
    contentId,
    disposition:
      part.isInline && contentId !== null ? ("inline" as const) : ("attachment" as const),
    bytes: Buffer.from(content ?? []),
  };
}

/** The bodies and texts of mails are templates: what would begin a placeholder is written by one. */
function literal(source: string): string {
  return source.replace(/\{(?=[{%])/g, '{{ "{" }}');
}

const ESCAPED: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
};

function htmlOf(text: string): string {
  const escaped = text.replace(/[&<>"]/g, (character) => ESCAPED[character] ?? character);
  return `<div style="white-space: pre-wrap">${escaped.trimEnd()}</div>`;
}

function replyToOf(header: string): string | null {
  const field = fieldsOf(header)?.find(({ name }) => name === "reply-to");
  if (field === undefined) return null;
  const texts = splitMailboxes(decodeOctets(field.value)).slice(0, MAX_REPLY_TO).map(parseFrom);
  const mailboxes = texts.flatMap((read) => (read.ok ? [decodeMailbox(read.mailbox)] : []));
  return mailboxes.length === 0 ? null : mailboxes.map(mailboxText).join(", ");
}

/** The fields of a message that is composed again that stay; all others are written anew. */
const KEPT = new Map(
  ["In-Reply-To", "References", ...PRIORITY_FIELDS].map((name) => [name.toLowerCase(), name]),
);

function keptFields(header: string): [name: string, value: string][] {
  return (fieldsOf(header) ?? []).flatMap(({ name, value }): [string, string][] => {
    const written = KEPT.get(name);
    const trimmed = value.trim();
    const isPlain = /^[\t -~]{1,900}$/.test(trimmed);
    return written === undefined || !isPlain ? [] : [[written, trimmed]];
  });
}

function tooLarge(): SubmissionRefusal {
  return new SubmissionRefusal(
    552,
    "5.3.4 Mail with tracking or of the type MARKETING has at most 10 files, of 10 MiB together",
  );
}
