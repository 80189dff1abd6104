/** One step: its settings, its numbers, and what the shown execution did there. */

import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";
import type { Template } from "../../../modules/templates.ts";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api } from "../../api.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { Status } from "../../ui/status.tsx";
import { exactTime } from "../../ui/time.tsx";
import { branchWord, settingsText, spanText, type Step, TYPE_WORDS } from "./step-texts.ts";

type Taken = ExecutionDetails["steps"][number];
const number = new Intl.NumberFormat();
/** Most runs of a step in a cycle that are shown. */
const MAX_SHOWN = 50;

export function StepDrawer(props: {
  workflow: Workflow;
  project: string;
  counts: WorkflowCounts | undefined;
  id: string | undefined;
  execution: ExecutionDetails | undefined;
  /** Lists the executions of a status that are at the step. */
  onList: (status: string) => void;
  onClose: () => void;
}) {
  const { workflow, project, counts, id, execution, onList, onClose } = props;
  // The content stays while the drawer closes.
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined) last.current = id;
  }, [id]);
  const shown = id ?? last.current;
  const step = workflow.steps.find((each) => each.id === shown);
  const found = counts?.steps.find(({ stepId }) => stepId === shown);
  const taken = execution?.steps.filter(({ stepId }) => stepId === shown) ?? [];
  return (
    <SideDrawer
      isOpen={id !== undefined}
      onClose={onClose}
      label="Step"
      size={520}
      title={<h2 className="drawer-heading">{step?.name ?? "Step"}</h2>}
    >
      {step === undefined ? (
        <p className="muted">This step is not in the graph any more.</p>
      ) : (
        <>
          <section className="section">
            <Fields>
              <Field label="Kind">{TYPE_WORDS[step.type]}</Field>
              {step.type === "SEND_EMAIL" ? (
                <TemplateField step={step} project={project} />
              ) : (
                settingsText(step) !== "" && <Field label="Settings">{settingsText(step)}</Field>
              )}
              {waysOf(workflow, step).map(({ key, word, name }) => (
                <Field key={key} label={word}>
                  {name}
                </Field>
              ))}
              {found !== undefined && (
                <>
                  <Field label="Here now">
                    {found.active === 0 ? (
                      "0"
                    ) : (
                      <Button variant="subtle" size="compact-sm" onClick={() => onList("waiting")}>
                        {number.format(found.active)}, show them
                      </Button>
                    )}
                  </Field>
                  <Field label="Completed">{number.format(found.completed)}</Field>
                  <Field label="Skipped">{number.format(found.skipped)}</Field>
                  <Field label="Failed">
                    {found.failed === 0 ? (
                      "0"
                    ) : (
                      <Button variant="subtle" size="compact-sm" onClick={() => onList("failed")}>
                        {number.format(found.failed)}, show them
                      </Button>
                    )}
                  </Field>
                </>
              )}
            </Fields>
          </section>
          {taken.length > 0 && <Runs taken={taken} />}
          {Object.keys(step.config).length > 0 && (
            <section className="section">
              <h3 className="event-data-title">All settings</h3>
              <JsonTree value={step.config} label="Settings of the step" />
            </section>
          )}
        </>
      )}
    </SideDrawer>
  );
}

function waysOf({ steps, transitions }: Workflow, { id }: Step) {
  const names = new Map(steps.map((step) => [step.id, step.name]));
  return transitions
    .filter(({ from }) => from === id)
    .map(({ id: key, to, branch }) => ({
      key,
      word: branchWord(branch) ?? "Then",
      name: names.get(to) ?? to,
    }));
}

/** The name of the template, as soon as it is known. */
function TemplateField({ step, project }: { step: Step; project: string }) {
  const given = step.config["templateId"];
  const id = typeof given === "string" ? given : "";
  const { data } = useQuery({
    queryKey: ["templates", project, id],
    queryFn: ({ signal }) => api.get<Template>(`/templates/${encodeURIComponent(id)}`, { signal }),
  });
  return <Field label="Template">{data?.name ?? <code>{id}</code>}</Field>;
}

const TONES = { COMPLETED: "good", SKIPPED: "held", FAILED: "failed" } as const;
const WORDS = { COMPLETED: "Completed", SKIPPED: "Skipped", FAILED: "Failed" } as const;

function Runs({ taken }: { taken: readonly Taken[] }) {
  return (
    <section className="section">
      <h3 className="event-data-title">In this execution</h3>
      {taken.slice(-MAX_SHOWN).map(({ id, outcome, branch, detail, startedAt, completedAt }) => {
        const tookMs = Date.parse(completedAt) - Date.parse(startedAt);
        const word = branchWord(branch);
        return (
          <div key={id} className="past-run">
            <p className="step-run">
              <Status tone={TONES[outcome]}>{WORDS[outcome]}</Status>
              <span className="muted small">
                {exactTime(new Date(completedAt))}
                {tookMs >= 1_000 && `, took ${spanText(tookMs)}`}
                {word !== null && `, went on with “${word}”`}
              </span>
            </p>
            {detail !== null && <JsonTree value={detail} label="Result of the step" />}
          </div>
        );
      })}
    </section>
  );
}
