/** The graph of a workflow, as a picture or as a list of its steps, and the step that is open. */

import { ActionIcon } from "@mantine/core";
import { Link } from "@tanstack/react-router";
import { Redo2, Undo2 } from "lucide-react";
import { useEffect, useMemo, useState } from "react";
import { focusWhenClosed } from "../../keyboard-focus.ts";
import { lazyPart, Once } from "../../lazy.tsx";
import { Loaded } from "../../ui/loaded.tsx";
import { Problem } from "../../ui/problem.tsx";
import { AddStep } from "./editor/add-step.tsx";
import { workflowDraft } from "./editor/draft.ts";
import type { WayOut } from "./editor/graph-edits.ts";
import { Problems } from "./editor/problems.tsx";
import type { WorkflowEditing } from "./editor/use-editor.ts";
import { LazyCanvas } from "./canvas/lazy-canvas.tsx";
import { CountLine } from "./count-line.tsx";
import { EntryLine } from "./entry-line.tsx";
import { ExecutionPanel } from "./execution-panel.tsx";
import { leftAt, pathOf } from "./execution-path.ts";
import { StepDrawer } from "./step-drawer.tsx";
import { StepList } from "./step-list.tsx";
import { useWorkflowCounts } from "./use-counts.ts";
import { useTemplateNames } from "./use-template-names.ts";
import { useExecution } from "./use-workflow.ts";
import type { WorkflowTabProps } from "./workflow-tabs.tsx";

/** It has the forms of all kinds of steps. */
const StepPanel = lazyPart(async () => (await import("./editor/step-panel.tsx")).StepPanel);

export function GraphTab({ workflow, project, editor, search, onChange }: WorkflowTabProps) {
  const isList = search.tab === "list";
  const counts = useWorkflowCounts(workflow.id);
  const execution = useExecution(project, workflow.id, search.execution);
  const { execution: chosen, step: open, ...rest } = search;
  const path =
    chosen === undefined || execution.data === undefined
      ? null
      : pathOf({ ...execution.data, leftAt: leftAt(execution.data) }, workflow);
  const isEditable = editor.mayEdit && chosen === undefined;
  const stored = useMemo(() => workflowDraft(workflow), [workflow]);
  const graph = isEditable ? editor.value : stored;
  const names = useTemplateNames(project);
  const [toolbar, setToolbar] = useState<HTMLElement | null>(null);
  const [adding, setAdding] = useState<WayOut | null>(null);
  const openStep = (step: string) => onChange({ ...search, step }, open !== undefined);
  function close(): void {
    onChange({ ...rest, execution: chosen ?? "" }, true);
    // The button that added the step is gone, so that it cannot have the focus again.
    const selector = `[data-step="${CSS.escape(open ?? "")}"]`;
    focusWhenClosed(() => document.querySelector<HTMLElement>(selector));
  }
  const onAdd = isEditable ? setAdding : null;
  const faults = isEditable ? editor.faults : [];
  const shown = { graph, counts: counts.data, path, faults, names, onOpen: openStep, onAdd };
  return (
    <>
      {counts.error !== null && (
        <Problem error={counts.error} onRetry={() => void counts.refetch()} />
      )}
      {chosen !== undefined && (
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
      <Problems editor={editor} onOpen={openStep} />
      <div className="graph-bar">
        {chosen === undefined && (
          <div>
            <CountLine project={project} workflow={workflow} counts={counts.data} />
            <EntryLine project={project} id={workflow.id} />
          </div>
        )}
        <div ref={setToolbar} className="graph-tools" role="toolbar" aria-label="Tools">
          {isEditable && <UndoButtons editor={editor} />}
        </div>
      </div>
      <div className="graph-area" data-list={isList || undefined}>
        {!isList && (
          <Link
            to="."
            search={(before: object) => ({ ...before, tab: "list" })}
            className="canvas-skip"
          >
            Go to the list of steps
          </Link>
        )}
        {isList ? <StepList {...shown} /> : <LazyCanvas {...shown} open={open} toolbar={toolbar} />}
        {isEditable ? (
          <Once isOn={open !== undefined || adding !== null}>
            <StepPanel
              workflow={workflow}
              project={project}
              editor={editor}
              counts={counts.data}
              id={open}
              isBeside={!isList}
              onOpen={openStep}
              onAdd={setAdding}
              onList={(status) => onChange({ tab: "executions", status, step: open ?? "" })}
              onClose={close}
            />
          </Once>
        ) : (
          <StepDrawer
            graph={graph}
            names={names}
            counts={counts.data}
            id={open}
            execution={execution.data}
            onList={(status) => onChange({ tab: "executions", status, step: open ?? "" })}
            onClose={close}
          />
        )}
      </div>
      <AddStep
        place={adding}
        editor={editor}
        onClose={() => setAdding(null)}
        onAdded={(step) => {
          setAdding(null);
          openStep(step);
        }}
      />
    </>
  );
}

function UndoButtons({ editor }: { editor: WorkflowEditing }) {
  const { undo, redo } = editor;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      const isUndo = event.key.toLowerCase() === "z" && (event.ctrlKey || event.metaKey);
      // In a field the key undoes the typing there.
      const isInField = event.target instanceof Element && event.target.matches(FIELDS);
      if (!isUndo || event.altKey || isInField) return;
      event.preventDefault();
      (event.shiftKey ? redo : undo)?.();
    };
    window.addEventListener("keydown", onKeyDown);
    return () => window.removeEventListener("keydown", onKeyDown);
  }, [undo, redo]);
  return (
    <>
      <Tool label="Undo the edit" icon={Undo2} run={undo} />
      <Tool label="Redo the edit" icon={Redo2} run={redo} />
    </>
  );
}

const FIELDS = "input:not([type=checkbox], [type=radio]), textarea, select, [contenteditable]";

function Tool(props: { label: string; icon: typeof Undo2; run: (() => void) | null }) {
  const { label, icon: Icon, run } = props;
  return (
    <ActionIcon aria-label={label} title={label} disabled={run === null} onClick={() => run?.()}>
      <Icon size={16} aria-hidden />
    </ActionIcon>
  );
}
