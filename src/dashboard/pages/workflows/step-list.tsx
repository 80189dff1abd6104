/**
 * The same graph as a list, the equal of the picture for the keyboard and for screen readers: the
 * branches of a step are nested below it, and every edit can be made here.
 */

import { Button } from "@mantine/core";
import { Plus } from "lucide-react";
import { useMemo } from "react";
import type { WorkflowCounts } from "../../../modules/workflows/count-model.ts";
import { Status } from "../../ui/status.tsx";
import { exactTime } from "../../ui/time.tsx";
import type { Graph } from "./editor/draft.ts";
import type { Fault } from "./editor/faults.ts";
import type { WayOut } from "./editor/graph-edits.ts";
import { numbersOf, type OutlineStep, outlineOf, type OutlineWay } from "./editor/outline.ts";
import type { ExecutionPath, StepRun } from "./execution-path.ts";
import { StepBadges } from "./step-badges.tsx";
import { StepIcon } from "./step-icon.tsx";
import { addLabel, settingsText, spanText, stepName, TYPE_WORDS, wayWord } from "./step-texts.ts";

type Props = {
  graph: Graph;
  counts: WorkflowCounts | undefined;
  path: ExecutionPath | null;
  faults: readonly Fault[];
  names: ReadonlyMap<string, string>;
  onOpen: (id: string) => void;
  /** Inserts a step there; null for readers. */
  onAdd: ((place: WayOut) => void) | null;
};

/** Properties that all parts of the list share. */
type Shared = Props & {
  numbers: ReadonlyMap<string, number>;
  countsOf: ReadonlyMap<string, WorkflowCounts["steps"][number]>;
};

export function StepList(props: Props) {
  const { graph, counts } = props;
  const items = useMemo(() => outlineOf(graph), [graph]);
  const numbers = useMemo(() => numbersOf(graph), [graph]);
  const countsOf = new Map(counts?.steps.map((each) => [each.stepId, each]));
  return <Steps items={items} depth={0} shared={{ ...props, numbers, countsOf }} />;
}

function Steps(props: { items: readonly OutlineStep[]; depth: number; shared: Shared }) {
  const { items, depth, shared } = props;
  return (
    <ol className="step-list" data-depth={depth}>
      {items.map((item) => (
        <StepRow key={item.step.id} item={item} depth={depth} shared={shared} />
      ))}
    </ol>
  );
}

/** Headings have at most six levels, and the page has the first. */
const levelOf = (depth: number): number => Math.min(6, depth + 2);

function StepRow(props: { item: OutlineStep; depth: number; shared: Shared }) {
  const { item, depth, shared } = props;
  const { path, faults, names, countsOf, onOpen } = shared;
  const { step, number, ways } = item;
  const run = path?.runs.get(step.id);
  const isFaulty = faults.some((fault) => fault.step === step);
  const isBranching = ways.some(({ branch }) => branch !== null);
  return (
    <li id={`step-${step.id}`} className="step-row" data-faulty={isFaulty || undefined}>
      <StepIcon type={step.type} />
      <div className="step-body">
        <div className="step-list-line">
          <div role="heading" aria-level={levelOf(depth)}>
            <button
              type="button"
              className="step-open"
              data-step={step.id}
              onClick={() => onOpen(step.id)}
            >
              {number}. {stepName(step)}
            </button>
          </div>
          {isFaulty && <Status tone="failed">Has a problem</Status>}
          {path === null && <StepBadges counts={countsOf.get(step.id)} />}
          {run !== undefined && <RunText run={run} />}
        </div>
        <p className="muted small">
          {[TYPE_WORDS[step.type], settingsText(step, names)]
            .filter((text) => text !== "")
            .join(": ")}
        </p>
        {isBranching ? (
          <ul className="step-branches">
            {ways.map((way) => (
              <li key={way.branch ?? ""}>
                <WayLine from={step.id} way={way} shared={shared} />
                {way.steps.length > 0 && (
                  <Steps items={way.steps} depth={depth + 1} shared={shared} />
                )}
              </li>
            ))}
          </ul>
        ) : (
          ways.map((way) => <WayLine key="" from={step.id} way={way} shared={shared} />)
        )}
      </div>
    </li>
  );
}

/** The target of a transition, if it is not the next row, and the button that inserts a step. */
function WayLine({ from, way, shared }: { from: string; way: OutlineWay; shared: Shared }) {
  const { graph, numbers, onAdd } = shared;
  const { branch, to, isElsewhere } = way;
  const target = graph.steps.find(({ id }) => id === to);
  const place = { from, branch };
  const step = graph.steps.find(({ id }) => id === from);
  const word = wayWord(step, branch);
  return (
    <div className="step-way">
      {word !== null && <strong className="small">{word}</strong>}
      {to === null && <span className="small muted">The workflow ends here.</span>}
      {isElsewhere && target !== undefined && (
        <span className="small">
          Continues at{" "}
          <a href={`#step-${target.id}`}>
            {numbers.get(target.id)}. {stepName(target)}
          </a>
        </span>
      )}
      {onAdd !== null && (
        <Button
          size="compact-xs"
          variant="subtle"
          leftSection={<Plus size={13} aria-hidden />}
          aria-label={addLabel(step, place)}
          onClick={() => onAdd(place)}
        >
          Add a step
        </Button>
      )}
    </div>
  );
}

const TONES = {
  COMPLETED: "good",
  SKIPPED: "held",
  FAILED: "failed",
  CURRENT: "seen",
  LEFT: "held",
} as const;
const WORDS = {
  COMPLETED: "Completed",
  SKIPPED: "Skipped",
  FAILED: "Failed",
  CURRENT: "Here now",
  LEFT: "Left here",
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
