/** The tab Backtest, which replays the recorded events of the last days. */

import "./styles.ts";
import type {
  Backtest,
  LastBacktest,
} from "../../../../modules/workflows/simulation/backtest-model.ts";
import { api } from "../../../api.ts";
import { BacktestFrame } from "../../../ui/backtest/backtest-frame.tsx";
import type { BacktestRequests } from "../../../ui/backtest/use-backtest.ts";
import { workflowPath } from "../use-workflow.ts";
import type { WorkflowTabProps } from "../workflow-tabs.tsx";
import { BacktestResult } from "./backtest-result.tsx";
import { editedWorkflow } from "./plan.ts";

const requestsOf = (id: string): BacktestRequests<Backtest> => ({
  read: (signal) => api.get<LastBacktest>(`${workflowPath(id)}/backtest`, { signal }),
  start: (body) => api.post<Backtest>(`${workflowPath(id)}/backtest`, body),
  cancel: () => api.post<Backtest>(`${workflowPath(id)}/backtest/cancel`),
});

export function BacktestTab({ workflow, project, editor }: WorkflowTabProps) {
  const draft = editedWorkflow(editor.value);
  return (
    <BacktestFrame<Backtest>
      project={project}
      subject={workflow.id}
      requests={requestsOf(workflow.id)}
      draft={draft}
      changes={editor.isChanged ? { workflow: draft } : {}}
      intro={
        <>
          The recorded events are replayed as if the workflow had been enabled then.
          {editor.isChanged && " Your unsaved changes are tried."} Nothing is stored or sent.
        </>
      }
      promise="It says how many contacts would have entered, which mails they would have got on which day, and why executions would have ended."
      outdated="The workflow has been changed since this backtest. Run it again to see the effect."
    >
      {(backtest) => <BacktestResult backtest={backtest} graph={editor.value} project={project} />}
    </BacktestFrame>
  );
}
