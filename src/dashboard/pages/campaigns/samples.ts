import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that creates a campaign, by language. */
export const campaignSamples = (base: string): Samples =>
  postSamples(`${base}/campaigns`, {
    name: "Spring news",
    subject: "News for {{ name ?? you }}",
    body: "<p>Hello {{ name ?? there }}</p>",
    from: "news@your-domain.example",
    audienceType: "ALL",
  });
