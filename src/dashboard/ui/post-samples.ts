/** A request in three languages, for pages that show how to use the interface. */

import type { Samples } from "./code.tsx";
import { quoted, shellWord } from "./shell-word.ts";

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

/** Indented as an argument of a call is. */
export const jsonText = (body: object, indent: 2 | 4): string =>
  JSON.stringify(body, null, indent).replaceAll("\n", `\n${" ".repeat(indent)}`);
