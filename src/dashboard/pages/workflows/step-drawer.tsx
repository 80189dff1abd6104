/** One step: its settings, its numbers, and its outcome in the shown execution. */

import { useEffect, useRef } from "react";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import type { ExecutionDetails } from "../../../modules/workflows/execution-model.ts";
import { Field, Fields } from "../../ui/fields.tsx";
import { JsonTree } from "../../ui/json-tree.tsx";
import { SideDrawer } from "../../ui/side-drawer.tsx";
import { Status } from "../../ui/status.tsx";
import { exactTime } from "../../ui/time.tsx";
import type { DraftStep, Graph } from "./editor/draft.ts";
import { StepNumbers } from "./step-numbers.tsx";
import { branchWord, settingsText, spanText, stepName, TYPE_WORDS } from "./step-texts.ts";

type Taken = ExecutionDetails["steps"][number];
/** Most runs of a step in a cycle that are shown. */
const MAX_SHOWN = 50;

export function StepDrawer(props: {
  graph: Graph;
  names: ReadonlyMap<string, string>;
  counts: WorkflowCounts | undefined;
  id: string | undefined;
  execution: ExecutionDetails | undefined;
  /** Lists the executions of a status that are at the step. */
  onList: (status: string) => void;
  onClose: () => void;
}) {
  const { graph, names, counts, id, execution, onList, onClose } = props;
  // The content stays while the drawer closes.
  const last = useRef(id);
  useEffect(() => {
    if (id !== undefined) last.current = id;
  }, [id]);
  const shown = id ?? last.current;
  const step = graph.steps.find((each) => each.id === shown);
  const taken = execution?.steps.filter(({ stepId }) => stepId === shown) ?? [];
  return (
    <SideDrawer
      isOpen={id !== undefined}
      onClose={onClose}
      label="Step"
      size={520}
      title={<h2 className="drawer-heading">{step === undefined ? "Step" : stepName(step)}</h2>}
    >
      {step === undefined ? (
        <p className="muted">This step is not in the graph any more.</p>
      ) : (
        <>
          <section className="section">
            <Fields>
              <Field label="Kind">{TYPE_WORDS[step.type]}</Field>
              {settingsText(step, names) !== "" && (
                <Field label={step.type === "SEND_EMAIL" ? "Template" : "Settings"}>
                  {settingsText(step, names)}
                </Field>
              )}
              {waysOf(graph, step).map(({ key, word, name }) => (
                <Field key={key} label={word}>
                  {name}
                </Field>
              ))}
            </Fields>
            <StepNumbers counts={counts} id={step.id} onList={onList} />
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

function waysOf({ steps, transitions }: Graph, { id }: DraftStep) {
  const names = new Map(steps.map((step) => [step.id, stepName(step)]));
  return transitions
    .filter(({ from }) => from === id)
    .map(({ id: key, to, branch }) => ({
      key,
      word: branchWord(branch) ?? "Then",
      name: names.get(to) ?? to,
    }));
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
