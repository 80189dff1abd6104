/** Examples in code: creating a webhook, and checking the signature of its requests. */

import type { Samples } from "../../ui/code.tsx";

const BODY = `{"url": "https://shop.example/hooks", "events": ["email.*"]}`;

export const createSamples = (base: string): Samples => ({
  curl: `curl ${base}/webhooks \\
  -H "Authorization: Bearer sk_YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${BODY}'`,
  TypeScript: `await fetch("${base}/webhooks", {
  method: "POST",
  headers: {
    Authorization: "Bearer sk_YOUR_KEY",
    "Content-Type": "application/json",
  },
  body: JSON.stringify({ url: "https://shop.example/hooks", events: ["email.*"] }),
});`,
  Python: `requests.post(
    "${base}/webhooks",
    headers={"Authorization": "Bearer sk_YOUR_KEY"},
    json={"url": "https://shop.example/hooks", "events": ["email.*"]},
)`,
});

/** The packages of Standard Webhooks check the signature and its time. */
export const verifySamples = (secret: string): Samples => ({
  TypeScript: `import { Webhook } from "standardwebhooks";

const webhook = new Webhook("${secret}");
const event = webhook.verify(bodyAsText, headers); // throws if the signature is wrong`,
  Python: `from standardwebhooks.webhooks import Webhook

webhook = Webhook("${secret}")
event = webhook.verify(body_as_text, headers)  # raises if the signature is wrong`,
});
