/**
 * Mailparser with the changes that messages of real programs need:
 *
 * 1. A delimiter may end with blanks (RFC 2046 §5.1.1, "transport-padding").
 * 2. A part whose Content-Type is empty or no media type gets one from its name, and a multipart
 *    without a boundary, or of whose boundary there is no delimiter, the one of its first delimiter; without
 *    delimiters it is text.
 * 3. If a field must occur once, its first occurrence with a value counts, as in mail programs.
 * 4. The delimiter of an outer multipart also ends an inner one that has no end (RFC 2046 §5.1.2).
 * 5. Lines after the last field of a header, which no blank line separates from it, belong to the body.
 * 6. Uuencoded bodies are decoded.
 * 7. Texts are decoded by decode-text.ts, and keep their line ends; HTML beside a text stays as it is.
 */

import { withoutComments } from "../../../protocols/mime/comments.ts";
import { isUtf8 } from "node:buffer";
import { Duplex } from "node:stream";
import {
  type Attachment,
  type AttachmentStream,
  type HeaderLines,
  type Headers,
  MailParser,
  type MessageText,
  type SplitNode,
  type TreeNode,
} from "mailparser";
import { contentTypeOf } from "../../../protocols/mime/file-types.ts";
import { decodeText } from "./decode-text.ts";
import {
  meantBoundary,
  meantEncoding,
  meantMediaType,
  meantName,
  withoutQuotes,
} from "./field-repairs.ts";
import { decodeUuencode, isUuencode } from "./uuencode.ts";

const OPTIONS = {
  skipHtmlToText: true,
  skipTextToHtml: true,
  skipImageLinks: true,
  skipTextLinks: true,
} as const;
/** Mailparser needs less time and memory for pieces than for one large buffer. */
const PIECE_BYTES = 1024 * 1024;

const MEDIA_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}$/;
/** Fields that occur once (RFC 5322 §3.6, RFC 2045 §3). */
const SINGLE_FIELDS: ReadonlySet<string> = new Set([
  "content-disposition",
  "content-id",
  "content-transfer-encoding",
  "content-type",
  "date",
  "from",
  "in-reply-to",
  "message-id",
  "reply-to",
  "sender",
  "subject",
]);
const SPACE = 0x20;
const HYPHEN = 0x2d;
const HYPHENS = Buffer.from("--");
/** Multiparts whose first delimiter is looked for. */
const MAX_SEARCHES = 20;
const TAB = 0x09;
const CR = 0x0d;
const LF = 0x0a;
/** Bytes after the header in which the first delimiter is looked for. */
const DELIMITER_BYTES = 64 * 1024;
/** Outer multiparts whose delimiters are looked for. */
const MAX_OUTER = 20;
/** Matches a possible header field. HTML is excluded: its colons are those of URLs and styles. */
const FIELD = /^[^:<]{0,200}:/;
/** Longest beginning of a line in which the name of a field is looked for. */
const FIELD_BYTES = 300;
const DELIMITER = /^--([^\r\n]{1,200})\r?$/m;

export type ParsedParts = {
  headers: Headers;
  headerLines: HeaderLines;
  /** Line ends are as in the message. */
  text: string;
  html: string;
  attachments: Attachment[];
};

export function parseMessage(raw: Buffer): Promise<ParsedParts> {
  const parser = new MessageParser(raw);
  const mail: ParsedParts = {
    headers: new Map(),
    headerLines: [],
    text: "",
    html: "",
    attachments: [],
  };
  const parsed = new Promise<ParsedParts>((resolve, reject) => {
    parser.on("error", reject);
    parser.on("headers", (headers: Headers) => {
      Object.assign(mail, { headers, headerLines: parser.headerLines });
    });
    parser.on("data", (data: AttachmentStream | MessageText) => {
      if (data.type === "attachment") collect(data, mail.attachments, reject);
      else Object.assign(mail, { text: data.text ?? "", html: data.html || "" });
    });
    parser.on("end", () => resolve(mail));
  });
  for (let at = 0; at < raw.byteLength; at += PIECE_BYTES) {
    parser.write(raw.subarray(at, at + PIECE_BYTES));
  }
  parser.end();
  return parsed;
}

