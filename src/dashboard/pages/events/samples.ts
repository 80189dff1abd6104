import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that records an event, by language. */
export const trackSamples = (base: string): Samples =>
  postSamples(`${base}/v1/track`, {
    event: "order.paid",
    email: "ada@example.com",
    data: { total: 12 },
  });
