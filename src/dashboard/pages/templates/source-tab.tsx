/** The source of a template, to read. */

import { useMemo } from "react";
import type { Template } from "../../../modules/templates.ts";
import { Copy } from "../../ui/copy.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { plainLines } from "../../ui/message/message-lines.ts";

const LINE_PX = 20;
const PADDING_PX = 60;
const MAX_PX = 640;

/**
 * The height of the source, so that a short one has no empty space below it. Wrapped lines are
 * higher.
 */
const heightOf = (lines: number): number => Math.min(MAX_PX, 2 * lines * LINE_PX + PADDING_PX);

export function TemplateSourceTab({ template: { subject, body } }: { template: Template }) {
  const lines = useMemo(() => plainLines(body), [body]);
  return (
    <div className="template">
      <h2>Subject</h2>
      <p className="template-subject">
        <code>{subject}</code>
        <Copy value={subject} label="Copy the subject" />
      </p>
      <div className="template-head">
        <h2>Body</h2>
        <Copy value={body} label="Copy the body" />
      </div>
      <div className="template-source" style={{ height: heightOf(lines.count) }}>
        <LinesView lines={lines} label="Source of the body" isWrapped />
      </div>
    </div>
  );
}
