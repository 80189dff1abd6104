/** The elements of the canvas: steps, the words and buttons on lines, and the lines. */

import { BaseEdge, type EdgeProps, Handle, type NodeProps, Position } from "@xyflow/react";
import { Plus, TriangleAlert } from "lucide-react";
import { createContext, memo, use } from "react";
import type { WorkflowCounts } from "../../../../modules/workflows/count-model.ts";
import type { DraftStep } from "../editor/draft.ts";
import type { WayOut } from "../editor/graph-edits.ts";
import type { ExecutionPath, StepRun } from "../execution-path.ts";
import { StepBadges } from "../step-badges.tsx";
import { StepIcon } from "../step-icon.tsx";
import { addLabel, settingsText, spanText, stepName, TYPE_WORDS } from "../step-texts.ts";
import { curveOf } from "./layout.ts";
import type { LineEdge, PlaceNode, StepNode } from "./picture.ts";

/** The contents of the steps. The library keeps their places. */
export type ShownSteps = {
  steps: ReadonlyMap<string, DraftStep>;
  counts: ReadonlyMap<string, WorkflowCounts["steps"][number]>;
  path: ExecutionPath | null;
  /** Id of the step that is open. */
  open: string | undefined;
  /** Steps as they were sent: one that is changed is not faulty any more. */
  faulty: ReadonlySet<DraftStep | null>;
  /** Names of templates, by their ids. */
  names: ReadonlyMap<string, string>;
  onOpen: (id: string) => void;
  onAdd: (place: WayOut) => void;
};

const NOTHING: ShownSteps = {
  steps: new Map(),
  counts: new Map(),
  path: null,
  open: undefined,
  faulty: new Set(),
  names: new Map(),
  onOpen() {},
  onAdd() {},
};

export const ShownContext = createContext(NOTHING);

function StepInPicture({ data }: NodeProps<StepNode>) {
  const { steps, counts, path, open, faulty, names, onOpen } = use(ShownContext);
  const step = steps.get(data.step);
  // The steps of the last picture stay until the library has the next one.
  if (step === undefined) return null;
  return (
    <>
      <LineEnds />
      <StepBox
        step={step}
        isOpen={step.id === open}
        run={path?.runs.get(step.id)}
        isTraced={path !== null}
        isFaulty={faulty.has(step)}
        names={names}
        counts={path === null ? counts.get(step.id) : undefined}
        onOpen={onOpen}
      />
    </>
  );
}

/** The library draws an edge only between two of these, which are not shown. */
function LineEnds() {
  return (
    <>
      <Handle type="target" position={Position.Top} isConnectable={false} />
      <Handle type="source" position={Position.Bottom} isConnectable={false} />
    </>
  );
}

/** It is drawn again only if something of the step changes: a graph may have hundreds of them. */
const StepBox = memo(function StepBox(props: {
  step: DraftStep;
  isOpen: boolean;
  run: StepRun | undefined;
  /** True if an execution is drawn over the graph. */
  isTraced: boolean;
  isFaulty: boolean;
  names: ReadonlyMap<string, string>;
  counts: WorkflowCounts["steps"][number] | undefined;
  onOpen: (id: string) => void;
}) {
  const { step, isOpen, run, isTraced, isFaulty, names, counts, onOpen } = props;
  const settings = settingsText(step, names);
  return (
    <button
      type="button"
      className="step-box"
      data-step={step.id}
      data-run={run?.state}
      data-traced={isTraced || undefined}
      data-faulty={isFaulty || undefined}
      aria-pressed={isOpen}
      title={run === undefined ? settings : runText(run)}
      onClick={() => onOpen(step.id)}
    >
      <StepIcon type={step.type} />
      <span className="step-texts">
        <span className="step-name cut">{stepName(step)}</span>
        <span className="muted small cut">
          {run === undefined ? settings || TYPE_WORDS[step.type] : runText(run)}
        </span>
      </span>
      {isFaulty && (
        <span className="step-fault">
          <TriangleAlert size={13} aria-hidden />
          <span className="visually-hidden">has a problem</span>
        </span>
      )}
      <StepBadges counts={counts} />
    </button>
  );
});

const clock = new Intl.DateTimeFormat(undefined, {
  month: "short",
  day: "numeric",
  hour: "numeric",
  minute: "2-digit",
});

const STATE_WORDS: Partial<Record<StepRun["state"], string>> = {
  FAILED: "Failed ",
  SKIPPED: "Skipped ",
  LEFT: "Left ",
};

/** "22 Nov, 20:41, took 3 min"; the frame and the list say the state. */
function runText({ state, times, startedAt, completedAt }: StepRun): string {
  const often = times > 1 ? ` (${times} times)` : "";
  if (completedAt === null) return `Since ${clock.format(new Date(startedAt))}${often}`;
  const tookMs = Date.parse(completedAt) - Date.parse(startedAt);
  const took = tookMs < 1_000 ? "" : `, took ${spanText(tookMs)}`;
  return `${STATE_WORDS[state] ?? ""}${clock.format(new Date(completedAt))}${took}${often}`;
}

function PlaceInPicture({ data }: NodeProps<PlaceNode>) {
  const { place, word, hasButton, isEnd } = data;
  return (
    <div className="canvas-place">
      {isEnd && <LineEnds />}
      {word !== null && (
        <span className="branch cut" aria-hidden title={word}>
          {word}
        </span>
      )}
      {hasButton && <AddButton place={place} />}
    </div>
  );
}

function AddButton({ place }: { place: WayOut }) {
  const { steps, onAdd } = use(ShownContext);
  const label = addLabel(steps.get(place.from), place);
  return (
    <button
      type="button"
      className="canvas-add"
      aria-label={label}
      title={label}
      onClick={() => onAdd(place)}
    >
      <Plus size={14} aria-hidden />
    </button>
  );
}

function Line({ data, markerEnd }: EdgeProps<LineEdge>) {
  if (data === undefined) return null;
  const { points, isTaken, isEnd } = data;
  return (
    <BaseEdge
      className="canvas-line"
      path={curveOf(points)}
      interactionWidth={0}
      data-taken={isTaken || undefined}
      data-end={isEnd || undefined}
      {...(markerEnd === undefined ? {} : { markerEnd })}
    />
  );
}

export const NODE_TYPES = { step: StepInPicture, place: PlaceInPicture };
export const EDGE_TYPES = { line: Line };
