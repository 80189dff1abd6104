/**
 * The value of a placeholder before its filters: a literal, a key or an expression of Liquid.
 *
 * 1. A string, a number or a word such as `true` or `nil` is always a literal.
 * 2. Otherwise the text is a key if the data has one with exactly this name. If the text reads an
 *    index, as in `items[0]`, the variable `items` wins over such a key.
 * 3. Otherwise the text is an expression if Liquid can read the whole of it.
 * 4. Otherwise the text is a key that does not exist, and renders as nothing.
 */

import { type Context, Expression, type Liquid, type Token, Tokenizer, TypeGuards } from "liquidjs";
import { keyNames, keyValue, readVariable } from "./placeholder-key.ts";

export type ValueOf = (context: Context) => unknown;

/**
 * Words that Liquid does not read as variables: first its literals, then its operators. A key with
 * the name of an operator needs a look-up.
 */
const KEYWORDS = new Set("true false nil null empty blank and or not contains".split(" "));

/**
 * Compiles the value `text`. `tokenizer` returns a reader of the same text in the template, which
 * gives errors their position.
 */
export function compileValue(text: string, liquid: Liquid, tokenizer: () => Tokenizer): ValueOf {
  const names = keyNames(text);
  if (names === null) return compileExpression(tokenizer());
  const [name] = names;
  // This is by far the most common case, so it does not evaluate an expression of Liquid.
  const isVariable = /^[a-z_][\w-]*$/i.test(name) && !KEYWORDS.has(name);
  if (isVariable) return (context) => readVariable(context, name);
  const tokens = readWhole(name, liquid.options.operators);
  if (tokens === null) return (context) => firstValue(context, names, null);
  const value = new Expression(tokens);
  if (isLiteral(tokens)) return (context) => value.evaluate(context);
  const indexed = name.includes("[") ? variableOf(tokens) : null;
  return (context) =>
    indexed !== null && exists(context, indexed)
      ? value.evaluate(context)
      : firstValue(context, names, value);
}

/** Compiles text that is empty or too long for a key, or throws the error of Liquid. */
function compileExpression(tokenizer: Tokenizer): ValueOf {
  const tokens = [...tokenizer.readExpressionTokens()];
  tokenizer.skipBlank();
  tokenizer.assert(tokens.length > 0, () => `invalid value expression: ${tokenizer.snapshot()}`);
  const hasTail = tokenizer.end() || [")", ","].includes(tokenizer.peek());
  tokenizer.assert(hasTail, 'expected "|" before filter');
  const value = new Expression(tokens);
  return (context) => value.evaluate(context);
}

/**
 * The tokens of an expression, or null if Liquid cannot read the whole text as one. It reads a copy
 * of the text, because an error takes time linear in the length of the text that it is found in.
 */
export function readWhole(
  text: string,
  operators?: Liquid["options"]["operators"],
): Token[] | null {
  const tokenizer = new Tokenizer(text, operators);
  try {
    const tokens = [...tokenizer.readExpressionTokens()];
    tokenizer.skipBlank();
    const isWhole = tokenizer.end() && hasOperators(tokens) && tokens.every(isClosed);
    return isWhole ? tokens : null;
  } catch {
    return null;
  }
}

/**
 * True if there is an operator between any two operands. Liquid itself ignores a second operand.
 */
function hasOperators(tokens: readonly Token[]): boolean {
  const isOperator = tokens.map((token) => TypeGuards.isOperatorToken(token));
  const isJoined = isOperator.every((is, i) => is || i === 0 || isOperator[i - 1] === true);
  return isJoined && isOperator.at(-1) === false;
}

/** False for a string without a closing quote, which Liquid accepts at the end of a text. */
function isClosed(token: Token): boolean {
  if (!TypeGuards.isQuotedToken(token)) return true;
  const text = token.getText();
  return text.length > 1 && text.at(-1) === text[0];
}

function isLiteral([token, ...others]: readonly Token[]): boolean {
  return (
    others.length === 0 &&
    (TypeGuards.isQuotedToken(token) ||
      TypeGuards.isNumberToken(token) ||
      TypeGuards.isLiteralToken(token))
  );
}

/** The name of the variable that a path such as `a.b[0]` begins with; null for other expressions. */
function variableOf([token, ...others]: readonly Token[]): string | null {
  if (others.length > 0 || !TypeGuards.isPropertyAccessToken(token)) return null;
  const [first] = token.props;
  return first !== undefined && TypeGuards.isWordToken(first) ? first.content : null;
}

function exists(context: Context, name: string): boolean {
  const value = readVariable(context, name);
  return value !== undefined && value !== null;
}

/** The value of the first key that exists, or else the value of the expression. */
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
