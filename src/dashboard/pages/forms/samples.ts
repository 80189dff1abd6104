import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that creates a form, by language. */
export const formSamples = (base: string): Samples =>
  postSamples(`${base}/forms`, {
    name: "Newsletter",
    title: "Our newsletter",
    fields: [{ name: "firstName", label: "First name", kind: "TEXT" }],
  });
