/** The body of a template, as code or in the visual editor. */

import { useCallback } from "react";
import { CodeBody } from "./code-body.tsx";
import type { DraftFault } from "./use-draft-preview.ts";

/** The part of an object that the editor of its body needs. */
export type BodyEditing = {
  value: { body: string };
  change: (next: { body?: string }) => void;
};

export function BodyEditor(props: {
  editor: BodyEditing;
  project: string;
  faults: readonly DraftFault[];
}) {
  const { editor, project, faults } = props;
  const { change, value } = editor;
  const setBody = useCallback((body: string) => change({ body }), [change]);
  return (
    <CodeBody
      label="Body, HTML with Liquid"
      value={value.body}
      onChange={setBody}
      project={project}
      faults={faults}
    />
  );
}
