/** One workflow: its graph, which editors change here, its executions, and whether it is enabled. */

import "./styles.ts";
import { Button, Skeleton } from "@mantine/core";
import { getRouteApi, Link, useBlocker } from "@tanstack/react-router";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { ConflictDialog } from "../../ui/editors/conflict-dialog.tsx";
import { Notices } from "../../ui/editors/notices.tsx";
import { SaveState } from "../../ui/editors/save-state.tsx";
import { TitleField } from "../../ui/editors/title-field.tsx";
import { useComparison } from "../../ui/editors/use-comparison.ts";
import { BackLabel, Page, PageTabs, TabLink } from "../../ui/page.tsx";
import { Problem } from "../../ui/problem.tsx";
import { withEnd } from "../../ui/sentence.ts";
import { Status } from "../../ui/status.tsx";
import { useDelayed } from "../../ui/use-delayed.ts";
import { DRAFT_LABELS } from "./editor/draft.ts";
import { useWorkflowEditor, type WorkflowEditing } from "./editor/use-editor.ts";
import { EnableButton } from "./enable-button.tsx";
import { readWorkflowSearch, type WorkflowSearch } from "./search.ts";
import { entrySentence } from "./trigger-texts.ts";
import { useWorkflow } from "./use-workflow.ts";
import { WorkflowMenu } from "./workflow-menu.tsx";
import { currentWorkflowTab, WORKFLOW_TABS } from "./workflow-tabs.tsx";

const route = getRouteApi("/user/p/$project/workflows/$workflow");

export function WorkflowPage() {
  const { project, workflow: id } = route.useParams();
  const { data, error, isPending, refetch } = useWorkflow(project, id);
  const isSlow = useDelayed(isPending);
  // Each workflow has an editor of its own, with its own state.
  if (data !== undefined) return <WorkflowView key={id} workflow={data} project={project} />;
  return (
    <Page title="Workflow" back={<BackToWorkflows project={project} />}>
      {error !== null && <Problem error={error} onRetry={() => void refetch()} />}
      {isSlow && error === null && <Skeleton height={400} aria-busy="true" />}
    </Page>
  );
}

function WorkflowView({ workflow, project }: { workflow: Workflow; project: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const editor = useWorkflowEditor(workflow, project);
  const { value, mayEdit, change } = editor;
  const tab = currentWorkflowTab(search);
  const { isComparing, compare, stopComparing } = useComparison(editor);
  const onChange = (next: WorkflowSearch, isReplaced = false) =>
    void navigate({ search: readWorkflowSearch(next), replace: isReplaced });
  return (
    <Page
      title={value.name === "" ? "Workflow" : value.name}
      {...(mayEdit && {
        titleField: (
          <TitleField
            noun="workflow"
            value={value.name}
            onChange={(name) => change({ name }, "name")}
          />
        ),
      })}
      badge={<Status value={workflow.enabled ? "ENABLED" : "DISABLED"} />}
      isFixed={tab.isFixed === true}
      description={
        <>
          {value.description !== "" && <>{withEnd(value.description)} </>}
          {entrySentence(workflow)}
          {workflow.enabled && editor.isChanged && (
            <> Saving changes it for those who enter from then on.</>
          )}
        </>
      }
      back={<BackToWorkflows project={project} />}
      actions={
        mayEdit && (
          <>
            <Saving editor={editor} onCompare={compare} />
            <EnableButton project={project} workflow={workflow} editor={editor} />
            <WorkflowMenu project={project} workflow={workflow} editor={editor} />
          </>
        )
      }
      tabs={
        <PageTabs label="Views of the workflow">
          {WORKFLOW_TABS.map(({ tab: key, label }) => (
            <TabLink key={key} tab={key} current={tab.tab}>
              {label}
            </TabLink>
          ))}
        </PageTabs>
      }
    >
      <Notices editor={editor} labels={DRAFT_LABELS} />
      <Leaving isChanged={editor.isChanged} />
      <tab.Show
        workflow={workflow}
        project={project}
        editor={editor}
        search={search}
        onChange={onChange}
      />
      <ConflictDialog
        conflict={isComparing ? editor.conflict : null}
        mine={value}
        noun="workflow"
        labels={DRAFT_LABELS}
        onResolve={editor.resolve}
        onClose={stopComparing}
      />
    </Page>
  );
}

const BackToWorkflows = ({ project }: { project: string }) => (
  <Link to="/p/$project/workflows" params={{ project }} className="page-back">
    <BackLabel>Workflows</BackLabel>
  </Link>
);

/** The state of the changes, saved or not, and the buttons that save or discard them. */
function Saving({ editor, onCompare }: { editor: WorkflowEditing; onCompare: () => void }) {
  const { status, savedAtMs, isChanged, faults } = editor;
  if (!isChanged && savedAtMs === null) return null;
  // The faults of a refused workflow are listed above the graph.
  const isListed = status === "REFUSED" && faults.length > 0;
  return (
    <>
      {status === "CHANGED" || isListed ? (
        <span className="save-state" role="status">
          {isListed ? "Not saved" : "Unsaved changes"}
        </span>
      ) : (
        <SaveState editor={editor} labels={DRAFT_LABELS} onCompare={onCompare} />
      )}
      {isChanged && (
        <>
          <Button variant="subtle" color="gray" onClick={editor.discard}>
            Discard
          </Button>
          <Button loading={status === "SAVING"} onClick={() => void editor.saveNow()}>
            Save changes
          </Button>
        </>
      )}
    </>
  );
}

/** Asks before the page is left with changes that are not saved. The browser keeps them. */
function Leaving({ isChanged }: { isChanged: boolean }) {
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => current.pathname !== next.pathname,
    enableBeforeUnload: false,
    disabled: !isChanged,
    withResolver: true,
  });
  return (
    <Confirm
      isOpen={blocker.status === "blocked"}
      onClose={() => blocker.reset?.()}
      title="Leave without saving?"
      text="The workflow runs as it was saved last. This browser keeps your changes until you come back."
      action="Leave without saving"
      color="brand"
      onConfirm={async () => blocker.proceed?.()}
    />
  );
}
