/** The members of mailparser that message-parser.ts replaces; its own types leave them out. */

import type { Duplex } from "node:stream";
import type { HeaderLines, Headers } from "mailparser";

declare module "mailparser" {
  /** A part as the splitter sees it. */
  interface SplitNode {
    contentType: string | false;
    /** The subtype of a multipart. */
    multipart: string | false;
    charset: string | false;
    disposition: string | false;
    filename: string | false;
    encoding: string | false;
    headers: { getFirst(name: string): string } | false;
    parseHeaders(): void;
    getDecoder(): Duplex;
    _boundary: Buffer | false;
    /** The boundary of the multipart that the part is in, and that multipart. */
    _parentBoundary: Buffer | false;
    _parentBoundaryOwner: SplitNode | false;
    /** The lines of the header, also before it is parsed. */
    _headersLines: Buffer[];
    _headerlen: number;
    parentNode?: SplitNode | false | null;
  }

  interface TreeNode {
    charset?: string;
    contentType: string | false;
    isAttachment?: boolean;
    /** The decoded text of a text part. */
    textContent?: string;
    /** Set on the header of a forwarded message, which is shown before its text. */
    showMeta?: boolean;
    children?: TreeNode[];
    /** Decodes the body; a multipart has none. */
    decoder?: Duplex;
  }

  interface MailParser {
    splitter: {
      node: SplitNode;
      newNode(parent?: SplitNode): void;
      compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false;
      /** 1: a child follows; 2: the last child ends; 3 and 4: the same of the parent. */
      checkBoundary(line: Buffer): 1 | 2 | 3 | 4 | false;
      push(node: SplitNode): void;
    };
    decoder: { decodeStream(charset: string): Duplex };
    headerLines: HeaderLines;
    tree: TreeNode | false;
    getTextContent(): MessageText;
    createNode(node: SplitNode): TreeNode;
    processHeaders(lines: HeaderLines): Headers;
  }
}
