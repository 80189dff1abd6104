import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that creates a template, by language. */
export const templateSamples = (base: string): Samples =>
  postSamples(`${base}/templates`, {
    name: "Receipt",
    subject: "Your order {{ order }}",
    body: "<p>Thank you, {{ name ?? friend }}.</p>",
    type: "TRANSACTIONAL",
  });
