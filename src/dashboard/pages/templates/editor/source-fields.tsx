/** The lines above the body: sender, subject, preheader and layout. */

import { Link } from "@tanstack/react-router";
import { ContentFields } from "./content-fields.tsx";
import type { TemplateEditing } from "./template-editing.ts";
import type { DraftFault } from "./use-draft-preview.ts";

export function SourceFields(props: {
  editor: TemplateEditing;
  project: string;
  faults: readonly DraftFault[];
}) {
  const { editor, project, faults } = props;
  const { value } = editor;
  return (
    <div className="editor-fields">
      <div className="editor-field">
        <span className="editor-label">From</span>
        <Link
          to="."
          search={(before: object) => ({ ...before, tab: "settings" })}
          className="editor-sender cut"
        >
          {senderText(value)}
        </Link>
      </div>
      <ContentFields editor={editor} project={project} faults={faults} />
    </div>
  );
}

const senderText = ({ from, fromName }: TemplateEditing["value"]): string => {
  if (from === null) return fromName === null ? "The sender of the project" : fromName;
  return fromName === null ? from : `${fromName} <${from}>`;
};
