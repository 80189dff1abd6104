/** One workflow: its graph as a picture and as a list, its executions, and the switch that enables it. */

import "./styles.ts";
import { Button } from "@mantine/core";
import { useDisclosure } from "@mantine/hooks";
import { useMutation } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { Power } from "lucide-react";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { useMay } from "../../state.ts";
import { entryText } from "./step-texts.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { Status } from "../../ui/status.tsx";
import { showFailure, showUndo } from "../../ui/undo.tsx";
import { Canvas } from "./canvas.tsx";
import { activeOf } from "./columns.tsx";
import { ExecutionPanel } from "./execution-panel.tsx";
import { pathOf } from "./execution-path.ts";
import { Executions } from "./executions.tsx";
import { readWorkflowSearch, type WorkflowSearch } from "./search.ts";
import { StepDrawer } from "./step-drawer.tsx";
import { StepList } from "./step-list.tsx";
import { useWorkflowCounts } from "./use-counts.ts";
import { useExecution, useWorkflow, useWorkflowActions } from "./use-workflow.ts";

const route = getRouteApi("/user/p/$project/workflows/$workflow");

export function WorkflowPage() {
  const { project, workflow: id } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useWorkflow(project, id);
  const { data } = query;
  const mayEdit = useMay("EDITOR");
  const tab = search.tab === "list" || search.tab === "executions" ? search.tab : "canvas";
  const change = (next: WorkflowSearch, isReplaced = false) =>
    void navigate({ search: readWorkflowSearch(next), replace: isReplaced });
  return (
    <Page
      title={data?.name ?? "Workflow"}
      badge={data && <Status value={data.enabled ? "ENABLED" : "DISABLED"} />}
      isFixed={tab !== "list"}
      description={data && <Description workflow={data} />}
      back={
        <Link to="/p/$project/workflows" params={{ project }} className="page-back">
          <BackLabel>Workflows</BackLabel>
        </Link>
      }
      actions={mayEdit && data && <EnableButton project={project} workflow={data} />}
      tabs={
        data && (
          <PageTabs label="Views of the workflow">
            <TabLink tab="canvas" current={tab}>
              Graph
            </TabLink>
            <TabLink tab="list" current={tab}>
              Steps as a list
            </TabLink>
            <TabLink tab="executions" current={tab}>
              Executions
            </TabLink>
          </PageTabs>
        )
      }
    >
      <Loaded query={query} height={400}>
        {(workflow) =>
          tab === "executions" ? (
            <Executions workflow={workflow} search={search} onChange={change} />
          ) : (
            <Graph
              workflow={workflow}
              project={project}
              isList={tab === "list"}
              search={search}
              onChange={change}
            />
          )
        }
      </Loaded>
    </Page>
  );
}

/** Says what starts, in a sentence. */
function Description({ workflow }: { workflow: Workflow }) {
  const { description, enabled, trigger, allowReentry } = workflow;
  return (
    <>
      {description !== null && <>{description}. </>}
      {enabled ? "" : "If it is enabled: "}
      {entryText(trigger)} A contact goes through it,{" "}
      {allowReentry ? "unless the contact is in it already." : "once per contact."}
    </>
  );
}

function EnableButton({ project, workflow }: { project: string; workflow: Workflow }) {
  const { setEnabled } = useWorkflowActions(project, workflow.id);
  const change = useMutation({ mutationFn: setEnabled });
  const { enabled } = workflow;
  async function run(): Promise<void> {
    await change.mutateAsync(!enabled);
    showUndo({
      text: enabled
        ? "Disabled. Executions under way continue."
        : `Enabled. ${entryText(workflow.trigger)}`,
      onUndo: () =>
        void setEnabled(enabled).catch((error: unknown) => showFailure("It was not undone", error)),
    });
  }
  return (
    <Button
      variant={enabled ? "default" : "filled"}
      leftSection={<Power size={15} aria-hidden />}
      loading={change.isPending}
      onClick={() =>
        void run().catch((error: unknown) => showFailure("The workflow was not changed", error))
      }
    >
      {enabled ? "Disable" : "Enable"}
    </Button>
  );
}

function Graph(props: {
  workflow: Workflow;
  project: string;
  isList: boolean;
  search: WorkflowSearch;
  onChange: (search: WorkflowSearch, isReplaced?: boolean) => void;
}) {
  const { workflow, project, isList, search, onChange } = props;
  const counts = useWorkflowCounts(workflow.id);
  const execution = useExecution(project, workflow.id, search.execution);
  const { execution: chosen, step: open, ...rest } = search;
  const path =
    chosen === undefined || execution.data === undefined ? null : pathOf(execution.data, workflow);
  const openStep = (step: string) => onChange({ ...search, step });
  return (
    <>
      {counts.error !== null && (
        <Problem error={counts.error} onRetry={() => void counts.refetch()} />
      )}
      {chosen === undefined ? (
        <CountLine project={project} workflow={workflow} counts={counts.data} />
      ) : (
        <Loaded query={execution} height={56}>
          {(found) => (
            <ExecutionPanel
              project={project}
              execution={found}
              missing={path?.missing ?? 0}
              onClose={() => onChange({ ...rest, step: open ?? "" })}
            />
          )}
        </Loaded>
      )}
      {isList ? (
        <StepList workflow={workflow} counts={counts.data} path={path} onOpen={openStep} />
      ) : (
        <Canvas
          workflow={workflow}
          counts={counts.data}
          path={path}
          open={open}
          onOpen={openStep}
        />
      )}
      <StepDrawer
        workflow={workflow}
        project={project}
        counts={counts.data}
        id={open}
        execution={execution.data}
        onList={(status) => onChange({ tab: "executions", status, step: open ?? "" })}
        onClose={() => onChange({ ...rest, execution: chosen ?? "" })}
      />
    </>
  );
}

const number = new Intl.NumberFormat();

/** The numbers of executions of the workflow. */
function CountLine(props: {
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
        onConfirm={cancelAll}
      />
    </div>
  );
}
