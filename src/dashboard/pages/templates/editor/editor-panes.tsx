/**
 * Shows the source and the mail that it makes beside each other, and on narrow screens one of both.
 * With `isSingle`, all screens show one of both.
 */

import "../styles.ts";
import { SegmentedControl } from "@mantine/core";
import { type ReactNode, useState } from "react";

type Pane = "WRITE" | "PREVIEW";

export function EditorPanes(props: { source: ReactNode; preview: ReactNode; isSingle?: boolean }) {
  const { source, preview, isSingle = false } = props;
  const [pane, setPane] = useState<Pane>("WRITE");
  return (
    <div className="editor" data-pane={pane} data-single={isSingle || undefined}>
      <SegmentedControl
        className="editor-panes"
        aria-label="Part of the page"
        fullWidth
        value={pane}
        onChange={(value) => setPane(value === "PREVIEW" ? "PREVIEW" : "WRITE")}
        data={[
          { value: "WRITE", label: "Write" },
          { value: "PREVIEW", label: "Preview" },
        ]}
      />
      <section className="editor-source" aria-label="Content">
        {source}
      </section>
      <section className="editor-preview" aria-label="Preview">
        {preview}
      </section>
    </div>
  );
}
