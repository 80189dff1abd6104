import type { Samples } from "../../../ui/code.tsx";
import { postSamples } from "../../../ui/post-samples.ts";

/** The request that creates a layout, by language. */
export const layoutSamples = (base: string): Samples =>
  postSamples(`${base}/layouts`, {
    name: "Letterhead",
    body: "<header>Acme</header>{{ content }}<footer>Acme Ltd, Berlin</footer>",
  });
