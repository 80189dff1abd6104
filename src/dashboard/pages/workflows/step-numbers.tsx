/** The number of executions that are at a step, and of those that completed it or failed. */

import { Button } from "@mantine/core";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import { Field, Fields } from "../../ui/fields.tsx";

const number = new Intl.NumberFormat();

export function StepNumbers(props: {
  counts: WorkflowCounts | undefined;
  id: string;
  /** Lists the executions of a status that are at the step. */
  onList: (status: string) => void;
}) {
  const { counts, id, onList } = props;
  const found = counts?.steps.find(({ stepId }) => stepId === id);
  if (found === undefined) return null;
  const listed = (count: number, status: string) =>
    count === 0 ? (
      "0"
    ) : (
      <Button variant="subtle" size="compact-sm" onClick={() => onList(status)}>
        {number.format(count)}, show them
      </Button>
    );
  return (
    <Fields>
      <Field label="Here now">{listed(found.active, "waiting")}</Field>
      <Field label="Completed">{number.format(found.completed)}</Field>
      <Field label="Skipped">{number.format(found.skipped)}</Field>
      <Field label="Failed">{listed(found.failed, "failed")}</Field>
    </Fields>
  );
}
