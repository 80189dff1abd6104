/**
 * Placeholders `{{ … }}` as a tag of Liquid: read by rules of our own, then rendered with its values
 * and filters.
 *
 *   content → entities of an HTML editor → alternatives → each a key, an expression or a text
 */

import {
  type Context,
  type Emitter,
  Expression,
  Filter,
  isFalsy,
  type Liquid,
  Tag,
  TagToken,
  type Token,
  Tokenizer,
  TypeGuards,
  toValue,
} from "liquidjs";
import { decodeHTMLStrict } from "entities/decode";
import { plainMessage } from "./errors.ts";
import type { Escape } from "./tags.ts";
import { keyNames, keyValue } from "./placeholder-key.ts";
import { type Alternative, type Scan, scanContent, scanPlaceholder } from "./placeholder-scan.ts";

type Options = Liquid["options"];

/** Splits a template into tokens as Liquid does, but finds the end of placeholders itself. */
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

/** Under this name no template can write the tag itself. */
const TAG_NAME = "{{";

/** A placeholder among the tags of a template. */
export class PlaceholderToken extends TagToken {
  readonly scan: Scan;

  constructor(
    source: string,
    { begin, from, scan }: { begin: number; from: number; scan: Scan },
    options: Options,
  ) {
    // The base class reads the name of a tag, which a placeholder does not have.
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

/** The text of a template with `output` for every placeholder, and without its tags. */
export function withoutLiquid(tokens: readonly Token[], output: string): string {
  const texts = tokens.map((token) => {
    if (token instanceof PlaceholderToken) return output;
    return TypeGuards.isHTMLToken(token) ? token.getContent() : "";
  });
  return texts.join("");
}

/** One alternative, ready to be evaluated. */
type Step = {
  readonly valueOf: (context: Context) => unknown;
  readonly filters: readonly Filter[];
};

/** Lets an engine render placeholders; `escape` is the last step of those without `| raw`. */
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

    /** Writes the first alternative that has a value; filters apply to all that precedes them. */
    *render(context: Context, emitter: Emitter): Generator<unknown, void, unknown> {
      let value: unknown;
      for (const { valueOf, filters } of this.#steps) {
        if (isMissing(value, context)) value = yield valueOf(context);
        for (const filter of filters) value = yield filter.render(value, context);
      }
      emitter.write(this.#isRaw ? value : escape(value));
    }
  };
}

/** The values that the filter `default` replaces. */
function isMissing(value: unknown, context: Context): boolean {
  const plain: unknown = toValue(value);
  if (typeof plain === "string" || Array.isArray(plain)) return plain.length === 0;
  return isFalsy(plain, context);
}

/** Entities stand for their characters, unless they are part of a string of Liquid. */
function stepsOf(token: PlaceholderToken, liquid: Liquid): Step[] {
  const { scan, input } = token;
  if (!scan.hasAmpersand) return scan.alternatives.map(reader(input, liquid));
  const decoded = decodeHTMLStrict(token.content);
  try {
    return scanContent(decoded).alternatives.map(reader(decoded, liquid));
  } catch (error) {
    // A position within the decoded text is none in the template: the whole placeholder is named.
    throw new Error(plainMessage(error), { cause: error });
  }
}

function reader(source: string, liquid: Liquid) {
  const tokenizer = (from: number, to: number) =>
    new Tokenizer(source, liquid.options.operators, undefined, [from, to]);

  return (alternative: Alternative, index: number, all: readonly Alternative[]): Step => {
    const { from, bar, to, isQuoted } = alternative;
    const text = source.slice(from, bar);
    const isText = index > 0 && index === all.length - 1;
    const filters = (bar === to ? [] : tokenizer(bar, to).readFilters()).map(
      (token) => new Filter(token, filterNamed(token.name, liquid), liquid),
    );
    if (!isText) return { valueOf: valueOf(text, tokenizer(from, bar)), filters };
    // The last alternative is text as it stands, without the quotes that enclose all of it.
    const literal = isQuoted ? tokenizer(from, bar).readQuoted()?.content : text.trim();
    return { valueOf: () => literal, filters };
  };
}

function filterNamed(name: string, { filters }: Liquid) {
  if (!Object.hasOwn(filters, name)) throw new Error(`undefined filter: ${name}`);
  return filters[name];
}

/** Words that are no variables in Liquid, so that a key with this name has to be looked for. */
const WORDS = new Set("true false nil null empty blank and or not contains".split(" "));

/** A key comes before an expression of Liquid; a plain variable is the same as both. */
function valueOf(text: string, tokenizer: Tokenizer): Step["valueOf"] {
  if (/^\s*[a-z_][\w-]*\s*$/i.test(text) && !WORDS.has(text.trim())) {
    const variable = tokenizer.readExpression();
    return (context) => variable.evaluate(context);
  }
  const names = keyNames(text);
  const tokens = names?.some((name) => name.includes("(")) === true ? [] : expression(tokenizer);
  const isWhole = tokenizer.end() && isProper(tokens);
  if (names === null) {
    tokenizer.assert(tokens.length > 0, () => `invalid value expression: ${tokenizer.snapshot()}`);
    const hasTail = tokenizer.end() || [")", ","].includes(tokenizer.peek());
    tokenizer.assert(hasTail, 'expected "|" before filter');
  } else if (!isWhole) {
    return (context) => firstValue(context, names, null);
  }
  const value = new Expression(tokens);
  if (names === null) return (context) => value.evaluate(context);
  return (context) => firstValue(context, names, value);
}

function expression(tokenizer: Tokenizer) {
  const tokens = [...tokenizer.readExpressionTokens()];
  tokenizer.skipBlank();
  return tokens;
}

/** Whether operators stand between all operands. Liquid itself ignores a second operand. */
function isProper(tokens: readonly unknown[]): boolean {
  const isOperator = tokens.map((token) => TypeGuards.isOperatorToken(token));
  const isJoined = isOperator.every((is, i) => is || i === 0 || isOperator[i - 1] === true);
  return isJoined && isOperator.at(-1) === false;
}

/** The value of the first key that exists; otherwise that of the expression. */
function firstValue(
  context: Context,
  names: readonly string[],
  otherwise: Expression | null,
): unknown {
  for (const name of names) {
    const value = keyValue(context, name);
    if (value !== undefined) return value;
  }
  return otherwise?.evaluate(context);
}