/** Reads the content of an attachment; the parser waits for it. */
function collect(
  stream: AttachmentStream,
  attachments: Attachment[],
  reject: (error: Error) => void,
): void {
  const pieces: Buffer[] = [];
  const { content } = stream;
  const attachment: Attachment = { ...stream, content: Buffer.alloc(0), related: false };
  attachments.push(attachment);
  content.on("data", (piece: Buffer) => void pieces.push(piece));
  content.on("error", reject);
  content.on("end", () => {
    // The parser sets members, such as the content id, until the content ends.
    Object.assign(attachment, stream, { content: Buffer.concat(pieces) });
    stream.release();
  });
}

type TextPart = { charset: string; isHtml: boolean };

class MessageParser extends MailParser {
  readonly #raw: Buffer;
  /** The text parts, by the names that stand for their charsets. */
  readonly #texts = new Map<string, TextPart>();
  #searches = 0;
  /** Lines that were read as a part of a header, and belong to the body of the part. */
  readonly #unseparated = new Map<SplitNode, Buffer>();

  constructor(raw: Buffer) {
    super(OPTIONS);
    this.#raw = raw;
    const { splitter, decoder } = this;
    const compare = splitter.compareBoundary.bind(splitter);
    splitter.compareBoundary = (line, start, boundary) =>
      compare(withoutPadding(line, start + boundary.byteLength), start, boundary);
    const check = splitter.checkBoundary.bind(splitter);
    splitter.checkBoundary = (line) => {
      const found = check(line);
      const result = found === false ? outerBoundary(splitter, line) : found;
      if (result === 3) pushHeaderOnly(splitter);
      return result;
    };
    const addNode = splitter.newNode.bind(splitter);
    splitter.newNode = (parent) => {
      addNode(parent);
      this.#repairWhenRead(splitter.node);
    };
    this.#repairWhenRead(splitter.node);
    const decodeOthers = decoder.decodeStream.bind(decoder);
    decoder.decodeStream = (name) => {
      const part = this.#texts.get(name);
      return part === undefined ? decodeOthers(name) : textDecoder(part, decodeOthers);
    };
  }

  override processHeaders(lines: HeaderLines): Headers {
    return super.processHeaders(firstOfSingleFields(lines).map(withUtf8));
  }

  override createNode(node: SplitNode): TreeNode {
    const created = super.createNode(node);
    const unseparated = this.#unseparated.get(node);
    if (unseparated !== undefined) created.decoder?.write(unseparated);
    if (created.isAttachment === false) {
      const name = `text ${this.#texts.size}`;
      const isHtml = created.contentType === "text/html";
      this.#texts.set(name, { charset: created.charset ?? "", isHtml });
      created.charset = name;
    }
    return created;
  }

  /** Mailparser joins an empty text to the HTML for each part of text beside it, and vice versa. */
  override getTextContent(): MessageText {
    const content = super.getTextContent();
    const { tree } = this;
    if (tree === false || hasForwarded(tree)) return content;
    return {
      type: "text",
      text: textsOf(tree, ["text/plain", "message/delivery-status"]).join("\n"),
      html: textsOf(tree, ["text/html"]).join("<br/>\n"),
    };
  }

  /** Repairs the type of a part after its header was read and before its body is split. */
  #repairWhenRead(node: SplitNode): void {
    const parse = node.parseHeaders.bind(node);
    node.parseHeaders = () => {
      const isParsed = Boolean(node.headers);
      const unseparated = isParsed ? null : takeUnseparated(node);
      parse();
      if (isParsed) return;
      if (unseparated !== null) this.#unseparated.set(node, unseparated);
      this.#repair(node);
    };
    const getDecoder = node.getDecoder.bind(node);
    node.getDecoder = () => (isUuencode(node.encoding) ? uuencodeDecoder() : getDecoder());
  }

  #repair(node: SplitNode): void {
    repairFields(node);
    if (node.multipart === false) return;
    if (node._boundary !== false) node._boundary = withoutBlanks(node._boundary);
    if (this.#hasDelimiter(node)) return;
    const isRoot = (node.parentNode ?? false) === false;
    const boundary = isRoot ? firstDelimiter(this.#raw) : null;
    if (boundary !== null) node._boundary = boundary;
    else Object.assign(node, { contentType: "text/plain", multipart: false, _boundary: false });
  }

  /** True if the message has a delimiter of the multipart. */
  #hasDelimiter({ _boundary: boundary }: SplitNode): boolean {
    if (boundary === false) return false;
    // Each search may read the whole message.
    if (++this.#searches > MAX_SEARCHES) return true;
    return this.#raw.includes(Buffer.concat([HYPHENS, boundary]));
  }
}

