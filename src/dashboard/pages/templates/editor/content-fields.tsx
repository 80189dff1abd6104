/** Subject, preheader and layout, each on one line as in a mail program. */

import { Select } from "@mantine/core";
import { useLayouts } from "../layouts/use-layouts.ts";
import type { DraftFault } from "./use-draft-preview.ts";
import { useVariables } from "./use-variables.ts";
import { VariableField } from "./variable-field.tsx";

type Content = { subject: string; preheader: string | null; layoutId: string | null };

/** The part of an object that these fields need. */
export type ContentEditing = { value: Content; change: (next: Partial<Content>) => void };

export function ContentFields(props: {
  editor: ContentEditing;
  project: string;
  faults: readonly DraftFault[];
}) {
  const { editor, project, faults } = props;
  const { value, change } = editor;
  const variables = useVariables(project);
  const faultOf = (field: string) => faults.find((fault) => fault.field === field)?.message;
  return (
    <>
      <VariableField
        label="Subject"
        noun="the subject"
        maxLength={10_000}
        value={value.subject}
        variables={variables}
        error={faultOf("subject")}
        onChange={(subject) => change({ subject })}
      />
      <VariableField
        label="Preheader"
        noun="the preheader"
        placeholder="Shown beside the subject in the list of mails"
        maxLength={2_000}
        value={value.preheader ?? ""}
        variables={variables}
        error={faultOf("preheader")}
        onChange={(preheader) => change({ preheader: preheader === "" ? null : preheader })}
      />
      <LayoutField editor={editor} project={project} />
    </>
  );
}

/** The layout around the body; absent while the project has none. */
function LayoutField({ editor, project }: { editor: ContentEditing; project: string }) {
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
