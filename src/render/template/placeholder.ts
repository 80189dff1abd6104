/**
 * Placeholders `{{ … }}`, implemented as a tag of Liquid. They have a syntax of their own and are
 * rendered with Liquid's values and filters:
 *
 *   content → decode entities → alternatives, each a key, an expression or a text
 */

import {
  type Context,
  type Emitter,
  Filter,
  isFalsy,
  type Liquid,
  Tag,
  TagToken,
  type Token,
  Tokenizer,
  TypeGuards,
  toValue,
  toValueSync,
} from "liquidjs";
import { decodeHTMLStrict } from "entities/decode";
import { plainMessage } from "./errors.ts";
import { keyNames } from "./placeholder-key.ts";
import type { Escape } from "./tags.ts";
import { type Alternative, type Scan, scanContent, scanPlaceholder } from "./placeholder-scan.ts";
import { compileValue, type ValueOf } from "./placeholder-value.ts";

type Options = Liquid["options"];

/**
 * Splits a template into tokens like Liquid, but finds the end of placeholders with
 * `scanPlaceholder`.
 */
export class TemplateTokenizer extends Tokenizer {
  override readOutputToken(options: Options): PlaceholderToken {
    const begin = this.p;
    const isTrimmed = this.input[begin + 2] === "-";
    const from = begin + (isTrimmed ? 3 : 2);
    const scan = scanPlaceholder(this.input, from);
    if (scan === null) throw this.error(`output ${this.snapshot(begin)} not closed`, begin);
    this.p = scan.close + 2;
    return new PlaceholderToken(this.input, { begin, from, scan }, options);
  }
}

/** Name of the tag. No template can write a tag with this name. */
const TAG_NAME = "{{";

/** The token of a placeholder. */
class PlaceholderToken extends TagToken {
  readonly scan: Scan;

  constructor(
    source: string,
    { begin, from, scan }: { begin: number; from: number; scan: Scan },
    options: Options,
  ) {
    // The base class requires the name of a tag, which a placeholder does not have.
    super("{%x%}", 0, 5, options);
    const end = scan.alternatives.at(-1)?.to ?? scan.close;
    this.name = TAG_NAME;
    this.input = source;
    this.begin = begin;
    this.end = scan.close + 2;
    this.contentRange = [from, end];
    this.trimLeft = from > begin + 2;
    this.trimRight = end < scan.close;
    this.scan = scan;
  }
}

/** The text of a template with every placeholder replaced by `output` and every tag removed. */
export function withoutLiquid(tokens: readonly Token[], output: string): string {
  const texts = tokens.map((token) => {
    if (token instanceof PlaceholderToken) return output;
    return TypeGuards.isHTMLToken(token) ? token.getContent() : "";
  });
  return texts.join("");
}

/**
 * The variables or literals of a placeholder, without filters and without the text at its end.
 * `hasFallback`: it has such a text, or the filter `default`. Null for another token.
 */
export function readPlaceholder(token: Token): { values: string[]; hasFallback: boolean } | null {
  if (!(token instanceof PlaceholderToken)) return null;
  const { hasAmpersand } = token.scan;
  const source = hasAmpersand ? decodeHTMLStrict(token.content) : token.input;
  const { alternatives } = hasAmpersand ? scanContent(source) : token.scan;
  const values = alternatives.slice(0, Math.max(1, alternatives.length - 1));
  return {
    values: values.map(({ from, pipe }) => keyNames(source.slice(from, pipe))?.at(-1) ?? ""),
    hasFallback:
      alternatives.length > 1 ||
      alternatives.some(({ pipe, to }) => /\|\s{0,9}default\b/.test(source.slice(pipe, to))),
  };
}

/** The content of a placeholder, with its entities decoded; null for another token. */
export function placeholderText(token: Token): string | null {
  if (!(token instanceof PlaceholderToken)) return null;
  return token.scan.hasAmpersand ? decodeHTMLStrict(token.content) : token.content;
}

