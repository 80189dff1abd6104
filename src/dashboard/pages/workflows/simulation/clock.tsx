/** The clock of a simulation, and the buttons that move it. */

import { Button } from "@mantine/core";
import { RotateCcw, SkipForward, StepForward } from "lucide-react";
import type { Simulation } from "../../../../modules/workflows/simulation/model.ts";
import { Status } from "../../../ui/status.tsx";
import { exactTime } from "../../../ui/time.tsx";
import { spanText } from "../step-texts.ts";
import { clockMoves, type SimulationPlan } from "./plan.ts";

type Props = {
  found: Simulation;
  plan: SimulationPlan;
  onChange: (next: Partial<SimulationPlan>) => void;
};

export function Clock({ found, plan, onChange }: Props) {
  const { next, hour, day } = clockMoves(found);
  const passedMs = Date.parse(found.at) - Date.parse(found.startAt);
  const move = (until: string | null) => onChange({ until, mail: null });
  return (
    <section className="try-clock" aria-label="Clock of the simulation">
      <div className="try-time">
        <strong>{exactTime(new Date(found.at))}</strong>
        <span className="muted small">
          {passedMs < 1_000 ? "The start" : `${spanText(passedMs)} after the start`}
        </span>
      </div>
      <div className="try-moves">
        <Button
          size="xs"
          leftSection={<StepForward size={14} aria-hidden />}
          disabled={next === null}
          onClick={() => move(next)}
        >
          Next step
        </Button>
        <Button size="xs" variant="default" onClick={() => move(hour)}>
          + 1 hour
        </Button>
        <Button size="xs" variant="default" onClick={() => move(day)}>
          + 1 day
        </Button>
        <Button
          size="xs"
          variant="default"
          leftSection={<SkipForward size={14} aria-hidden />}
          disabled={next === null}
          onClick={() => move(null)}
        >
          To the end
        </Button>
        <Button
          size="xs"
          variant="subtle"
          color="gray"
          leftSection={<RotateCcw size={14} aria-hidden />}
          onClick={() => onChange({ until: plan.startAt, events: [], mail: null })}
        >
          Start over
        </Button>
      </div>
      <p className="small try-state" role="status">
        <StateText found={found} />
      </p>
    </section>
  );
}

function StateText({ found }: { found: Simulation }) {
  const execution = found.executions.at(-1);
  if (execution === undefined) return <span className="muted">The workflow has not started.</span>;
  const { status, waiting, exitReason, error } = execution;
  return (
    <>
      <Status value={status} />{" "}
      {found.isCutShort
        ? "Stopped after 500 steps: the workflow has a loop."
        : waiting === null
          ? (error ?? exitReason ?? "The workflow has ended.")
          : waitText(waiting)}
    </>
  );
}

function waitText({
  eventName,
  until,
  reason,
}: NonNullable<Simulation["executions"][number]["waiting"]>): string {
  const end = until === null ? "" : ` until ${exactTime(new Date(until))}`;
  if (reason !== null)
    return `${reason} It is tried again${end === "" ? "" : ` at ${end.slice(7)}`}.`;
  return eventName === null ? `Waits${end}.` : `Waits for “${eventName}”${end}.`;
}
