/** Examples in code: creating a workflow. */

import type { Samples } from "../../ui/code.tsx";

const BODY = {
  name: "Welcome",
  trigger: { type: "EVENT", eventName: "signed_up" },
  steps: [
    { id: "wait", type: "DELAY", config: { amount: 1, unit: "days" } },
    { id: "welcome", type: "SEND_EMAIL", config: { templateId: "TEMPLATE_ID" } },
  ],
  transitions: [
    { from: "trigger", to: "wait" },
    { from: "wait", to: "welcome" },
  ],
};

export const workflowSamples = (base: string): Samples => ({
  curl: `curl ${base}/workflows \\
  -H "Authorization: Bearer sk_YOUR_KEY" \\
  -H "Content-Type: application/json" \\
  -d '${JSON.stringify(BODY, null, 2)}'`,
});
