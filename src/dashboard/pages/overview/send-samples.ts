/** The first request in four languages, with the address of this server. */

import type { Samples } from "../../ui/code.tsx";
import { jsonText, postSamples } from "../../ui/post-samples.ts";

/** `to` is the address of the user, so that the first mail goes to a known place. */
export function sendSamples(base: string, to: string): Samples {
  const url = `${base}/v1/send`;
  const mail = { to, from: "hello@example.org", subject: "Hello", body: "<p>It works.</p>" };
  return {
    ...postSamples(url, mail),
    PHP: `<?php
$request = curl_init("${url}");
curl_setopt_array($request, [
    CURLOPT_POST => true,
    CURLOPT_HTTPHEADER => [
        "Authorization: Bearer sk_YOUR_KEY",
        "Content-Type: application/json",
    ],
    CURLOPT_POSTFIELDS => '${jsonText(mail, 4).replaceAll("'", "\\'")}',
]);
curl_exec($request);`,
  };
}
