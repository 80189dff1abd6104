/**
 * Members of the classes of mailparser that its types leave out (lib/mail-parser.js, and
 * lib/mime-node.js of its package for MIME parts). simple-message.ts calls them; its test compares
 * the results with those of the whole parser.
 */

import type { HeaderLines, Headers } from "mailparser";

declare module "mailparser" {
  /** The header section of a message or part. */
  type MimeNode = {
    /** Adds lines, with their line ends. */
    addHeaderChunk(lines: Buffer): void;
    parseHeaders(): void;
    /** False before `parseHeaders`. */
    headers: false | { getList(): HeaderLines };
    contentType: string | false;
    charset: string | false;
    disposition: string | false;
    encoding: string | false;
    /** Whether `format=flowed` was announced. */
    flowed: boolean;
    _boundary: Buffer | false;
  };

  interface MailParser {
    /** `newNode` replaces `node` by an empty one. */
    splitter: { node: MimeNode; newNode(): void };
    processHeaders(lines: HeaderLines): Headers;
    getAddressesHTML(value: unknown): string;
  }
}
