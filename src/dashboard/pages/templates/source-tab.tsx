/** The source of a template, to read. */

import { useMemo } from "react";
import type { Template } from "../../../modules/templates/model.ts";
import { Copy } from "../../ui/copy.tsx";
import { LinesView } from "../../ui/message/lines-view.tsx";
import { plainLines } from "../../ui/message/message-lines.ts";

export function SourceTab({ template: { subject, body } }: { template: Template }) {
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
      <div className="template-source">
        <LinesView lines={lines} label="Source of the body" isWrapped />
      </div>
    </div>
  );
}