/** The values of a placeholder with their filters, without the text at its end; null for another token. */
export function placeholderParts(token: Token): { value: string; filters: string }[] | null {
  const text = placeholderText(token);
  if (text === null) return null;
  return scanContent(text).alternatives.map(({ from, pipe, to }, index, all) => {
    const isText = index > 0 && index === all.length - 1;
    return { value: isText ? "" : text.slice(from, pipe), filters: text.slice(pipe, to) };
  });
}

/** One alternative, ready to be evaluated. */
type Step = {
  readonly valueOf: ValueOf;
  readonly filters: readonly Filter[];
};

/** Registers placeholders at an engine. `escape` is the last step of those without `| raw`. */
export function registerPlaceholders(engine: Liquid, escape: Escape): void {
  engine.registerTag(TAG_NAME, placeholderTag(escape));
}

function placeholderTag(escape: Escape) {
  return class PlaceholderTag extends Tag {
    readonly #steps: readonly Step[];
    readonly #isRaw: boolean;

    constructor(...[token, tokens, liquid]: ConstructorParameters<typeof Tag>) {
      super(token, tokens, liquid);
      if (!(token instanceof PlaceholderToken)) throw new Error("This tag has no placeholder.");
      this.#steps = stepsOf(token, liquid);
      this.#isRaw = this.#steps.at(-1)?.filters.at(-1)?.raw ?? false;
    }

    /**
     * Writes the first alternative that has a value. Filters apply to the result of all
     * alternatives before them.
     */
    render(context: Context, emitter: Emitter): void {
      let value: unknown;
      for (const { valueOf, filters } of this.#steps) {
        if (isMissing(value, context)) value = toValueSync(valueOf(context));
        for (const filter of filters) value = toValueSync(filter.render(value, context));
      }
      emitter.write(this.#isRaw ? value : escape(value));
    }
  };
}

/** True for the values that the filter `default` replaces. */
function isMissing(value: unknown, context: Context): boolean {
  const plain: unknown = toValue(value);
  if (typeof plain === "string" || Array.isArray(plain)) return plain.length === 0;
  return isFalsy(plain, context);
}

/** Compiles the alternatives. Entities are decoded, unless they are part of a string of Liquid. */
function stepsOf(token: PlaceholderToken, liquid: Liquid): Step[] {
  const { scan, input } = token;
  if (!scan.hasAmpersand) return scan.alternatives.map(stepCompiler(input, liquid));
  const decoded = decodeHTMLStrict(token.content);
  try {
    return scanContent(decoded).alternatives.map(stepCompiler(decoded, liquid));
  } catch (error) {
    // A position in the decoded text does not exist in the template: report the whole placeholder.
    throw new Error(plainMessage(error), { cause: error });
  }
}

function stepCompiler(source: string, liquid: Liquid) {
  const tokenizer = (from: number, to: number) =>
    new Tokenizer(source, liquid.options.operators, undefined, [from, to]);

  return (alternative: Alternative, index: number, all: readonly Alternative[]): Step => {
    const { from, pipe, to, isQuoted } = alternative;
    const text = source.slice(from, pipe);
    const isText = index > 0 && index === all.length - 1;
    const filters = (pipe === to ? [] : tokenizer(pipe, to).readFilters()).map(
      (token) => new Filter(token, findFilter(token.name, liquid), liquid),
    );
    if (!isText)
      return { valueOf: compileValue(text, liquid, () => tokenizer(from, pipe)), filters };
    // The last alternative is literal text, without the quotes that may enclose all of it.
    const literal = isQuoted ? tokenizer(from, pipe).readQuoted()?.content : text.trim();
    return { valueOf: () => literal, filters };
  };
}

function findFilter(name: string, { filters }: Liquid) {
  if (!Object.hasOwn(filters, name)) throw new Error(`undefined filter: ${name}`);
  return filters[name];
}