/** The texts of the parts of these types, in their order. */
function textsOf(node: TreeNode, types: readonly string[]): string[] {
  const isShown = node.contentType !== false && types.includes(node.contentType);
  const own = isShown && node.textContent !== undefined ? [node.textContent] : [];
  return [...own, ...(node.children ?? []).flatMap((child) => textsOf(child, types))];
}

function hasForwarded(node: TreeNode): boolean {
  return node.showMeta === true || (node.children ?? []).some(hasForwarded);
}

/**
 * 3 for the delimiter of a multipart around the one that the line is in, 4 for its last one. The part
 * that follows is then one of that multipart.
 */
function outerBoundary(splitter: MailParser["splitter"], line: Buffer): 3 | 4 | false {
  if (line.byteLength < 4 || line[0] !== HYPHEN || line[1] !== HYPHEN) return false;
  const { node } = splitter;
  let owner = node._parentBoundaryOwner;
  for (let i = 0; i < MAX_OUTER && owner !== false; i++) {
    owner = owner.parentNode ?? false;
    const boundary = owner === false ? false : owner._boundary;
    const found = boundary === false ? false : splitter.compareBoundary(line, 0, boundary);
    if (found === false) continue;
    node._parentBoundaryOwner = owner;
    node._parentBoundary = boundary;
    return found === 1 ? 3 : 4;
  }
  return false;
}

/** A part whose header a delimiter ends, instead of a blank line, is a part, too. */
function pushHeaderOnly(splitter: MailParser["splitter"]): void {
  const { node } = splitter;
  if (node._headerlen === 0 || Boolean(node.headers)) return;
  node.parseHeaders();
  splitter.push(node);
}

/** Removes the lines after the last field from a header; null if there are none. */
function takeUnseparated(node: SplitNode): Buffer | null {
  const lines = node._headersLines;
  const lastField = lines.findLastIndex((line) =>
    FIELD.test(line.toString("latin1", 0, FIELD_BYTES)),
  );
  const after = lines.findIndex((line, i) => i > lastField && line[0] !== SPACE && line[0] !== TAB);
  const rest = after === -1 ? [] : lines.slice(after);
  const bytes = Buffer.concat(rest);
  if (bytes.toString("latin1").trim() === "") return null;
  node._headersLines = lines.slice(0, after);
  node._headerlen -= bytes.byteLength;
  return bytes;
}

/** Decodes a uuencoded body when all its bytes are there. */
function uuencodeDecoder(): Duplex {
  return Duplex.from(async function* decode(pieces: AsyncIterable<Buffer>) {
    yield decodeUuencode(Buffer.concat(await Array.fromAsync(pieces)));
  });
}

/** Sets the intended meaning of the fields of a part (field-repairs.ts). */
function repairFields(node: SplitNode): void {
  const field = (name: string) => (node.headers === false ? "" : node.headers.getFirst(name));
  const encoding = field("Content-Transfer-Encoding");
  if (encoding !== "") node.encoding = meantEncoding(encoding.toLowerCase());
  const [disposition, type] = [field("Content-Disposition"), field("Content-Type")];
  const name = node.filename === false ? meantName(disposition, type) : node.filename;
  if (name !== null) {
    const meant = withoutQuotes(name);
    // A part without a type has that of its name.
    if (type === "" && meant !== node.filename) node.contentType = contentTypeOf(meant);
    node.filename = meant;
  }
  if (node.disposition !== false)
    node.disposition = withoutComments(node.disposition).split(/[\s,]/, 1)[0] ?? "";
  if (node.contentType !== false && MEDIA_TYPE.test(node.contentType)) return;
  node.contentType = meantMediaType(type) ?? typeOfUntyped(node);
  const isMultipart = node.contentType.startsWith("multipart/");
  node.multipart = isMultipart ? node.contentType.slice("multipart/".length) : false;
  const boundary = isMultipart ? meantBoundary(type) : null;
  if (boundary !== null) node._boundary = Buffer.from(boundary, "latin1");
}

