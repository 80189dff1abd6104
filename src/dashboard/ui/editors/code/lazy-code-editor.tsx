/** The code editor, loaded when a page first shows it. */

import { Skeleton } from "@mantine/core";
import { lazyPart } from "../../../lazy.tsx";
import type { CodeEditorProps } from "./code-editor.tsx";

const HEIGHT_PX = 320;

export const LazyCodeEditor = lazyPart<CodeEditorProps>(
  async () => (await import("./code-editor.tsx")).CodeEditor,
  <Skeleton height={HEIGHT_PX} aria-busy="true" />,
);
