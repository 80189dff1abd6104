/** The workflows of the project, with the numbers of their executions. */

import "./styles.ts";
import { Button, SegmentedControl } from "@mantine/core";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Plus, Workflow as WorkflowIcon } from "lucide-react";
import { useMemo } from "react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { docsPath } from "../../palette-docs.ts";
import { useAppState, useMay } from "../../state.ts";
import { Code } from "../../ui/code.tsx";
import { DataTable } from "../../ui/data-table.tsx";
import { Empty } from "../../ui/empty.tsx";
import { ExportButton, ExportProgress, useExport } from "../../ui/export-button.tsx";
import { Page } from "../../ui/page.tsx";
import { useCreateRequest } from "../../ui/use-create-dialog.ts";
import { useList } from "../../ui/use-list.ts";
import { SavedViews } from "../../ui/views/saved-views.tsx";
import { WORKFLOW_CSV, workflowColumns, workflowLines } from "./columns.tsx";
import { workflowSamples } from "./samples.ts";
import { readWorkflowListSearch } from "./search.ts";
import { useListedCounts } from "./use-counts.ts";

const route = getRouteApi("/user/p/$project/workflows");
const number = new Intl.NumberFormat();
const STATES = [
  { value: "", label: "All" },
  { value: "true", label: "Enabled" },
  { value: "false", label: "Disabled" },
];

export function WorkflowsPage() {
  const { project } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const enabled = STATES.find(({ value }) => value === search.enabled)?.value ?? "";
  const query = { enabled };
  const list = useList<Workflow>("workflows", "/workflows", query);
  const mayEdit = useMay("EDITOR");
  useCreateRequest(
    mayEdit,
    () => void navigate({ to: "/p/$project/workflows/new", params: { project } }),
  );
  const run = useExport({ path: "/workflows", query, columns: WORKFLOW_CSV, noun: "workflows" });
  const ids = list.rows.map(({ id }) => id);
  const counts = useListedCounts(ids);
  const columns = useMemo(() => workflowColumns(counts), [counts]);
  const isFiltered = enabled !== "";
  const isEmpty = list.rows.length === 0 && !list.isLoading && list.error === null && !isFiltered;
  const choose = (value: string) =>
    void navigate({ search: readWorkflowListSearch({ enabled: value }), replace: true });
  return (
    <Page
      title="Workflows"
      isFixed
      description="An event, a schedule or a person starts a workflow, whose steps send mail, wait, test conditions, call URLs and change the contact."
      actions={
        !isEmpty && (
          <>
            <ExportButton run={run} isDisabled={list.rows.length === 0} />
            {mayEdit && <NewWorkflow project={project} />}
          </>
        )
      }
    >
      {!isEmpty && (
        <div className="filter-bar">
          <SegmentedControl
            size="xs"
            aria-label="State of the workflows"
            data={STATES}
            value={enabled}
            onChange={choose}
          />
          <div className="filter-rest">
            {list.total !== null && (
              <span className="figures">
                {number.format(list.total)} {list.total === 1 ? "workflow" : "workflows"}
              </span>
            )}
            <SavedViews
              page="workflows"
              search={search}
              onChoose={(view) => void navigate({ search: readWorkflowListSearch(view) })}
            />
          </div>
        </div>
      )}
      <ExportProgress run={run} />
      <DataTable
        label="Workflows"
        list={list}
        columns={columns}
        rowKey={({ id }) => id}
        href={({ id }) => `/app/p/${project}/workflows/${id}`}
        onOpen={({ id }) =>
          void navigate({
            to: "/p/$project/workflows/$workflow",
            params: { project, workflow: id },
          })
        }
        phone={workflowLines(counts)}
        empty={<NoWorkflows project={project} />}
        isFiltered={isFiltered}
        onClearFilters={() => choose("")}
      />
    </Page>
  );
}

const NewWorkflow = ({ project }: { project: string }) => (
  <Button
    component={Link}
    to={`/p/${project}/workflows/new`}
    leftSection={<Plus size={16} aria-hidden />}
  >
    Create a workflow
  </Button>
);

function NoWorkflows({ project }: { project: string }) {
  const mayEdit = useMay("EDITOR");
  const { url } = useAppState();
  const base = url === "" ? window.location.origin : url;
  return (
    <Empty
      icon={WorkflowIcon}
      title="No workflows yet"
      exampleTitle="Your code can create one too, with the id of a template:"
      text="A workflow sends mails one after the other, and reacts to what a contact does. Each step shows how many contacts are there."
      action={
        <>
          {mayEdit && <NewWorkflow project={project} />}
          <Button component="a" href={docsPath("Workflows")} variant="default">
            Documentation of workflows
          </Button>
        </>
      }
    >
      <Code label="Create a workflow with the API" samples={workflowSamples(base)} />
    </Empty>
  );
}
