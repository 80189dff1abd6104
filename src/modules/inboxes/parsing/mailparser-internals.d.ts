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
    headers: unknown;
    parseHeaders(): void;
    _boundary: Buffer | false;
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
  }

  interface MailParser {
    splitter: {
      node: SplitNode;
      newNode(parent?: SplitNode): void;
      compareBoundary(line: Buffer, start: number, boundary: Buffer): 1 | 2 | false;
    };
    decoder: { decodeStream(charset: string): Duplex };
    headerLines: HeaderLines;
    tree: TreeNode | false;
    getTextContent(): MessageText;
    createNode(node: SplitNode): TreeNode;
    processHeaders(lines: HeaderLines): Headers;
  }
}
