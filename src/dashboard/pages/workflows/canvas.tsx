/** The graph of a workflow as a picture: to edit it, or with the way of one execution over it. */

import { Plus, TriangleAlert } from "lucide-react";
import { memo, useCallback, useEffect, useMemo, useRef } from "react";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import { branchesOf, type DraftStep, type Graph, type Way } from "./editor/draft.ts";
import type { Fault } from "./editor/faults.ts";
import { openEnds, type WayOut } from "./editor/graph-edits.ts";
import type { ExecutionPath, StepRun } from "./execution-path.ts";
import { layoutOf, type Layout, type Point, STEP_SIZE } from "./layout/layout.ts";
import { StepBadges } from "./step-badges.tsx";
import { StepIcon } from "./step-icon.tsx";
import { settingsText, spanText, stepName, TYPE_WORDS, wayWord } from "./step-texts.ts";
import type { useCanvasView } from "./use-canvas-view.ts";

/** Names a way out of a step, or its open end. */
const placeKey = ({ from, branch }: WayOut): string => JSON.stringify([from, branch]);

export function Canvas(props: {
  graph: Graph;
  counts: WorkflowCounts | undefined;
  path: ExecutionPath | null;
  /** Id of the step that is open. */
  open: string | undefined;
  faults: readonly Fault[];
  view: ReturnType<typeof useCanvasView>;
  /** Names of templates, by their ids. */
  names: ReadonlyMap<string, string>;
  onOpen: (id: string) => void;
  /** Inserts a step there; null for readers. */
  onAdd: ((place: WayOut) => void) | null;
}) {
  const { graph, counts, path, open, faults, view, names, onOpen, onAdd } = props;
  const { steps, transitions } = graph;
  const ends = onAdd === null ? [] : openEnds(graph);
  const ids = steps.map(({ id }) => id);
  // The picture changes with the shape of the graph, and not with the values of a step.
  const shape = JSON.stringify([ids, transitions, ends]);
  const layout = useMemo(
    () =>
      layoutOf(
        [...ids, ...ends.map(placeKey)],
        inOrder(steps, [...transitions, ...ends.map((end) => ({ ...end, to: placeKey(end) }))]).map(
          ({ from, branch, to }) => ({ id: placeKey({ from, branch }), from, to }),
        ),
        new Set(ends.map(placeKey)),
      ),
    // oxlint-disable-next-line react-hooks/exhaustive-deps
    [shape],
  );
  const countsOf = new Map(counts?.steps.map((each) => [each.stepId, each]));
  const sheet = useRef<HTMLDivElement>(null);
  const latest = useRef(onOpen);
  latest.current = onOpen;
  const openStep = useCallback((id: string) => latest.current(id), []);
  useEffect(() => {
    if (open === undefined) return;
    const box = sheet.current?.querySelector(`[data-step="${CSS.escape(open)}"]`);
    box?.scrollIntoView({ block: "nearest", inline: "nearest" });
  }, [open]);
  return (
    <div
      ref={view.canvas}
      className="canvas"
      tabIndex={0}
      role="region"
      aria-label="Graph of the workflow"
      {...view.handlers}
    >
      <div
        ref={sheet}
        className="canvas-sheet"
        data-traced={path !== null || undefined}
        style={{ width: layout.width, height: layout.height, zoom: view.zoom }}
      >
        <Lines layout={layout} steps={steps} ways={transitions} ends={ends} path={path} />
        {steps.map((step) => (
          <StepBox
            key={step.id}
            step={step}
            place={layout.places.get(step.id) ?? ORIGIN}
            isOpen={step.id === open}
            run={path?.runs.get(step.id)}
            isFaulty={faults.some((fault) => fault.step === step)}
            names={names}
            counts={path === null ? countsOf.get(step.id) : undefined}
            onOpen={openStep}
          />
        ))}
        {onAdd !== null &&
          placed(layout, steps, [...transitions, ...ends]).map(({ place, at }) => (
            <AddButton
              key={placeKey(place)}
              at={at}
              label={addLabel(steps, place)}
              isEnd={!("to" in place)}
              onAdd={() => onAdd({ from: place.from, branch: place.branch })}
            />
          ))}
      </div>
    </div>
  );
}

/** The ways out of steps in the order of their branches, which stand from left to right. */
function inOrder<T extends WayOut>(steps: readonly DraftStep[], places: readonly T[]): T[] {
  const rank = new Map(
    steps.flatMap((step) =>
      branchesOf(step).map((branch, i) => [placeKey({ from: step.id, branch }), i] as const),
    ),
  );
  const rankOf = (place: WayOut) => rank.get(placeKey(place)) ?? 0;
  return places.toSorted((a, b) => rankOf(a) - rankOf(b));
}

const ORIGIN: Point = { x: 0, y: 0 };

