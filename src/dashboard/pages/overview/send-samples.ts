/** The first request in four languages, with the address of this server. */

import type { Samples } from "../../ui/code.tsx";

/** `to` is the address of the user, so that the first mail goes to a known place. */
export function sendSamples(url: string, to: string): Samples {
  const mail = { to, from: "hello@example.org", subject: "Hello", body: "<p>It works.</p>" };
  return {
    curl: `curl ${url}/v1/send \\
  -H 'Authorization: Bearer sk_YOUR_KEY' \\
  -H 'Content-Type: application/json' \\
  -d '${quoted(mail, "'\\''").replaceAll("\n", "\n  ")}'`,
    TypeScript: `await fetch("${url}/v1/send", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify(${JSON.stringify(mail, null, 2).replaceAll("\n", "\n  ")}),
});`,
    Python: `import requests

requests.post(
    "${url}/v1/send",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json=${JSON.stringify(mail, null, 4).replaceAll("\n", "\n    ")},
)`,
    PHP: `<?php
$request = curl_init("${url}/v1/send");
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_HTTPHEADER => [
        "Authorization: Bearer sk_YOUR_KEY",
        "Content-Type: application/json",
    ],
    CURLOPT_POSTFIELDS => '${quoted(mail, "\\'").replaceAll("\n", "\n    ")}',
]);
curl_exec($request);`,
  };
}

/** JSON between single quotes, for a language that writes a quote between them as `quote`. */
const quoted = (value: object, quote: string): string =>
  JSON.stringify(value, null, 2).replaceAll("'", quote);