/** The type of a part that names none (RFC 2045 §5.2). */
function typeOfUntyped({ filename, disposition }: SplitNode): string {
  if (filename !== false) return contentTypeOf(filename);
  return disposition === "attachment" ? "application/octet-stream" : "text/plain";
}

/** The line without the blanks before its end; `from` is where they may begin. */
function withoutPadding(line: Buffer, from: number): Buffer {
  let end = line.byteLength;
  while (end > 0 && (line[end - 1] === LF || line[end - 1] === CR)) end--;
  let last = end;
  while (last > from && (line[last - 1] === SPACE || line[last - 1] === TAB)) last--;
  return last === end ? line : Buffer.concat([line.subarray(0, last), line.subarray(end)]);
}

/** A boundary does not end with blanks (RFC 2046 §5.1.1). */
function withoutBlanks(boundary: Buffer): Buffer {
  return Buffer.from(boundary.toString("latin1").trimEnd(), "latin1");
}

function firstDelimiter(raw: Buffer): Buffer | null {
  const crlf = raw.indexOf("\r\n\r\n");
  const start = crlf === -1 ? raw.indexOf("\n\n") : crlf;
  if (start === -1) return null;
  const text = raw.toString("latin1", start, start + DELIMITER_BYTES);
  const boundary = DELIMITER.exec(text)?.[1]?.trimEnd() ?? "";
  return boundary === "" ? null : Buffer.from(boundary, "latin1");
}

/** Leaves repeated fields out that must occur once: the first one with a value counts. */
function firstOfSingleFields(lines: HeaderLines): HeaderLines {
  const chosen = new Map<string, HeaderLines[number]>();
  for (const line of lines) {
    const known = chosen.get(line.key);
    if (known === undefined || (isEmpty(known) && !isEmpty(line))) chosen.set(line.key, line);
  }
  return lines.filter((line) => !SINGLE_FIELDS.has(line.key) || chosen.get(line.key) === line);
}

/** A field whose octets are no UTF-8 has those of Windows-1252, as texts without a charset have. */
function withUtf8(field: HeaderLines[number]): HeaderLines[number] {
  const bytes = Buffer.from(field.line, "latin1");
  if (isUtf8(bytes)) return field;
  const text = new TextDecoder("windows-1252").decode(bytes);
  return { ...field, line: Buffer.from(text).toString("latin1") };
}

function isEmpty({ line }: HeaderLines[number]): boolean {
  return line.slice(line.indexOf(":") + 1).trim() === "";
}

/** Decodes a text when all its bytes are there. */
function textDecoder(part: TextPart, decodeOthers: (charset: string) => Duplex): Duplex {
  return Duplex.from(async function* decode(pieces: AsyncIterable<Buffer>) {
    const bytes = Buffer.concat(await Array.fromAsync(pieces));
    const text = decodeText(bytes, part) ?? (await decodeRarely(bytes, part, decodeOthers));
    yield withKeptLineEnds(text);
  });
}

/** Decodes with the tables of mailparser; a charset that it does not know either is guessed. */
async function decodeRarely(
  bytes: Buffer,
  part: TextPart,
  open: (charset: string) => Duplex,
): Promise<string> {
  try {
    const stream = open(part.charset);
    stream.end(bytes);
    const pieces = await Array.fromAsync(stream, (piece: string | Buffer) => Buffer.from(piece));
    return Buffer.concat(pieces).toString();
  } catch {
    return decodeText(bytes, { ...part, charset: "" }) ?? "";
  }
}

/** Mailparser makes LF of each CRLF; of the two CRs, the first one stays. */
function withKeptLineEnds(text: string): Buffer {
  return Buffer.from(text.replaceAll("\r\n", "\r\r\n"));
}
