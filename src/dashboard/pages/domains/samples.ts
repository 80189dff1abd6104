import type { Samples } from "../../ui/code.tsx";
import { postSamples } from "../../ui/post-samples.ts";

/** The request that adds a domain, by language. Its answer has the DNS records. */
export const domainSamples = (base: string): Samples =>
  postSamples(`${base}/domains`, { domain: "mail.example.com" });
