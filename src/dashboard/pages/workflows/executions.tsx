/** The executions of a workflow, newest first. A row shows its execution in the graph. */

import { Pill, SegmentedControl } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { UsersRound } from "lucide-react";
import { useMemo } from "react";
import type { ListedExecution } from "../../../modules/workflows/execution-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";
import { type Column, DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { NewPill } from "../../ui/new-pill.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { useLiveList } from "../../ui/use-live-list.ts";
import type { WorkflowSearch } from "./search.ts";
import { spanText } from "./step-texts.ts";
import { entryText } from "./trigger-texts.ts";
import { workflowPath } from "./use-workflow.ts";

const route = getRouteApi("/user/p/$project/workflows/$workflow");
const number = new Intl.NumberFormat();
const REMOVE = {
  "aria-label": "Show the executions at all steps",
  "aria-hidden": false,
  tabIndex: 0,
};
const STATES = [
  { value: "", label: "All" },
  { value: "waiting", label: "Waiting" },
  { value: "completed", label: "Completed" },
  { value: "exited", label: "Left early" },
  { value: "failed", label: "Failed" },
  { value: "cancelled", label: "Cancelled" },
];

const CSV: readonly CsvColumn<ListedExecution>[] = columnsOf<ListedExecution>([
  "id",
  "contactId",
  "contactEmail",
  "status",
  "currentStepId",
  "startedAt",
  "completedAt",
  "exitReason",
  "error",
  "context",
]);

export function Executions(props: {
  workflow: Workflow;
  search: WorkflowSearch;
  onChange: (search: WorkflowSearch, isReplaced?: boolean) => void;
}) {
  const { workflow, search, onChange } = props;
  const { project } = route.useParams();
  const status = STATES.find(({ value }) => value === search.status)?.value ?? "";
  const path = `${workflowPath(workflow.id)}/executions`;
  // The server reads the executions at a step by their status.
  const step = status === "" ? undefined : search.step;
  const query =
    status === "" ? {} : { status: status.toUpperCase(), ...(step !== undefined && { step }) };
  const list = useLiveList<ListedExecution>({
    path,
    query,
    isAbout: ({ type, id }) =>
      type === "reload" || (type === "workflow.execution" && id === workflow.id),
  });
  const run = useExport({ path, query, columns: CSV, noun: "executions" });
  const columns = useMemo(() => executionColumns(workflow), [workflow]);
  const choose = (value: string, at = step) =>
    onChange({ ...search, status: value, step: at ?? "" }, true);
  return (
    <>
      <div className="filter-bar">
        <SegmentedControl
          size="xs"
          aria-label="State of the executions"
          className="execution-states"
          data={STATES}
          value={status}
          onChange={(value) => choose(value)}
        />
        {step !== undefined && (
          <Pill withRemoveButton onRemove={() => choose(status, "")} removeButtonProps={REMOVE}>
            At “{workflow.steps.find(({ id }) => id === step)?.name ?? step}”
          </Pill>
        )}
        <div className="filter-rest">
          {list.total !== null && (
            <span className="figures">
              {number.format(list.total)} {list.total === 1 ? "execution" : "executions"}
            </span>
          )}
          <ExportButton run={run} isDisabled={list.rows.length === 0} />
        </div>
      </div>
      <ExportProgress run={run} />
      <div className="live-table">
        <NewPill count={list.newCount} onShow={list.showNew} />
        <DataTable
          label="Executions"
          list={list}
          columns={columns}
          rowKey={({ id }) => id}
          href={({ id }) => `/app/p/${project}/workflows/${workflow.id}?execution=${id}`}
          onOpen={({ id }) => onChange({ execution: id })}
          phone={executionLines}
          isFiltered={status !== ""}
          onClearFilters={() => choose("", "")}
          empty={
            <Empty
              icon={UsersRound}
              title="No executions yet"
              text={
                workflow.enabled
                  ? entryText(workflow.trigger)
                  : "Enable the workflow, so that its event starts one for each contact."
              }
            />
          }
        />
      </div>
    </>
  );
}

function executionColumns({ steps }: Workflow): Column<ListedExecution>[] {
  const names = new Map(steps.map(({ id, name }) => [id, name]));
  return [
    {
      key: "contact",
      title: "Contact",
      render: ({ contactEmail }) => contactEmail ?? <span className="muted">Deleted contact</span>,
    },
    {
      key: "status",
      title: "State",
      width: "130px",
      render: ({ status }) => <ExecutionStatus status={status} />,
    },
    {
      key: "step",
      title: "Where, or why it ended",
      width: "34%",
      render: ({ currentStepId, exitReason, error }) => {
        const text =
          error ?? exitReason ?? (currentStepId === null ? "" : names.get(currentStepId)) ?? "";
        return (
          <span className="muted" title={text}>
            {text}
          </span>
        );
      },
    },
    {
      key: "started",
      title: "Started",
      width: "120px",
      render: ({ startedAt }) => <Time at={startedAt} isPlain />,
    },
    {
      key: "took",
      title: "Took",
      width: "136px",
      isFigure: true,
      render: ({ startedAt, completedAt }) =>
        completedAt === null ? "" : tookText(Date.parse(completedAt) - Date.parse(startedAt)),
    },
  ];
}

const tookText = (ms: number): string => (ms < 1_000 ? "< 1 s" : spanText(ms));

function ExecutionStatus({ status }: Pick<ListedExecution, "status">) {
  return status === "EXITED" ? <Status tone="seen">Left early</Status> : <Status value={status} />;
}

const executionLines = ({
  contactEmail,
  status,
  startedAt,
  error,
  exitReason,
}: ListedExecution) => ({
  first: (
    <span className="line">
      <span className="cut">{contactEmail ?? "Deleted contact"}</span>
      <ExecutionStatus status={status} />
    </span>
  ),
  second: (
    <>
      <Time at={startedAt} isPlain />
      {(error ?? exitReason) !== null && ` · ${error ?? exitReason}`}
    </>
  ),
});
