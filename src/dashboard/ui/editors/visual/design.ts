/**
 * A design: the document of the editor and its theme, stored beside the body that is made of it. A
 * design of another program, or of a later version with other blocks, is not opened, so that nothing
 * of it is lost.
 */

import { type MailTheme, readTheme } from "./mail-theme.ts";

export type DesignMark = { type: string; attrs: Record<string, unknown> };
export type DesignNode = {
  type: string;
  attrs: Record<string, unknown>;
  text: string;
  marks: DesignMark[];
  content: DesignNode[];
};

export type Design = {
  theme: MailTheme;
  document: DesignNode;
  /** Whether a layout is around the letter, so that its body has the blocks alone. */
  isFragment: boolean;
};

/** The stored form of a design: its document, its theme and the version of both. */
export type StoredDesign = {
  version: 1;
  theme: MailTheme;
  document: object;
  isFragment?: true;
};

const VERSION = 1;
const MAX_NODES = 50_000;
const MAX_DEPTH = 40;

/** The blocks and their names in messages. */
const NODES = new Set(
  (
    "doc paragraph heading text hardBreak bulletList orderedList listItem blockquote horizontalRule " +
    "button image twoColumns threeColumns fourColumns columnsColumn section spacer htmlBlock " +
    "condition variable social footer"
  ).split(" "),
);
const MARKS = new Set("bold italic underline strike code sup link textColor".split(" "));

export type ReadDesign = { ok: true; design: Design } | { ok: false; problem: string };

/** Reads a stored design. The problem is a sentence for the page. */
export function readDesign(stored: unknown, base?: MailTheme): ReadDesign {
  if (!isObject(stored)) return refuse("It is no design.");
  if (stored["version"] !== VERSION) {
    return refuse("It was made by another program, or by a newer version of this one.");
  }
  const state = { nodes: 0 };
  const read = readNode(stored["document"], 0, state);
  if (typeof read === "string") return refuse(read);
  if (read.type !== "doc") return refuse("Its document is missing.");
  const theme = readTheme(stored["theme"], base);
  return { ok: true, design: { theme, document: read, isFragment: stored["isFragment"] === true } };
}

const refuse = (problem: string): ReadDesign => ({ ok: false, problem });

/** Returns the node, or a sentence that says what is wrong with it. */
function readNode(given: unknown, depth: number, state: { nodes: number }): DesignNode | string {
  state.nodes += 1;
  if (state.nodes > MAX_NODES) return `It has more than ${MAX_NODES} parts.`;
  if (depth > MAX_DEPTH) return `Its blocks are nested more than ${MAX_DEPTH} levels deep.`;
  if (!isObject(given) || typeof given["type"] !== "string") return "A block has no type.";
  const { type } = given;
  if (!NODES.has(type))
    return `It has a block “${type.slice(0, 60)}”, which this editor does not know.`;
  const { text = "", attrs = {}, marks = [], content = [] } = given;
  if (typeof text !== "string" || !isObject(attrs)) return `A block “${type}” is damaged.`;
  if (!Array.isArray(marks) || !Array.isArray(content)) return `A block “${type}” is damaged.`;
  const children: DesignNode[] = [];
  for (const each of content) {
    const child = readNode(each, depth + 1, state);
    if (typeof child === "string") return child;
    children.push(child);
  }
  const styles: DesignMark[] = [];
  for (const each of marks) {
    if (!isObject(each) || typeof each["type"] !== "string" || !MARKS.has(each["type"])) {
      const name = isObject(each) ? String(each["type"]).slice(0, 60) : "?";
      return `It has a text style “${name}”, which this editor does not know.`;
    }
    styles.push({ type: each["type"], attrs: isObject(each["attrs"]) ? each["attrs"] : {} });
  }
  return { type, attrs, text, marks: styles, content: children };
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/**
 * The document without attributes that have no value and without the empty paragraph that the editor
 * keeps at the end of each part, so that a document that was only looked at is the same.
 */
export function compactNode(node: unknown): Record<string, unknown> {
  if (!isObject(node)) return {};
  const { type, text, attrs, marks, content } = node;
  const given = isObject(attrs) ? Object.entries(attrs) : [];
  const kept = given.filter(
    ([name, value]) => value !== null && value !== "" && value !== false && name !== "class",
  );
  const all = (Array.isArray(content) ? content : []).map(compactNode);
  const children = PARTS.has(String(type)) ? withoutEmptyEnd(all) : all;
  const styles = (Array.isArray(marks) ? marks : []).map(compactNode);
  return {
    type,
    ...(kept.length === 0 ? {} : { attrs: Object.fromEntries(kept) }),
    ...(text === undefined ? {} : { text }),
    ...(styles.length === 0 ? {} : { marks: styles }),
    ...(children.length === 0 ? {} : { content: children }),
  };
}

const PARTS = new Set(["doc", "section", "columnsColumn", "condition"]);

function withoutEmptyEnd(nodes: Record<string, unknown>[]): Record<string, unknown>[] {
  let end = nodes.length;
  while (end > 1 && isEmptyParagraph(nodes[end - 1])) end -= 1;
  return nodes.slice(0, end);
}

const isEmptyParagraph = (node: Record<string, unknown> | undefined): boolean =>
  node?.["type"] === "paragraph" && node["content"] === undefined;

/** Returns the design that is stored for a document of the editor. */
export function storeDesign(document: object, theme: MailTheme, isFragment = false): StoredDesign {
  return {
    version: VERSION,
    theme,
    // The editor keeps the theme at the document.
    document: compactNode({ ...document, attrs: {} }),
    ...(isFragment ? { isFragment } : {}),
  };
}

export const readText = (node: DesignNode | DesignMark, name: string): string => {
  const value = node.attrs[name];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
};

/** Reads a whole number within limits, also from a text; null for any other value. */
export function readSize(node: DesignNode, name: string, max: number): number | null {
  const value = Number.parseInt(readText(node, name), 10);
  return Number.isFinite(value) && value >= 0 ? Math.min(value, max) : null;
}
