/** The graph of a workflow as a picture, with the way of one execution drawn over it. */

import { type ReactNode, useMemo } from "react";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import type { ExecutionPath, StepRun } from "./execution-path.ts";
import { layoutOf, type Layout, type Point, STEP_SIZE } from "./layout/layout.ts";
import { StepBadges } from "./step-badges.tsx";
import { StepIcon } from "./step-icon.tsx";
import { branchWord, settingsText, spanText, type Step, TYPE_WORDS } from "./step-texts.ts";

export function Canvas(props: {
  workflow: Workflow;
  counts: WorkflowCounts | undefined;
  path: ExecutionPath | null;
  /** Id of the step that is open. */
  open: string | undefined;
  onOpen: (id: string) => void;
}) {
  const { workflow, counts, path, open, onOpen } = props;
  const { steps, transitions } = workflow;
  const layout = useMemo(
    () =>
      layoutOf(
        steps.map(({ id }) => id),
        transitions,
      ),
    [steps, transitions],
  );
  const countsOf = new Map(counts?.steps.map((each) => [each.stepId, each]));
  return (
    <div className="canvas" tabIndex={0} role="region" aria-label="Graph of the workflow">
      <div
        className="canvas-sheet"
        data-traced={path !== null || undefined}
        style={{ width: layout.width, height: layout.height }}
      >
        <Lines layout={layout} transitions={transitions} path={path} />
        {steps.map((step) => (
          <StepBox
            key={step.id}
            step={step}
            place={layout.places.get(step.id) ?? { x: 0, y: 0 }}
            isOpen={step.id === open}
            run={path?.runs.get(step.id)}
            onOpen={() => onOpen(step.id)}
          >
            {path === null && <StepBadges counts={countsOf.get(step.id)} />}
          </StepBox>
        ))}
      </div>
    </div>
  );
}

function StepBox(props: {
  step: Step;
  place: Point;
  isOpen: boolean;
  run: StepRun | undefined;
  onOpen: () => void;
  children: ReactNode;
}) {
  const { step, place, isOpen, run, onOpen, children } = props;
  const settings = settingsText(step);
  return (
    <button
      type="button"
      className="step-box"
      data-run={run?.state}
      aria-pressed={isOpen}
      title={run === undefined ? settings : runText(run)}
      style={{ left: place.x, top: place.y, ...STEP_SIZE }}
      onClick={onOpen}
    >
      <StepIcon type={step.type} />
      <span className="step-texts">
        <span className="step-name cut">{step.name}</span>
        <span className="muted small cut">
          {run === undefined ? settings || TYPE_WORDS[step.type] : runText(run)}
        </span>
      </span>
      {children}
    </button>
  );
}

const clock = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});

/** "22 Nov, 20:41, took 3 min"; the frame and the list say the state. */
function runText({ state, times, startedAt, completedAt }: StepRun): string {
  const often = times > 1 ? ` (${times} times)` : "";
  if (completedAt === null) return `Since ${clock.format(new Date(startedAt))}${often}`;
  const tookMs = Date.parse(completedAt) - Date.parse(startedAt);
  const took = tookMs < 1_000 ? "" : `, took ${spanText(tookMs)}`;
  const word = state === "FAILED" ? "Failed " : state === "SKIPPED" ? "Skipped " : "";
  return `${word}${clock.format(new Date(completedAt))}${took}${often}`;
}

function Lines(props: {
  layout: Layout;
  transitions: Workflow["transitions"];
  path: ExecutionPath | null;
}) {
  const { layout, transitions, path } = props;
  return (
    <>
      <svg width={layout.width} height={layout.height} aria-hidden className="canvas-lines">
        <defs>
          <Arrow id="arrow" />
          <Arrow id="arrow-taken" isTaken />
        </defs>
        {transitions.map(({ id }) => {
          const isTaken = path?.transitions.has(id) === true;
          return (
            <path
              key={id}
              d={curveOf(layout.lines.get(id) ?? [])}
              data-taken={isTaken || undefined}
              markerEnd={isTaken ? "url(#arrow-taken)" : "url(#arrow)"}
            />
          );
        })}
      </svg>
      {transitions.map(({ id, branch }) => {
        const word = branchWord(branch);
        const start = layout.lines.get(id)?.at(0);
        const next = layout.lines.get(id)?.at(1);
        if (word === null || start === undefined || next === undefined) return null;
        const at = labelPlace(start, next);
        return (
          <span key={id} className="branch cut" aria-hidden style={{ left: at.x, top: at.y }}>
            {word}
          </span>
        );
      })}
    </>
  );
}

function Arrow({ id, isTaken = false }: { id: string; isTaken?: boolean }) {
  return (
    <marker
      id={id}
      viewBox="0 0 8 8"
      refX="7"
      refY="4"
      markerWidth="11"
      markerHeight="11"
      markerUnits="userSpaceOnUse"
      orient="auto"
    >
      <path d="M0 0 L8 4 L0 8 z" className="canvas-arrow" data-taken={isTaken || undefined} />
    </marker>
  );
}

/** In the middle of the first part of the line. */
const labelPlace = (start: Point, next: Point): Point => ({
  x: (start.x + next.x) / 2,
  y: (start.y + next.y) / 2,
});

/** Curves between points below each other, and straight lines beside each other. */
export function curveOf(points: readonly Point[]): string {
  return points
    .map(({ x, y }, i) => {
      const before = points[i - 1];
      if (before === undefined) return `M${x} ${y}`;
      if (before.x === x || before.y >= y) return `L${x} ${y}`;
      const middle = (before.y + y) / 2;
      return `C${before.x} ${middle} ${x} ${middle} ${x} ${y}`;
    })
    .join(" ");
}
