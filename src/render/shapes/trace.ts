/**
 * Records what a render writes. The fixed text of the template, by number, and the places of values
 * and of links to the recipient's pages are the key of a shape: renders with the same key differ in
 * their values only. A value that is not plain (`values.ts`) is part of the key.
 */

import type { RecipientLinks } from "../links.ts";
import { BoundedEmitter, toText } from "../template/limits.ts";
import { recipientToken } from "./tokens.ts";
import { plainText } from "./values.ts";

/** Fixed text, the number of a value, or a link. */
export type TracePart = string | number | { link: LinkName };

type LinkName = keyof RecipientLinks;

const LINK_NAMES: readonly LinkName[] = ["unsubscribeUrl", "subscribeUrl", "manageUrl"];

const MAX_VALUES = 400;
/** Most UTF-16 units of all values, and of values in a key. */
const MAX_VALUE_LENGTH = 50_000;
const MAX_LITERAL_LENGTH = 1_000;

/** Kinds of parts in a key. The numbers of fixed texts are below them. */
const VALUE = "\ue000";
const LITERAL = "\ue001";
const LINK = "\ue002";

/**
 * Numbers of the fixed texts of one template. Some tags write text that is not in the source, such as
 * the attributes of `tablerow`; a template with much of it has no shapes.
 */
export class FixedTexts {
  readonly #numbers = new Map<string, string>();
  #free: number;

  /** `sourceLength` is the length of the template. */
  constructor(sourceLength: number) {
    this.#free = sourceLength + MAX_OTHER_LENGTH;
  }

  /** A character for the text; null if there is no room for it. */
  numberOf(text: string): string | null {
    const known = this.#numbers.get(text);
    if (known !== undefined) return known;
    if (this.#numbers.size >= MAX_FIXED_TEXTS || text.length > this.#free) return null;
    this.#free -= text.length;
    const number = String.fromCharCode(this.#numbers.size);
    this.#numbers.set(text, number);
    return number;
  }
}

const MAX_FIXED_TEXTS = 4_000;
/** Most UTF-16 units of texts that are not in the source. */
const MAX_OTHER_LENGTH = 4_096;

export class TraceEmitter extends BoundedEmitter {
  readonly parts: TracePart[] = [];
  /** The values as HTML, and as text. */
  readonly values: string[] = [];
  readonly texts: string[] = [];
  /** Null if the render cannot have a shape. */
  key: string | null = "";
  #valueLength = 0;
  #literalLength = 0;
  readonly #fixedTexts: FixedTexts;
  readonly #links: RecipientLinks;
  /** The part of the links that differs between two mails. */
  readonly #token: string;

  constructor(fixedTexts: FixedTexts, links: RecipientLinks) {
    super();
    this.#fixedTexts = fixedTexts;
    this.#links = links;
    this.#token = recipientToken(links);
  }

  override write(value: unknown): void {
    const html = typeof value === "string" ? value : toText(value);
    super.write(html);
    if (this.key === null) return;
    if (typeof value === "string") this.#writeFixed(html);
    else this.#writeValue(html);
  }

  #writeFixed(text: string): void {
    const number = this.#fixedTexts.numberOf(text);
    this.key = number === null || this.key === null ? null : this.key + number;
    this.parts.push(text);
  }

  #writeValue(html: string): void {
    const hasToken = html.length >= this.#token.length && html.includes(this.#token);
    if (hasToken && this.#writeLink(html)) return;
    const text = plainText(html);
    if (text === null) this.#writeLiteral(html);
    else this.#writePlain(html, hasToken ? null : text);
  }

  /** Writes the value if it is a link as a template writes it. */
  #writeLink(html: string): boolean {
    const number = LINK_NAMES.findIndex((name) => Bun.escapeHTML(this.#links[name]) === html);
    const link = LINK_NAMES[number];
    if (link === undefined) return false;
    this.key += `${LINK}${number}`;
    this.parts.push({ link });
    return true;
  }

  /** `text` is null for a value with the token of the mail, which a shape cannot replace. */
  #writePlain(html: string, text: string | null): void {
    this.#valueLength += html.length;
    const isTooMuch = this.values.length >= MAX_VALUES || this.#valueLength > MAX_VALUE_LENGTH;
    if (text === null || isTooMuch) {
      this.key = null;
      return;
    }
    this.key += VALUE;
    this.parts.push(this.values.length);
    this.values.push(html);
    this.texts.push(text);
  }

  #writeLiteral(html: string): void {
    this.#literalLength += html.length;
    if (this.#literalLength > MAX_LITERAL_LENGTH || html.includes("\0")) {
      this.key = null;
      return;
    }
    this.key += `${LITERAL}${html.length}:${html}`;
    this.parts.push(html);
  }
}
