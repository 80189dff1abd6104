import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that creates a workflow, by language. */
export const workflowSamples = (base: string): Samples =>
  postSamples(`${base}/workflows`, {
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
  });
