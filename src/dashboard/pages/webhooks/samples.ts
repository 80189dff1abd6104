/** Examples in code: creating a webhook, and checking the signature of its requests. */

import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

export const createSamples = (base: string): Samples =>
  postSamples(`${base}/webhooks`, { url: "https://shop.example/hooks", events: ["email.*"] });

/** The packages of Standard Webhooks check the signature and its time. */
export const verifySamples = (secret: string): Samples => ({
  TypeScript: `import { Webhook } from "standardwebhooks";

const webhook = new Webhook("${secret}");
const event = webhook.verify(bodyAsText, headers); // throws if the signature is wrong`,
  Python: `from standardwebhooks.webhooks import Webhook

webhook = Webhook("${secret}")
event = webhook.verify(body_as_text, headers)  # raises if the signature is wrong`,
});
