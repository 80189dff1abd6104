/** Enables a workflow after a dialog that says who will enter it, and disables it. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { Power } from "lucide-react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { showDone, showFailure, showUndo } from "../../ui/undo.tsx";
import type { WorkflowEditing } from "./editor/use-editor.ts";
import { Forecast } from "./entry-forecast.tsx";
import { useWorkflowActions } from "./use-workflow.ts";

export function EnableButton(props: {
  project: string;
  workflow: Workflow;
  editor: WorkflowEditing;
}) {
  const { project, workflow, editor } = props;
  const { enabled } = workflow;
  const { setEnabled } = useWorkflowActions(project, workflow.id);
  const [isAsking, question] = useDisclosure(false);
  const disabling = useMutation({
    mutationFn: () => setEnabled(false),
    onSuccess: () =>
      showUndo({
        text: "Disabled. No contact enters it now. Executions under way continue.",
        onUndo: () =>
          void setEnabled(true).catch((error: unknown) => showFailure("It was not undone", error)),
      }),
    onError: (error) => showFailure("The workflow was not disabled", error),
  });

  async function enable(): Promise<void> {
    if (editor.isChanged) {
      const { status, error } = await editor.saveNow();
      if (status !== "SAVED") throw error ?? new Error("Save your changes first, then enable it.");
    }
    await setEnabled(true);
    showDone("Enabled.");
  }

  return (
    <>
      <Button
        variant={enabled || editor.isChanged ? "default" : "filled"}
        leftSection={<Power size={15} aria-hidden />}
        loading={disabling.isPending}
        onClick={enabled ? () => disabling.mutate() : question.open}
      >
        {enabled ? "Disable" : "Enable"}
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title={`Enable ${workflow.name}?`}
        text={<Forecast project={project} workflow={workflow} draft={editor.value} />}
        action={editor.isChanged ? "Save and enable" : "Enable the workflow"}
        color="brand"
        onConfirm={enable}
      />
    </>
  );
}
