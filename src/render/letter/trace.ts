/**
 * Records what a render writes: the body with a mark in place of each value, and the values. Renders
 * with the same marked body differ in their values only.
 */

import type { RecipientLinks } from "../links.ts";
import { BoundedEmitter, toText } from "../template/limits.ts";
import { recipientToken } from "./tokens.ts";
import { plainText, valueMark } from "./values.ts";

type LinkName = keyof RecipientLinks;

const LINK_NAMES: readonly LinkName[] = ["unsubscribeUrl", "subscribeUrl", "manageUrl"];

const MAX_VALUES = 400;
/** Most UTF-16 units of all values. */
const MAX_VALUE_LENGTH = 50_000;
/** Longest marked body, in UTF-16 units. */
const MAX_LENGTH = 96 * 1024;

export class TraceEmitter extends BoundedEmitter {
  /**
   * The body with marks, and with the links of the sample mail in place of those to the recipient's
   * pages. An empty value writes nothing, as in the body, because its paragraph vanishes from the
   * text. Null if a value is not plain, or if there is too much.
   */
  marked: string | null = "";
  /** The values as HTML, and as text. */
  readonly values: string[] = [];
  readonly texts: string[] = [];
  #valueLength = 0;
  readonly #links: RecipientLinks;
  readonly #sampleLinks: RecipientLinks;
  /** The part of the links that differs between two mails. */
  readonly #token: string;

  constructor(links: RecipientLinks, sampleLinks: RecipientLinks) {
    super();
    this.#links = links;
    this.#sampleLinks = sampleLinks;
    this.#token = recipientToken(links);
  }

  override write(value: unknown): void {
    const html = typeof value === "string" ? value : toText(value);
    super.write(html);
    if (this.marked === null || html === "") return;
    const written = typeof value === "string" ? html : this.#markValue(html);
    this.marked = written === null ? null : this.marked + written;
    if ((this.marked?.length ?? 0) > MAX_LENGTH) this.marked = null;
  }

  /** The text that stands for a value; null if there is none. */
  #markValue(html: string): string | null {
    if (html.length >= this.#token.length && html.includes(this.#token))
      return this.#replaceLink(html);
    const text = plainText(html);
    this.#valueLength += html.length;
    const isTooMuch = this.values.length >= MAX_VALUES || this.#valueLength > MAX_VALUE_LENGTH;
    if (text === null || isTooMuch) return null;
    this.texts.push(text);
    return valueMark(this.values.push(html) - 1);
  }

  /** The same link of the sample mail, if the value is a link as a template writes it. */
  #replaceLink(html: string): string | null {
    const name = LINK_NAMES.find((each) => Bun.escapeHTML(this.#links[each]) === html);
    return name === undefined ? null : Bun.escapeHTML(this.#sampleLinks[name]);
  }
}
