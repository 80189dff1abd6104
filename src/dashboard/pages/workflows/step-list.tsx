/** The same graph as a list, for the keyboard and for screen readers. */

import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { Status } from "../../ui/status.tsx";
import { exactTime } from "../../ui/time.tsx";
import type { ExecutionPath, StepRun } from "./execution-path.ts";
import { layersOf } from "./layout/layers.ts";
import { StepBadges } from "./step-badges.tsx";
import { StepIcon } from "./step-icon.tsx";
import { branchWord, settingsText, spanText, TYPE_WORDS } from "./step-texts.ts";

export function StepList(props: {
  workflow: Workflow;
  counts: WorkflowCounts | undefined;
  path: ExecutionPath | null;
  onOpen: (id: string) => void;
}) {
  const { workflow, counts, path, onOpen } = props;
  const { steps, transitions } = workflow;
  const order = layersOf(
    steps.map(({ id }) => id),
    transitions,
  )
    .rows.flat()
    .filter(({ isBend }) => !isBend);
  const stepOf = new Map(steps.map((step) => [step.id, step]));
  const numberOf = new Map(order.map(({ key }, i) => [key, i + 1]));
  const countsOf = new Map(counts?.steps.map((each) => [each.stepId, each]));
  return (
    <ol className="step-list">
      {order.map(({ key }) => {
        const step = stepOf.get(key);
        if (step === undefined) return null;
        const ways = transitions.filter(({ from }) => from === key);
        const run = path?.runs.get(key);
        return (
          <li key={key} id={`step-${key}`} className="step-row">
            <StepIcon type={step.type} />
            <div className="step-body">
              <div className="step-list-line">
                <button type="button" className="step-open" onClick={() => onOpen(key)}>
                  {numberOf.get(key)}. {step.name}
                </button>
                {path === null && <StepBadges counts={countsOf.get(key)} />}
                {run !== undefined && <RunText run={run} />}
              </div>
              <p className="muted small">
                {[TYPE_WORDS[step.type], settingsText(step)]
                  .filter((text) => text !== "")
                  .join(": ")}
              </p>
              <p className="small">
                {ways.length === 0
                  ? "The workflow ends here."
                  : ways.map(({ id, to, branch }) => (
                      <span key={id} className="step-way">
                        {branchWord(branch) ?? "Then"} →{" "}
                        <a href={`#step-${to}`}>
                          {numberOf.get(to)}. {stepOf.get(to)?.name}
                        </a>
                      </span>
                    ))}
              </p>
            </div>
          </li>
        );
      })}
    </ol>
  );
}

const TONES = { COMPLETED: "good", SKIPPED: "held", FAILED: "failed", CURRENT: "seen" } as const;
const WORDS = {
  COMPLETED: "Completed",
  SKIPPED: "Skipped",
  FAILED: "Failed",
  CURRENT: "Here now",
} as const;

function RunText({ run }: { run: StepRun }) {
  const { state, times, startedAt, completedAt, skippedBecause } = run;
  const tookMs = completedAt === null ? 0 : Date.parse(completedAt) - Date.parse(startedAt);
  return (
    <span className="step-run">
      <Status tone={TONES[state]}>{WORDS[state]}</Status>
      <span className="muted small">
        {exactTime(new Date(completedAt ?? startedAt))}
        {tookMs >= 1_000 && `, took ${spanText(tookMs)}`}
        {times > 1 && `, ${times} times`}
      </span>
      {skippedBecause !== null && <bdi className="small">{skippedBecause}</bdi>}
    </span>
  );
}
