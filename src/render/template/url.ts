/**
 * Outputs of URL templates. Each is percent-encoded as one component, unless it ends in `| raw`.
 *
 * A render returns parts, so that the caller can distinguish the template's own text from text of
 * the data.
 */

import { Drop, type Liquid } from "liquidjs";
import { BoundedEmitter, limitHandler, toText } from "./limits.ts";

export type UrlPart =
  | { readonly kind: "literal"; readonly text: string }
  /** An output; `value` is its text before encoding. */
  | { readonly kind: "encoded" | "raw"; readonly text: string; readonly value: string };

/** A value that is not encoded again: it is encoded already, or raw because of `| raw`. */
class UrlText extends Drop {
  readonly #part: UrlPart;

  constructor(part: UrlPart) {
    super();
    this.#part = part;
  }

  part(): UrlPart {
    return this.#part;
  }

  override valueOf(): string {
    return this.#part.text;
  }
}

/**
 * Encodes all characters except the unreserved ones, also the sub-delimiters `!'()*` (RFC 3986
 * §2.3).
 */
function encodeComponent(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

/** The output of a value without `| raw`. A result of `url_encode` is not encoded twice. */
export function toUrlText(value: unknown): UrlText {
  return value instanceof UrlText && value.part().kind === "encoded" ? value : encoded(value);
}

function encoded(value: unknown): UrlText {
  const text = toText(value);
  return new UrlText({ kind: "encoded", text: encodeComponent(text), value: text });
}

function rawUrlText(value: unknown): UrlText {
  const text = toText(value);
  return new UrlText({ kind: "raw", text, value: text });
}

export function registerUrlFilters(engine: Liquid): void {
  engine.registerFilter("raw", { raw: true, handler: limitHandler(rawUrlText) });
  for (const name of ["url_encode", "cgi_escape"])
    engine.registerFilter(name, limitHandler(encoded));
}

/** Collects the parts of a rendered URL. */
export class UrlEmitter extends BoundedEmitter {
  readonly parts: UrlPart[] = [];

  override write(value: unknown): void {
    super.write(value);
    this.parts.push(
      value instanceof UrlText ? value.part() : { kind: "literal", text: toText(value) },
    );
  }
}
