/**
 * Finds regular expressions in TypeScript: literals, and those constructed while a file is loaded.
 */

export type Literal = { source: string; flags: string; line: number };

/**
 * A slash after one of these tokens begins a regular expression; after a value it is a division.
 */
const BEFORE_EXPRESSION =
  /^(?:[=([{,;!&|?:+\-*%<>~^}]|return|typeof|case|in|of|do|else|void|yield|await)$/;

/** Returns all literals of the source, in order. */
export function regexLiterals(code: string): Literal[] {
  const found: Literal[] = [];
  /** Depths of braces at which a template literal continues. */
  const templates: number[] = [];
  let depth = 0;
  let last = "";
  let at = 0;
  while (at < code.length) {
    const char = code.charAt(at);
    const isTemplate = char === "`" || (char === "}" && templates.at(-1) === depth);
    if (code.startsWith("//", at)) {
      at = endOr(code, code.indexOf("\n", at));
    } else if (code.startsWith("/*", at)) {
      at = code.indexOf("*/", at) + 2;
    } else if (char === '"' || char === "'") {
      at = endOfQuoted(code, at);
      last = "value";
    } else if (isTemplate) {
      if (char === "}") templates.pop();
      const end = endOfTemplatePart(code, at + 1);
      if (code[end] === "$") templates.push(depth);
      last = code[end] === "$" ? "(" : "value";
      at = end + (code[end] === "$" ? 2 : 1);
    } else if (char === "/" && (last === "" || BEFORE_EXPRESSION.test(last))) {
      const literal = literalAt(code, at);
      found.push(literal);
      at += literal.source.length + literal.flags.length + 2;
      last = "value";
    } else {
      if (char === "{") depth++;
      if (char === "}") depth--;
      const word = /^[\w$]+/.exec(code.slice(at, at + 100))?.[0] ?? "";
      if (word !== "" || char.trim() !== "") last = word === "" ? char : word;
      at += Math.max(1, word.length);
    }
  }
  return found;
}

function endOr(code: string, index: number): number {
  return index === -1 ? code.length : index;
}

function endOfQuoted(code: string, start: number): number {
  let at = start + 1;
  while (at < code.length && code[at] !== code[start]) at += code[at] === "\\" ? 2 : 1;
  return at + 1;
}

/** Returns the position of the backtick, or of the `${` of a value. */
function endOfTemplatePart(code: string, start: number): number {
  let at = start;
  while (at < code.length && code[at] !== "`" && !code.startsWith("${", at)) {
    at += code[at] === "\\" ? 2 : 1;
  }
  return at;
}

function literalAt(code: string, start: number): Literal {
  let at = start + 1;
  let isInClass = false;
  while (at < code.length && (code[at] !== "/" || isInClass)) {
    if (code[at] === "[") isInClass = true;
    if (code[at] === "]") isInClass = false;
    at += code[at] === "\\" ? 2 : 1;
  }
  const flags = /^[a-z]*/.exec(code.slice(at + 1, at + 10))?.[0] ?? "";
  return {
    source: code.slice(start + 1, at),
    flags,
    line: code.slice(0, start).split("\n").length,
  };
}

/** Returns the expressions that files in `folder` create with `new RegExp` while `load` runs. */
export async function constructedPatterns(
  folder: string,
  load: () => Promise<unknown>,
): Promise<Pick<Literal, "source" | "flags">[]> {
  const found: Pick<Literal, "source" | "flags">[] = [];
  const original = globalThis.RegExp;
  globalThis.RegExp = new Proxy(original, {
    construct(target, args: [string, string?]) {
      const expression = new target(...args);
      if (new Error().stack?.includes(folder) === true) found.push(expression);
      return expression;
    },
  });
  try {
    await load();
  } finally {
    globalThis.RegExp = original;
  }
  return found;
}
