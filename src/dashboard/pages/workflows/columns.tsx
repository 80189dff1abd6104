/** The columns of the list of workflows, on the page and in CSV. */

import type { ExecutionCounts } from "../../../modules/workflows/count-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { triggerText } from "./trigger-texts.ts";

type Counts = ReadonlyMap<string, ExecutionCounts>;
const number = new Intl.NumberFormat();

export const activeOf = ({ RUNNING, WAITING }: ExecutionCounts): number => RUNNING + WAITING;
/** Executions that ended as the workflow intends. */
export const doneOf = ({ COMPLETED, EXITED }: ExecutionCounts): number => COMPLETED + EXITED;

export function workflowColumns(counts: Counts): Column<Workflow>[] {
  return [
    {
      key: "name",
      title: "Name",
      render: ({ name, description }) => (
        <bdi title={description ?? name}>
          {name}
          {description !== null && <span className="muted workflow-note"> {description}</span>}
        </bdi>
      ),
    },
    {
      key: "state",
      title: "State",
      width: "116px",
      render: ({ enabled }) => <Status value={enabled ? "ENABLED" : "DISABLED"} />,
    },
    {
      key: "trigger",
      title: "Starts",
      width: "18%",
      render: ({ trigger }) => (
        <span className="muted" title={triggerText(trigger)}>
          {triggerText(trigger)}
        </span>
      ),
    },
    figure("active", "Active", counts, activeOf),
    figure("done", "Done", counts, doneOf),
    figure("failed", "Failed", counts, ({ FAILED }) => FAILED),
    {
      key: "updated",
      title: "Changed",
      width: "128px",
      render: ({ updatedAt }) => <Time at={updatedAt} isPlain />,
    },
  ];
}

function figure(
  key: string,
  title: string,
  counts: Counts,
  valueOf: (counts: ExecutionCounts) => number,
): Column<Workflow> {
  return {
    key,
    title,
    width: "92px",
    isFigure: true,
    render: ({ id }) => {
      const found = counts.get(id);
      return found === undefined ? "" : number.format(valueOf(found));
    },
  };
}

/** The two lines of a row on phones. */
export const workflowLines = (counts: Counts) => (workflow: Workflow) => {
  const found = counts.get(workflow.id);
  const active = found === undefined ? "" : ` · ${number.format(activeOf(found))} active`;
  return {
    first: (
      <span className="line">
        <bdi className="cut">{workflow.name}</bdi>
        <Status value={workflow.enabled ? "ENABLED" : "DISABLED"} />
      </span>
    ),
    second: (
      <>
        {triggerText(workflow.trigger)}
        {active}
      </>
    ),
  };
};

export const WORKFLOW_CSV: readonly CsvColumn<Workflow>[] = [
  ...columnsOf<Workflow>(["id", "name", "description", "enabled", "allowReentry"]),
  {
    name: "triggerEvent",
    value: ({ trigger }) => (trigger.type === "EVENT" ? trigger.eventName : ""),
  },
  { name: "steps", value: ({ steps }) => steps.length },
  ...columnsOf<Workflow>(["createdAt", "updatedAt"]),
];
