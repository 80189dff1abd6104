/**
 * Makes the source of a mail's body of a template's parts: the body is put into its layout, at
 * `{{ content }}`, and the preheader, which programs show beside the subject in the list of mails, at
 * the start of the visible part. The result is a template like any other.
 */

import { positionOf } from "./template/errors.ts";
import { measureTemplate, sizeFault } from "./template/size.ts";
import { type CompileFault, compileTemplate, piecesOf } from "./template/template.ts";

type BodyParts = {
  body: string;
  preheader: string | null;
  /** Source of the layout. */
  layout: string | null;
};

/**
 * The field from which a part of the assembled source comes, its offset there, and the whole source of
 * the field; the field is null for what is written here.
 */
export type SourcePart = {
  field: "subject" | "body" | "preheader" | "layout" | null;
  text: string;
  from: number;
  whole: string;
};

const CONTENT = "content";
/**
 * A layout is added to bodies of up to 1 MiB. Its limits are smaller than those of a body, so that few
 * bodies can exceed a limit because of it.
 */
const LAYOUT_LIMITS = { bytes: 256 * 1024, tags: 1_000, code: 16 * 1024 } as const;
/** Bodies that are shorter fit into every layout. In bytes. */
export const ALWAYS_FITS = 40_000;
const LONGEST_SOURCE = 1024 * 1024;

/** The first fault of a layout besides its syntax; null if it has none. */
export function layoutFault(source: string): CompileFault | null {
  const start = { line: 1, column: 1 };
  const { bytes, tags, code } = LAYOUT_LIMITS;
  const size = measureTemplate(source);
  if (Buffer.byteLength(source) > bytes) {
    return { ...start, message: `the layout is longer than ${bytes / 1024} KiB` };
  }
  if (size.tags > tags || size.code > code) {
    return { ...start, message: "the layout has too many outputs and tags" };
  }
  const compiled = compileTemplate(source, "html");
  if (!compiled.ok) return compiled;
  const places = contentPlaces(source);
  const [first, second] = places;
  if (first === undefined) {
    const message = "the layout must contain {{ content }}, where the body of a template is put";
    return { ...start, message };
  }
  if (second !== undefined) {
    return { ...positionOf(second.from, source), message: "{{ content }} must occur only once" };
  }
  if (contentPlaces(source, { isTopLevel: true }).length === 1) return null;
  const message = "{{ content }} must not be inside of a tag such as if or for";
  return { ...positionOf(first.from, source), message };
}

/** The fault of a body that is too large together with its layout and preheader; null if it fits. */
export function assembledFault(parts: BodyParts): string | null {
  if (parts.layout === null && parts.preheader === null) return null;
  const source = assembleBody(parts);
  if (Buffer.byteLength(source) > LONGEST_SOURCE) {
    return "is longer than 1 MiB together with its layout and preheader";
  }
  const fault = sizeFault(measureTemplate(source));
  return fault === null ? null : `does not fit into its layout: ${fault}`;
}

export const assembleBody = (parts: BodyParts): string =>
  parts.layout === null && parts.preheader === null
    ? parts.body
    : assembleParts(parts)
        .map(({ text }) => text)
        .join("");

/** The assembled source in its parts, each with the field it comes from and its offset there. */
export function assembleParts({ body, preheader, layout }: BodyParts): SourcePart[] {
  const parts = layout === null ? [bodyPart(body)] : insideLayout(layout, body);
  if (preheader === null) return parts;
  const source = parts.map(({ text }) => text).join("");
  return insertAt(parts, bodyStart(source), preheaderParts(preheader));
}

const bodyPart = (text: string): SourcePart => ({ field: "body", text, from: 0, whole: text });

function insideLayout(layout: string, body: string): SourcePart[] {
  const [place] = contentPlaces(layout);
  // A stored layout has the place.
  if (place === undefined) return [bodyPart(body)];
  return [
    { field: "layout", text: layout.slice(0, place.from), from: 0, whole: layout },
    bodyPart(body),
    { field: "layout", text: layout.slice(place.to), from: place.to, whole: layout },
  ];
}

type Place = { from: number; to: number };

