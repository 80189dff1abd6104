/**
 * Parses the pattern of a regular expression, as far as sample texts need it (ECMA-262 §22.2.1).
 */

export type Node =
  /** Texts of one character that the node matches or may match. */
  | { kind: "character"; samples: readonly string[] }
  | { kind: "sequence"; items: readonly Node[] }
  | { kind: "choice"; options: readonly Node[] }
  | { kind: "repeat"; item: Node; min: number; max: number }
  /** Assertions: anchors, lookaheads and lookbehinds, which match no text themselves. */
  | { kind: "empty"; inner: Node | null };

const EMPTY: Node = { kind: "empty", inner: null };
const SPACES = [" ", "\t", "\n", "\u00a0", "\ufeff"];
const ANY = ["a", " ", "0", "-", '"', "<"];
const LETTERS = ["a", "0", "_"];

const ESCAPES: Readonly<Record<string, readonly string[]>> = {
  s: SPACES,
  S: ["a", "-", '"'],
  d: ["0", "9"],
  D: ["a", " "],
  w: LETTERS,
  W: [" ", "-"],
  n: ["\n"],
  r: ["\r"],
  t: ["\t"],
  v: ["\v"],
  f: ["\f"],
  "0": ["\0"],
};

/** Sample characters of Unicode properties; an unknown property gets any characters. */
const PROPERTIES: Readonly<Record<string, readonly string[]>> = {
  L: ["a", "\u00e9"],
  N: ["0"],
  M: ["\u0301"],
  Cc: ["\u0001"],
  Cf: ["\u200b"],
  ASCII: ["a", " "],
};

export function parsePattern(source: string): Node {
  let at = 0;

  function choice(): Node {
    const options = [sequence()];
    while (source[at] === "|") {
      at++;
      options.push(sequence());
    }
    const [only] = options;
    return options.length === 1 && only !== undefined ? only : { kind: "choice", options };
  }

  function sequence(): Node {
    const items: Node[] = [];
    while (at < source.length && source[at] !== "|" && source[at] !== ")") {
      items.push(quantified(atom()));
    }
    return { kind: "sequence", items };
  }

  function atom(): Node {
    const char = source[at++] ?? "";
    if (char === "(") return group();
    if (char === "[") return characterClass();
    if (char === "\\") return escape();
    if (char === "^" || char === "$") return EMPTY;
    return { kind: "character", samples: char === "." ? ANY : [char] };
  }

  function group(): Node {
    const opening = /^\?(?:[=!]|<[=!]|:|<[^>]*>)/.exec(source.slice(at))?.[0] ?? "";
    at += opening.length;
    const inner = choice();
    at++;
    const isAssertion = opening !== "" && !opening.endsWith(":") && !opening.endsWith(">");
    return isAssertion ? { kind: "empty", inner } : inner;
  }

  function escape(): Node {
    const char = source[at++] ?? "";
    if (char === "b" || char === "B") return EMPTY;
    return { kind: "character", samples: escaped(char) };
  }

  /** Returns the characters of an escape whose letter was read before. */
  function escaped(char: string): readonly string[] {
    const rest = source.slice(at);
    const code =
      char === "x" || char === "u" ? /^(?:\{([\da-f]+)\}|([\da-f]{2,4}))/i.exec(rest) : null;
    if (code !== null) {
      at += code[0].length;
      return [String.fromCodePoint(Number.parseInt(code[1] ?? code[2] ?? "", 16))];
    }
    if (char === "p" || char === "P") {
      const name = /^\{([^}]*)\}/.exec(rest);
      at += name?.[0].length ?? 0;
      return char === "p" ? (PROPERTIES[name?.[1] ?? ""] ?? ANY) : ANY;
    }
    return ESCAPES[char] ?? [char];
  }

  function characterClass(): Node {
    const isNegated = source[at] === "^";
    if (isNegated) at++;
    const samples: string[] = [];
    while (source[at] !== "]") {
      const char = source[at++] ?? "";
      samples.push(...(char === "\\" ? escaped(source[at++] ?? "") : [char]));
    }
    at++;
    const outside = [...ANY, "\u2028"].filter((char) => !samples.includes(char));
    return { kind: "character", samples: isNegated ? outside : spread(samples) };
  }

  function quantified(item: Node): Node {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/.exec(source.slice(at));
    if (found === null) return item;
    at += found[0].length;
    const [, sign, min = "", comma = "", limit = ""] = found;
    if (sign === "?") return { kind: "repeat", item, min: 0, max: 1 };
    if (sign !== undefined)
      return { kind: "repeat", item, min: Number(sign === "+"), max: Infinity };
    const max = comma === "" ? Number(min) : limit === "" ? Infinity : Number(limit);
    return { kind: "repeat", item, min: Number(min), max };
  }

  return choice();
}

/** Returns a few characters of a class, evenly distributed. */
function spread(samples: readonly string[]): string[] {
  const maxSamples = 6;
  const distinct = [...new Set(samples)];
  const step = Math.max(1, distinct.length / maxSamples);
  return Array.from(
    { length: Math.min(maxSamples, distinct.length) },
    (_, i) => distinct[Math.floor(i * step)] ?? "",
  );
}
