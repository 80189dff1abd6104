/**
 * A shape: the parts of all mails whose renders differ only in plain values. To compile one, the
 * ordinary path runs once with private-use characters as values and the id of a mail that does not
 * exist (`tokens.ts`). The result is cut into fixed text, which is encoded once, and marks
 * (`../../protocols/mime/prepared-lines.ts`, `text-alternative.ts`).
 *
 * The parts of a mail have the same octets as those of the ordinary path, so that an attempt and its
 * retry send the same message whether they find a shape or not.
 */

import type { TextParts } from "../../protocols/mime/message.ts";
import { hasValueMark, type Marks, valueMark, valueMarksOf } from "../../protocols/mime/marks.ts";
import { encodeLines, type Lines, prepareLines } from "../../protocols/mime/prepared-lines.ts";
import type { RecipientLinks } from "../links.ts";
import { type OutgoingInput, outgoingHtml } from "../outgoing.ts";
import { checkPositions, type LinkRule } from "./positions.ts";
import { prepareText, type TextAlternative } from "./text-alternative.ts";
import {
  findTokens,
  issueTokens,
  SAMPLE_ID,
  sampleLinks,
  type Token,
  type TokenKeys,
} from "./tokens.ts";
import type { TraceEmitter, TracePart } from "./trace.ts";

/** The values that change the structure of a mail, besides its render. */
type ShapeContext = Pick<OutgoingInput, "marketing" | "tracking" | "parameters">;

export type Shape = {
  html: readonly Lines[];
  text: TextAlternative;
  tokens: readonly Token[];
  rules: readonly LinkRule[];
  /** Estimated memory in octets. */
  bytes: number;
};

/** Longest body that has a shape, in UTF-16 units, and most of its tags. */
const MAX_LENGTH = 96 * 1024;
const MAX_TAGS = 10_000;

/** Compiles the shape of a render; null if one of its values could change its structure. */
export function compileShape(
  { parts, values }: Pick<TraceEmitter, "parts" | "values">,
  { marketing, tracking, parameters = [] }: ShapeContext,
  keys: TokenKeys,
): Shape | null {
  const links = sampleLinks(keys);
  if (parts.some((part) => typeof part === "string" && hasValueMark(part))) return null;
  const body = parts.map((part) => sampleText(part, links)).join("");
  if (body.length > MAX_LENGTH || body.split("<").length > MAX_TAGS) return null;
  const rules = checkPositions(body, values.length);
  if (rules === null) return null;
  const context = { links, marketing, tracking, parameters };
  const sample = outgoingHtml({ emailId: SAMPLE_ID, html: body, ...context });
  const tokens = findTokens(sample.html, keys, tracking !== null);
  if (tokens === null) return null;
  const marks = { values: values.length, tokens: tokens.map((token) => token.sample) };
  if (!hasAllMarks(sample.html, marks)) return null;
  const text = prepareText(body, sample.footer, marks);
  if (text === null) return null;
  const html = prepareLines(sample.html, marks);
  const units = html.reduce((sum, lines) => sum + lines.size, text.size);
  return { html, text, tokens, rules, bytes: units + BYTES_PER_SHAPE };
}

const BYTES_PER_SHAPE = 4_096;

function sampleText(part: TracePart, links: RecipientLinks): string {
  if (typeof part === "string") return part;
  return typeof part === "number" ? valueMark(part) : Bun.escapeHTML(links[part.link]);
}

/** True if each value is in the text once, in its order. */
function hasAllMarks(text: string, { values }: Marks): boolean {
  return (
    valueMarksOf(text) === Array.from({ length: values }, (_, value) => valueMark(value)).join("")
  );
}

/** The parts of a mail; null if a rule of the shape excludes its values. */
export function fillShape(
  { html, text, tokens, rules }: Shape,
  trace: Pick<TraceEmitter, "values" | "texts">,
  { keys, mail }: { keys: TokenKeys; mail: { emailId: string; links: RecipientLinks } },
): TextParts | null {
  if (!rules.every((rule) => isAllowed(rule, trace.texts))) return null;
  const issued = issueTokens(tokens, keys, mail);
  const texts = [...trace.texts, ...issued];
  return {
    htmlPart: encodeLines("html", html, [...trace.values, ...issued]),
    plainPart: encodeLines("plain", text.lines(texts), texts),
  };
}

function isAllowed({ values, character }: LinkRule, texts: readonly string[]): boolean {
  return values.every((value) => texts[value]?.includes(character) !== true);
}
