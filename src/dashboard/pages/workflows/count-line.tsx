/** The numbers of executions of a workflow in one line, and how to cancel those under way. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { activeOf } from "./columns.tsx";
import type { useWorkflowCounts } from "./use-counts.ts";
import { useWorkflowActions } from "./use-workflow.ts";

const number = new Intl.NumberFormat();

export function CountLine(props: {
  project: string;
  workflow: Workflow;
  counts: ReturnType<typeof useWorkflowCounts>["data"];
}) {
  const { project, workflow, counts } = props;
  const [isAsking, question] = useDisclosure(false);
  const { cancelAll } = useWorkflowActions(project, workflow.id);
  const mayEdit = useMay("EDITOR");
  if (counts === undefined) return <p className="muted small count-line">Counting executions…</p>;
  const { executions } = counts;
  const active = activeOf(executions);
  return (
    <div className="count-line small">
      <span className="figures">
        <strong>{number.format(active)}</strong> active, {number.format(executions.COMPLETED)}{" "}
        completed, {number.format(executions.EXITED)} left early, {number.format(executions.FAILED)}{" "}
        failed, {number.format(executions.CANCELLED)} cancelled
      </span>
      {mayEdit && active > 0 && (
        <Button size="compact-xs" variant="subtle" color="gray" onClick={question.open}>
          Cancel all active
        </Button>
      )}
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Cancel all active executions?"
        text={`${number.format(active)} ${active === 1 ? "contact leaves" : "contacts leave"} the workflow where they are. This cannot be undone${
          workflow.allowReentry ? "." : ", and these contacts cannot enter it again."
        }`}
        action="Cancel the executions"
        refusal="Keep the executions"
        onConfirm={cancelAll}
      />
    </div>
  );
}
