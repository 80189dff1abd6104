/** A request in three languages, for pages that show how to use the interface. */

import type { Samples } from "./code.tsx";
import { quoted, shellWord } from "./shell-word.ts";

const MAX_LINE = 70;
/** An object or a list without others inside, but not the whole, whose end is not indented. */
const INNERMOST = /[[{]\n[^[\]{}]*(?<=\n[ \t]{1,40})[\]}]/g;

/** The request that posts `body`, as JSON, to `url`. The body has no true, false or null. */
export function postSamples(url: string, body: object): Samples {
  return {
    curl: `curl ${shellWord(url)} \\
  -H 'Authorization: Bearer sk_YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d ${quoted(jsonText(body, 2))}`,
    TypeScript: `await fetch("${url}", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${jsonText(body, 2)}),
});`,
    Python: `import requests

requests.post(
    "${url}",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json=${jsonText(body, 4)},
)`,
  };
}

/** Indented as an argument of a call is, with short objects and lists inside on one line. */
export const jsonText = (body: object, indent: 2 | 4): string =>
  JSON.stringify(body, null, indent)
    .replace(INNERMOST, (text) => {
      const line = text.replace(/\n\s+/g, " ").replace(/^\[ | \]$/g, (end) => end.trim());
      return line.length > MAX_LINE ? text : line;
    })
    .replaceAll("\n", `\n${" ".repeat(indent)}`);
