/** Examples in code: creating a webhook, and checking the signature of its requests. */

import type { Webhook } from "../../../modules/webhooks/model.ts";
import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

export const createSamples = (base: string): Samples =>
  postSamples(`${base}/webhooks`, { url: "https://shop.example/hooks", events: ["email.*"] });

/** Code that checks the signature and its time, with the packages for the form of the requests. */
export const verifySamples = (secret: string, shape: Webhook["shape"]): Samples =>
  shape === "RESEND" ? verifyWithResend(secret) : verifyStandard(secret);

const verifyStandard = (secret: string): Samples => ({
  TypeScript: `import { Webhook } from "standardwebhooks";

const webhook = new Webhook("${secret}");
const event = webhook.verify(bodyAsText, headers); // throws if the signature is wrong`,
  Python: `from standardwebhooks.webhooks import Webhook

webhook = Webhook("${secret}")
event = webhook.verify(body_as_text, headers)  # raises if the signature is wrong`,
});

const verifyWithResend = (secret: string): Samples => ({
  TypeScript: `import { Resend } from "resend";

const event = new Resend(apiKey).webhooks.verify({
  payload: bodyAsText,
  headers: {
    id: headers["svix-id"],
    timestamp: headers["svix-timestamp"],
    signature: headers["svix-signature"],
  },
  webhookSecret: "${secret}",
}); // throws if the signature is wrong`,
  Python: `import resend

event = resend.Webhooks.verify({
    "payload": body_as_text,
    "headers": {
        "id": headers["svix-id"],
        "timestamp": headers["svix-timestamp"],
        "signature": headers["svix-signature"],
    },
    "webhook_secret": "${secret}",
})  # raises if the signature is wrong`,
});
