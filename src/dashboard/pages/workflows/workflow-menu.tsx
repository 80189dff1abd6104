/** The further actions on a workflow: start it by hand, copy it, delete it. */

import { Menu } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { Play } from "lucide-react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api } from "../../api.ts";
import { useDeletion } from "../../ui/deletion.ts";
import { ObjectMenu } from "../../ui/object-menu.tsx";
import { showFailure } from "../../ui/undo.tsx";
import type { WorkflowEditing } from "./editor/use-editor.ts";
import { StartDialog } from "./start-dialog.tsx";
import { workflowKey, workflowPath } from "./use-workflow.ts";

export function WorkflowMenu(props: {
  project: string;
  workflow: Workflow;
  editor: WorkflowEditing;
}) {
  const { project, workflow, editor } = props;
  const { id, enabled } = workflow;
  const client = useQueryClient();
  const navigate = useNavigate();
  const [isStarting, starting] = useDisclosure(false);
  const remove = useDeletion({
    path: workflowPath(id),
    queryKey: workflowKey(project, id),
    listKey: ["workflows"],
    leave: async () => {
      editor.discard();
      await navigate({ to: "/p/$project/workflows", params: { project }, ignoreBlocker: true });
    },
  });
  async function duplicate(): Promise<void> {
    try {
      const copy = await api.post<Workflow>(`${workflowPath(id)}/duplicate`);
      void client.invalidateQueries({ queryKey: ["workflows"] });
      await navigate({
        to: "/p/$project/workflows/$workflow",
        params: { project, workflow: copy.id },
      });
    } catch (error) {
      showFailure("The workflow was not copied", error);
    }
  }
  return (
    <>
      <ObjectMenu
        noun="workflow"
        width={220}
        onDuplicate={duplicate}
        deletion={{
          text: "Executions under way are cancelled, and the record of all executions is deleted. Mails that were sent stay in the list of emails.",
          run: remove,
        }}
      >
        <Menu.Item
          leftSection={<Play size={15} aria-hidden />}
          disabled={!enabled}
          onClick={starting.open}
        >
          {enabled ? "Start by hand" : "Start by hand (enable it first)"}
        </Menu.Item>
      </ObjectMenu>
      <StartDialog
        project={project}
        workflow={workflow}
        isOpen={isStarting}
        onClose={starting.close}
      />
    </>
  );
}
