/** The execution that is drawn over the graph: whose it is, its state, and how to cancel it. */

import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { Link } from "@tanstack/react-router";
import { X } from "lucide-react";
import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useWorkflowActions } from "./use-workflow.ts";

export function ExecutionPanel(props: {
  project: string;
  execution: ExecutionDetails;
  /** Passed steps that the present graph does not have. */
  missing: number;
  onClose: () => void;
}) {
  const { project, execution, missing, onClose } = props;
  const { status, contactId, contactEmail, startedAt, completedAt, exitReason, error } = execution;
  const isActive = status === "RUNNING" || status === "WAITING";
  const mayEdit = useMay("EDITOR");
  const [isAsking, question] = useDisclosure(false);
  const { cancel } = useWorkflowActions(project, execution.workflowId);
  return (
    <section className="execution-panel" aria-label="Execution">
      <Status value={status} />
      <div className="execution-texts">
        <strong>
          {contactId === null ? (
            "A deleted contact"
          ) : (
            <Link to="/p/$project/contacts/$contact" params={{ project, contact: contactId }}>
              {contactEmail}
            </Link>
          )}
        </strong>
        <span className="muted small">
          Started <Time at={startedAt} />
          {completedAt !== null && (
            <>
              , ended <Time at={completedAt} />
            </>
          )}
          {exitReason !== null && `: ${exitReason}`}
        </span>
        {error !== null && <span className="small execution-error">{error}</span>}
        {missing > 0 && (
          <span className="muted small">
            It followed an earlier version: {missing} of its steps {missing === 1 ? "is" : "are"}{" "}
            not in this graph.
          </span>
        )}
      </div>
      {isActive && mayEdit && (
        <Button size="xs" variant="default" onClick={question.open}>
          Cancel the execution
        </Button>
      )}
      <Button
        size="xs"
        variant="subtle"
        color="gray"
        leftSection={<X size={14} aria-hidden />}
        onClick={onClose}
      >
        Show all executions
      </Button>
      <Confirm
        isOpen={isAsking}
        onClose={question.close}
        title="Cancel this execution?"
        text={`${contactEmail ?? "The contact"} leaves the workflow at this step. This cannot be undone.`}
        action="Cancel the execution"
        onConfirm={() => cancel(execution.id)}
      />
    </section>
  );
}
