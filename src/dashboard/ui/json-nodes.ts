/** Data as the lines of a tree, with bounds, so that no data makes the page slow. */

/** Members of one object or list that are shown; the number of the others is shown instead. */
const MAX_MEMBERS = 200;
/** Nested objects and lists; deeper ones are shown as text. */
const MAX_DEPTH = 12;
/** Characters of a text. */
const MAX_CHARACTERS = 2_000;
/** Lines of the whole tree. */
const MAX_LINES = 2_000;

export type JsonNode = {
  /** Name of the member, or number in its list; null at the top. */
  name: string | null;
  /** The value, or for objects and lists a summary such as `3 members`. */
  text: string;
  kind: "text" | "number" | "word" | "object" | "list";
  /** Null for a value without members. */
  members: readonly JsonNode[] | null;
  /** Number of members that are left out. */
  hidden: number;
};

/** `value` is parsed JSON. */
export function jsonNodes(value: unknown): JsonNode {
  let lines = 0;

  function nodeOf(name: string | null, each: unknown, depth: number): JsonNode {
    lines++;
    if (typeof each !== "object" || each === null) return leafOf(name, each);
    const isList = Array.isArray(each);
    const all: [string, unknown][] = isList
      ? each.map((item, i) => [String(i), item])
      : Object.entries(each);
    const kind = isList ? "list" : "object";
    const text = summaryOf(kind, all.length);
    if (depth === MAX_DEPTH) {
      return { name, text: cut(JSON.stringify(each)), kind, members: null, hidden: 0 };
    }
    const members: JsonNode[] = [];
    for (const [key, item] of all.slice(0, MAX_MEMBERS)) {
      if (lines >= MAX_LINES) break;
      members.push(nodeOf(key, item, depth + 1));
    }
    return { name, text, kind, members, hidden: all.length - members.length };
  }

  return nodeOf(null, value, 0);
}

function leafOf(name: string | null, value: unknown): JsonNode {
  const leaf = { name, members: null, hidden: 0 };
  if (typeof value === "string") return { ...leaf, kind: "text", text: `"${cut(value)}"` };
  if (typeof value === "number") return { ...leaf, kind: "number", text: String(value) };
  return { ...leaf, kind: "word", text: String(value) };
}

function cut(text: string): string {
  if (text.length <= MAX_CHARACTERS) return text;
  return `${text.slice(0, MAX_CHARACTERS)}… (${text.length - MAX_CHARACTERS} more characters)`;
}

function summaryOf(kind: "object" | "list", count: number): string {
  const noun = kind === "list" ? "item" : "member";
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** The data in one line, such as `plan: pro, total: 12`; empty without data. */
export function jsonLine(data: Readonly<Record<string, unknown>> | null): string {
  const parts: string[] = [];
  for (const [name, value] of Object.entries(data ?? {}).slice(0, 6)) {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    parts.push(`${name}: ${text.slice(0, 80)}`);
  }
  return parts.join(", ");
}
