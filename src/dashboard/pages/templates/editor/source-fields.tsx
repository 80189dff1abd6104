/** The lines above the body: sender, subject, preheader and layout. */

import { Select, TextInput } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { useLayouts } from "../layouts/use-layouts.ts";
import type { TemplateEditing } from "./template-editing.ts";
import type { DraftFault } from "./use-draft-preview.ts";

export function SourceFields(props: {
  editor: TemplateEditing;
  project: string;
  faults: readonly DraftFault[];
}) {
  const { editor, project, faults } = props;
  const { value, change } = editor;
  const faultOf = (field: string) => faults.find((fault) => fault.field === field)?.message;
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
      <TextInput
        label="Subject"
        className="editor-field"
        variant="unstyled"
        maxLength={10_000}
        value={value.subject}
        error={faultOf("subject")}
        onChange={({ currentTarget }) => change({ subject: currentTarget.value })}
      />
      <TextInput
        label="Preheader"
        className="editor-field"
        variant="unstyled"
        placeholder="Shown beside the subject in the list of mails"
        maxLength={2_000}
        value={value.preheader ?? ""}
        error={faultOf("preheader")}
        onChange={({ currentTarget }) =>
          change({ preheader: currentTarget.value === "" ? null : currentTarget.value })
        }
      />
      <LayoutField editor={editor} project={project} />
    </div>
  );
}

const senderText = ({ from, fromName }: TemplateEditing["value"]): string => {
  if (from === null) return fromName === null ? "The sender of the project" : fromName;
  return fromName === null ? from : `${fromName} <${from}>`;
};

/** The layout around the body; absent while the project has none. */
function LayoutField({ editor, project }: { editor: TemplateEditing; project: string }) {
  const layouts = useLayouts(project);
  const { layoutId } = editor.value;
  const known = (layouts.data ?? []).map(({ id, name }) => ({ value: id, label: name }));
  if (known.length === 0 && layoutId === null) return null;
  const isKnown = layoutId === null || known.some(({ value }) => value === layoutId);
  return (
    <Select
      label="Layout"
      className="editor-field"
      variant="unstyled"
      placeholder="None"
      clearable
      data={isKnown ? known : [...known, { value: layoutId, label: "…" }]}
      value={layoutId}
      onChange={(next) => editor.change({ layoutId: next })}
    />
  );
}
