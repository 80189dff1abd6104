import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that creates a segment, by language. */
export const segmentSamples = (base: string): Samples =>
  postSamples(`${base}/segments`, {
    name: "Pro customers",
    condition: {
      logic: "AND",
      groups: [{ filters: [{ field: "data.plan", operator: "equals", value: "pro" }] }],
    },
  });
