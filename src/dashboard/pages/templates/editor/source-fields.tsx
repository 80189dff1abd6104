/** The lines above the body: sender, subject, preheader and layout. */

import { Link } from "@tanstack/react-router";
import { useProjectDetails } from "../../settings/use-project-details.ts";
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
  const details = useProjectDetails();
  const hasNoSender = value.from === null && details.data?.sender === null;
  return (
    <div className="editor-fields">
      <div className="editor-field">
        <span className="editor-label">From</span>
        {hasNoSender ? (
          <NoSender project={project} />
        ) : (
          <Link to="." search={toSettings} className="editor-sender cut">
            {senderText(value)}
          </Link>
        )}
      </div>
      <ContentFields editor={editor} project={project} faults={faults} />
    </div>
  );
}

const toSettings = (before: object) => ({ ...before, tab: "settings" });

function NoSender({ project }: { project: string }) {
  return (
    <span className="editor-no-sender">
      No sender yet:{" "}
      <Link to="." search={toSettings}>
        name one here
      </Link>
      , or{" "}
      <Link to="/p/$project/settings/general" params={{ project }}>
        set one for the project
      </Link>
      .
    </span>
  );
}

const senderText = ({ from, fromName }: TemplateEditing["value"]): string => {
  if (from === null) return fromName === null ? "The sender of the project" : fromName;
  return fromName === null ? from : `${fromName} <${from}>`;
};
