/** Tries the workflow for one contact, with a clock that is moved. Nothing is stored or sent. */

import "./styles.ts";
import { useDebouncedValue } from "@mantine/hooks";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useState } from "react";
import type { Simulation } from "../../../../modules/workflows/simulation/model.ts";
import { api } from "../../../api.ts";
import { exactServerNow } from "../../../server-clock.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { RoleNeeded } from "../../../ui/role-needed.tsx";
import { LazyCanvas } from "../canvas/lazy-canvas.tsx";
import type { WorkflowDraft } from "../editor/draft.ts";
import { leftAt, pathOf } from "../execution-path.ts";
import { useTemplateNames } from "../use-template-names.ts";
import { workflowPath } from "../use-workflow.ts";
import type { WorkflowTabProps } from "../workflow-tabs.tsx";
import { Clock } from "./clock.tsx";
import { Controls } from "./controls.tsx";
import { MailDialog } from "./mail-dialog.tsx";
import { newPlan, requestOf, type SimulationPlan } from "./plan.ts";
import { SimulatedPath } from "./simulated-path.tsx";

const TYPING_MS = 300;

export function SimulateTab(props: WorkflowTabProps) {
  return (
    <RoleNeeded role="EDITOR">
      <Simulator {...props} />
    </RoleNeeded>
  );
}

function Simulator({ workflow, project, editor }: WorkflowTabProps) {
  const [plan, setPlan] = useState(() => newPlan(new Date(exactServerNow()).toISOString()));
  const change = (next: Partial<SimulationPlan>) => setPlan({ ...plan, ...next });
  const draft = editor.isChanged ? editor.value : null;
  const simulation = useSimulation({ project, id: workflow.id, plan, draft });
  return (
    <>
      <p className="muted try-note">
        {draft === null
          ? "The steps run on a copy of the contact: nothing is stored or sent, and no webhook is called."
          : "Your unsaved changes are tried on a copy of the contact: nothing is stored or sent, and no webhook is called."}
      </p>
      <div className="try">
        <Controls
          project={project}
          steps={editor.value.steps}
          plan={plan}
          nowAt={simulation.data?.at ?? plan.startAt}
          onChange={change}
        />
        <div className="try-result">
          {simulation.error !== null && simulation.data !== undefined && (
            <Problem error={simulation.error} onRetry={() => void simulation.refetch()} />
          )}
          <Loaded query={simulation} height={420}>
            {(found) => (
              <Result
                project={project}
                found={found}
                graph={editor.value}
                plan={plan}
                onChange={change}
              />
            )}
          </Loaded>
        </div>
      </div>
    </>
  );
}

function useSimulation(of: {
  project: string;
  id: string;
  plan: SimulationPlan;
  draft: WorkflowDraft | null;
}) {
  const { project, id, plan, draft } = of;
  const request = requestOf(plan, draft);
  // Text that is typed into a field is sent after a short delay.
  const [sent] = useDebouncedValue(JSON.stringify(request), TYPING_MS, { leading: true });
  return useQuery({
    queryKey: ["simulation", project, id, sent],
    queryFn({ signal }) {
      const body: unknown = JSON.parse(sent);
      return api.post<Simulation>(`${workflowPath(id)}/simulation`, Object(body), { signal });
    },
    enabled: sent !== "null",
    placeholderData: keepPreviousData,
    retry: false,
  });
}

function Result(props: {
  project: string;
  found: Simulation;
  graph: WorkflowDraft;
  plan: SimulationPlan;
  onChange: (next: Partial<SimulationPlan>) => void;
}) {
  const { project, found, graph, plan, onChange } = props;
  const names = useTemplateNames(project);
  const execution = found.executions.at(-1);
  const path =
    execution === undefined
      ? null
      : pathOf(
          {
            startedAt: execution.startedAt,
            currentStepId: execution.waiting?.stepId ?? null,
            leftAt: leftAt(execution),
            steps: execution.steps.map((step, i) => ({ ...step, id: String(i) })),
          },
          graph,
        );
  return (
    <>
      <Clock found={found} plan={plan} onChange={onChange} />
      <div className="try-canvas">
        <LazyCanvas
          graph={graph}
          counts={undefined}
          path={path}
          open={undefined}
          faults={[]}
          isInPage
          names={names}
          onOpen={showStep}
          onAdd={null}
        />
      </div>
      <SimulatedPath found={found} steps={graph.steps} onMail={(mail) => onChange({ mail })} />
      <MailDialog found={found} number={plan.mail} onClose={() => onChange({ mail: null })} />
    </>
  );
}

/** Scrolls to the latest run of a step in the list below the graph. */
function showStep(id: string): void {
  const rows = document.querySelectorAll(`[data-simulated="${CSS.escape(id)}"]`);
  [...rows].at(-1)?.scrollIntoView({ block: "center" });
}
