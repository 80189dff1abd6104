import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that adds a contact, by language. */
export const contactSamples = (base: string): Samples =>
  postSamples(`${base}/contacts`, {
    email: "ada@example.com",
    data: { name: "Ada", plan: "pro" },
  });
