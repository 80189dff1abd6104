/** The tab Backtest, which replays the recorded events of the last days. */

import "./styles.ts";
import { Button, Progress, Select } from "@mantine/core";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { History, Square } from "lucide-react";
import { useState } from "react";
import type { Backtest } from "../../../../modules/workflows/simulation/model.ts";
import { api } from "../../../api.ts";
import { useMay } from "../../../state.ts";
import { Loaded } from "../../../ui/loaded.tsx";
import { Note } from "../../../ui/note.tsx";
import { Problem } from "../../../ui/problem.tsx";
import { workflowPath } from "../use-workflow.ts";
import type { WorkflowTabProps } from "../workflow-tabs.tsx";
import { BacktestResult } from "./backtest-result.tsx";
import { editedWorkflow } from "./plan.ts";

const POLL_MS = 1_000;
const DAYS = [
  { value: "7", label: "7 days" },
  { value: "30", label: "30 days" },
  { value: "90", label: "90 days" },
  { value: "365", label: "A year" },
];
const number = new Intl.NumberFormat();
/** The workflows that were tested since the page was loaded, as JSON, by the ids of their backtests. */
const testedDrafts = new Map<string, string>();

export function BacktestTab({ workflow, project, editor }: WorkflowTabProps) {
  const { id } = workflow;
  const mayRun = useMay("EDITOR");
  const [days, setDays] = useState("30");
  const { last, start, cancel, error } = useBacktest(project, id);
  const backtest = last.data?.backtest ?? null;
  const isRunning = backtest?.status === "RUNNING";
  const draft = editedWorkflow(editor.value);
  const changes = editor.isChanged ? { workflow: draft } : {};
  const tested = testedDrafts.get(backtest?.id ?? "");
  const isOutdated = tested !== undefined && tested !== JSON.stringify(draft);
  async function run(): Promise<void> {
    const started = await start({ days: Number(days), ...changes });
    if (started !== null) testedDrafts.set(started.id, JSON.stringify(draft));
  }
  return (
    <>
      <p className="muted try-note">
        The recorded events are replayed as if the workflow had been enabled then.
        {editor.isChanged && " Your unsaved changes are tried."} Nothing is stored or sent.
      </p>
      {mayRun && (
        <div className="backtest-bar">
          <Select
            label="Events of the last"
            allowDeselect={false}
            data={DAYS}
            value={days}
            onChange={(value) => value !== null && setDays(value)}
          />
          {isRunning ? (
            <Button
              variant="default"
              leftSection={<Square size={14} aria-hidden />}
              onClick={() => void cancel()}
            >
              Stop the backtest
            </Button>
          ) : (
            <Button onClick={() => void run()}>Run the backtest</Button>
          )}
        </div>
      )}
      {error !== null && <Problem error={error} />}
      <Loaded query={last} height={320}>
        {() =>
          backtest === null ? (
            <Note icon={<History size={28} aria-hidden />} title="No backtest yet">
              It says how many contacts would have entered, which mails they would have got on which
              day, and why executions would have ended.
            </Note>
          ) : (
            <>
              {isOutdated && (
                <p role="status">
                  The workflow has been changed since this backtest. Run it again to see the effect.
                </p>
              )}
              <BacktestState backtest={backtest} />
              <BacktestResult backtest={backtest} graph={editor.value} project={project} />
            </>
          )
        }
      </Loaded>
    </>
  );
}

function BacktestState({ backtest }: { backtest: Backtest }) {
  const { status, progress, error } = backtest;
  const { done, total } = progress;
  if (status === "RUNNING") {
    const text = `${number.format(done)} of ${number.format(total)} contacts`;
    return (
      <div className="backtest-part" role="status">
        <p className="small muted">{total === 0 ? "Looking for contacts" : text}</p>
        <Progress value={total === 0 ? 0 : (100 * done) / total} aria-label="Progress" />
      </div>
    );
  }
  if (status === "FAILED") return <p className="try-hindrance">{error}</p>;
  if (status === "CANCELLED") {
    return <p className="muted">Stopped. The numbers are those of the contacts until then.</p>;
  }
  return null;
}

/** The last backtest, which is read again while it runs. */
function useBacktest(project: string, id: string) {
  const client = useQueryClient();
  const [error, setError] = useState<unknown>(null);
  const queryKey = ["backtest", project, id];
  const last = useQuery({
    queryKey,
    queryFn: ({ signal }) =>
      api.get<{ backtest: Backtest | null }>(`${workflowPath(id)}/backtest`, { signal }),
    refetchInterval: ({ state }) => (state.data?.backtest?.status === "RUNNING" ? POLL_MS : false),
  });
  async function show(request: Promise<Backtest>): Promise<Backtest | null> {
    try {
      const backtest = await request;
      setError(null);
      client.setQueryData(queryKey, { backtest });
      return backtest;
    } catch (problem) {
      setError(problem);
      return null;
    }
  }
  return {
    last,
    error,
    start: (body: object) => show(api.post<Backtest>(`${workflowPath(id)}/backtest`, body)),
    cancel: () => show(api.post<Backtest>(`${workflowPath(id)}/backtest/cancel`)),
  };
}
