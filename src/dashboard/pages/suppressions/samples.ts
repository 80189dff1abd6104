import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that suppresses an address, by language. */
export const suppressionSamples = (base: string): Samples =>
  postSamples(`${base}/suppressions`, { email: "ada@example.com", reason: "MANUAL" });
