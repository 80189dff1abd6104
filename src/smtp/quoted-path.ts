/**
 * Paths with a quoted local part (RFC 5321 §4.1.2), such as `<"odd user"@example.com>`. The package
 * smtp-server splits a command at blanks and at `@`, so it is given a path with a plain local part of
 * the same length, and the quoted one takes its place in the result.
 */

/** A command up to the quoted local part, that part, and the rest. It has no control characters. */
const QUOTED_PATH =
  /^([A-Za-z]{4} [A-Za-z]{2,4}:\s*<)("(?:[^\p{Cc}"\\]|\\[ -~])*")(@[^\s"<>@]+>.*)$/u;
const DOT_ATOM = /^[^\s\p{Cc}()<>[\]:;@\\,."]+(?:\.[^\s\p{Cc}()<>[\]:;@\\,."]+)*$/u;

/** Null if the path of the command is not quoted. */
export function splitQuotedPath(command: string): { plain: string; local: string } | null {
  const [, head = "", quoted = "", tail = ""] = QUOTED_PATH.exec(command) ?? [];
  if (quoted === "") return null;
  return { plain: `${head}${"q".repeat(quoted.length)}${tail}`, local: withoutQuotes(quoted) };
}

/** `"a.b"` and `a.b` are the same mailbox, so quotes that are not needed are removed. */
function withoutQuotes(quoted: string): string {
  const content = quoted.slice(1, -1).replace(/\\(.)/gu, "$1");
  return DOT_ATOM.test(content) ? content : quoted;
}
