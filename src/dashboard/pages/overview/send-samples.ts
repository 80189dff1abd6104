/** The first request in four languages, with the address of this server. */

import type { Samples } from "../../ui/code.tsx";
import { jsonText, postSamples } from "../../ui/post-samples.ts";
import type { SampleMail } from "../../use-sample-mail.ts";

export function sendSamples({ base, to, from }: SampleMail): Samples {
  const url = `${base}/v1/send`;
  const mail = { to, from, subject: "Hello", body: "<p>It works.</p>" };
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