/** The outputs `{{ content }}` of a source, in their order. */
function contentPlaces(source: string, { isTopLevel = false } = {}): Place[] {
  return piecesOf(source, { isTopLevel }).filter(({ output }) => output === CONTENT);
}

/** Hidden by several properties, because mail programs ignore some of them. */
const HIDDEN = "display:none;font-size:1px;line-height:1px;max-height:0;max-width:0;mso-hide:all";
/** Invisible characters, so that the inbox does not continue with the text of the body. */
const PADDING = "&#847;&zwnj;&nbsp;".repeat(90);

const ownPart = (text: string): SourcePart => ({ field: null, text, from: 0, whole: text });

/** The attribute keeps it out of the text alternative (text.ts). */
function preheaderParts(preheader: string): SourcePart[] {
  return [
    ownPart(`<div data-skip-in-text="true" style="${HIDDEN}">`),
    ...piecesOf(preheader).map(({ from, to, isText }): SourcePart => {
      const text = preheader.slice(from, to);
      // The preheader is text; its outputs are escaped when they are rendered.
      return {
        field: "preheader",
        text: isText ? Bun.escapeHTML(text) : text,
        from,
        whole: preheader,
      };
    }),
    ownPart(`${PADDING}</div>`),
  ];
}

function insertAt(parts: readonly SourcePart[], at: number, added: SourcePart[]): SourcePart[] {
  let offset = 0;
  const index = parts.findIndex(({ text }) => {
    if (at <= offset + text.length) return true;
    offset += text.length;
    return false;
  });
  const part = parts[index];
  if (part === undefined) return [...parts, ...added];
  const cut = at - offset;
  return [
    ...parts.slice(0, index),
    { ...part, text: part.text.slice(0, cut) },
    ...added,
    { ...part, text: part.text.slice(cut), from: part.from + cut },
    ...parts.slice(index + 1),
  ];
}

/** Constructs that the search for the body steps over, and the tags that it looks for. */
const LANDMARK = /<!--|\{\{|\{%|<(?:style|script|title|body|html|!doctype)(?=[\s/>])|<\/head\s*>/gi;
/** The end tags of elements that contain text only. */
const TEXT_ENDS: Readonly<Record<string, RegExp>> = {
  "<style": /<\/style\s*>/gi,
  "<script": /<\/script\s*>/gi,
  "<title": /<\/title\s*>/gi,
};
const ENDS: Readonly<Record<string, string>> = { "<!--": "-->", "{{": "}}", "{%": "%}" };

/**
 * The offset of the visible part of a document: after the start tag of the body, else after the head,
 * else at the start. One pass over the source.
 */
function bodyStart(source: string): number {
  let start = 0;
  LANDMARK.lastIndex = 0;
  for (let found = LANDMARK.exec(source); found !== null; found = LANDMARK.exec(source)) {
    const name = found[0].toLowerCase();
    const end = landmarkEnd(source, name, found.index + name.length);
    if (end === null) return start;
    if (name === "<body") return end;
    if (name.startsWith("</head") || name === "<html" || name === "<!doctype") start = end;
    LANDMARK.lastIndex = end;
  }
  return start;
}

/** Null if it has no end. */
function landmarkEnd(source: string, name: string, from: number): number | null {
  const mark = ENDS[name];
  if (mark !== undefined) {
    const at = source.indexOf(mark, from);
    return at === -1 ? null : at + mark.length;
  }
  if (name.startsWith("</head")) return from;
  const closing = TEXT_ENDS[name];
  if (closing === undefined) return tagEnd(source, from);
  closing.lastIndex = from;
  return closing.exec(source) === null ? null : closing.lastIndex;
}

const IN_TAG = /["'>]|\{\{|\{%/g;

/** The offset after the `>` of a tag, whose attributes may contain quotes and Liquid. */
function tagEnd(source: string, from: number): number | null {
  IN_TAG.lastIndex = from;
  for (let found = IN_TAG.exec(source); found !== null; found = IN_TAG.exec(source)) {
    const [mark] = found;
    if (mark === ">") return IN_TAG.lastIndex;
    const end = ENDS[mark] ?? mark;
    const at = source.indexOf(end, IN_TAG.lastIndex);
    if (at === -1) return null;
    IN_TAG.lastIndex = at + end.length;
  }
  return null;
}
