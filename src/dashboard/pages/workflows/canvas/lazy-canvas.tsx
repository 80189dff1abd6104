/** The canvas, in a chunk of its own because of the libraries that lay the graph out and draw it. */

import { Skeleton } from "@mantine/core";
import { lazyPart } from "../../../lazy.tsx";

export const LazyCanvas = lazyPart(
  async () => (await import("./canvas.tsx")).Canvas,
  <Skeleton height="100%" aria-busy="true" />,
);
