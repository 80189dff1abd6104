/** The workflow as the interface has it, with the changes that are not saved yet. */

import { Code } from "../../ui/code.tsx";
import { exitsBody, graphBody } from "./editor/draft.ts";
import type { WorkflowTabProps } from "./workflow-tabs.tsx";

export function JsonTab({ workflow, editor }: WorkflowTabProps) {
  const { value, isChanged } = editor;
  const { name, description, allowReentry } = value;
  const json = {
    name,
    description: description === "" ? null : description,
    enabled: workflow.enabled,
    allowReentry,
    ...exitsBody(value),
    ...graphBody(value),
  };
  return (
    <>
      <p className="muted json-note">
        The body of <code>POST /workflows</code> that makes the same workflow
        {isChanged ? ", with the changes that are not saved yet." : "."}
      </p>
      <Code label="The workflow as JSON" samples={{ JSON: JSON.stringify(json, null, 2) }} />
    </>
  );
}