/** "Add a step after Hello", and at which of its branches. */
export function addLabel(steps: readonly DraftStep[], { from, branch }: WayOut): string {
  const step = steps.find(({ id }) => id === from);
  const name = step === undefined ? from : stepName(step);
  const word = wayWord(step, branch);
  return word === null ? `Add a step after ${name}` : `Add a step after ${name}, at “${word}”`;
}

function AddButton(props: { at: Point; label: string; isEnd: boolean; onAdd: () => void }) {
  const { at, label, isEnd, onAdd } = props;
  return (
    <button
      type="button"
      className="canvas-add"
      data-end={isEnd || undefined}
      aria-label={label}
      title={label}
      style={{ left: at.x, top: at.y }}
      onClick={onAdd}
    >
      <Plus size={14} aria-hidden />
    </button>
  );
}

/** Distances of a line's button: from the step, and from another button at the same place. */
const FROM_STEP = 25;
const APART = 30;

/** The place of the button of a line: near its first step, or its second one if several begin there. */
function addPlace(layout: Layout, place: WayOut | Way, isOnly: boolean): Point {
  const points = layout.lines.get(placeKey(place)) ?? [];
  const [start = ORIGIN, next = ORIGIN, third] = points;
  if (!("to" in place)) return { x: next.x, y: next.y + 12 };
  if (third !== undefined && third.y < next.y) return { x: next.x, y: (next.y + third.y) / 2 };
  if (isOnly) return { x: start.x, y: start.y + FROM_STEP };
  return { x: next.x, y: next.y - FROM_STEP };
}

/** The buttons with their places; those of branches that meet at once stand beside each other. */
function placed<T extends WayOut | Way>(
  layout: Layout,
  steps: readonly DraftStep[],
  places: readonly T[],
) {
  const taken = new Set<string>();
  const single = new Set(steps.filter((step) => branchesOf(step).length === 1).map(({ id }) => id));
  return places.map((place) => {
    const at = addPlace(layout, place, single.has(place.from));
    while (taken.has(`${at.x} ${at.y}`)) at.x += APART;
    taken.add(`${at.x} ${at.y}`);
    return { place, at };
  });
}

/** It is drawn again only if something of the step changes: a graph may have hundreds of them. */
const StepBox = memo(function StepBox(props: {
  step: DraftStep;
  place: Point;
  isOpen: boolean;
  run: StepRun | undefined;
  isFaulty: boolean;
  names: ReadonlyMap<string, string>;
  counts: WorkflowCounts["steps"][number] | undefined;
  onOpen: (id: string) => void;
}) {
  const { step, place, isOpen, run, isFaulty, names, counts, onOpen } = props;
  const settings = settingsText(step, names);
  return (
    <button
      type="button"
      className="step-box"
      data-step={step.id}
      data-run={run?.state}
      data-faulty={isFaulty || undefined}
      aria-pressed={isOpen}
      title={run === undefined ? settings : runText(run)}
      style={{ left: place.x, top: place.y, ...STEP_SIZE }}
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

function Lines(props: {
  layout: Layout;
  steps: readonly DraftStep[];
  ways: readonly Way[];
  ends: readonly WayOut[];
  path: ExecutionPath | null;
}) {
  const { layout, steps, ways, ends, path } = props;
  const byId = new Map(steps.map((step) => [step.id, step]));
  return (
    <>
      <svg width={layout.width} height={layout.height} aria-hidden className="canvas-lines">
        <defs>
          <Arrow id="arrow" />
          <Arrow id="arrow-taken" isTaken />
        </defs>
        {ways.map((way) => {
          const isTaken = path?.transitions.has(way.id) === true;
          return (
            <path
              key={placeKey(way)}
              d={curveOf(layout.lines.get(placeKey(way)) ?? [])}
              data-taken={isTaken || undefined}
              markerEnd={isTaken ? "url(#arrow-taken)" : "url(#arrow)"}
            />
          );
        })}
        {ends.map((end) => (
          <path key={placeKey(end)} d={curveOf(layout.lines.get(placeKey(end)) ?? [])} data-end />
        ))}
      </svg>
      {[...ways, ...ends].map((place) => {
        const word = wayWord(byId.get(place.from), place.branch);
        const [start, next] = layout.lines.get(placeKey(place)) ?? [];
        if (word === null || start === undefined || next === undefined) return null;
        const at = labelPlace(start, next);
        return (
          <span
            key={placeKey(place)}
            className="branch cut"
            aria-hidden
            style={{ left: at.x, top: at.y }}
          >
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

/** In the first third of a line downwards, near the place that it leads to; else in the middle. */
const labelPlace = (start: Point, next: Point): Point =>
  start.y === next.y
    ? { x: (start.x + next.x) / 2, y: start.y }
    : { x: start.x + (next.x - start.x) * 0.72, y: start.y + (next.y - start.y) * 0.36 };

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
