/** Says who will enter a workflow when it is enabled. */

import type { Workflow } from "../../../modules/workflows/model.ts";
import type { Graph } from "./editor/draft.ts";
import { entrySentence } from "./trigger-texts.ts";

export function EntryForecast({ workflow, graph }: { workflow: Workflow; graph: Graph }) {
  const trigger = graph.steps.find(({ type }) => type === "TRIGGER")?.config ?? workflow.trigger;
  const mails = graph.steps.filter(({ type }) => type === "SEND_EMAIL").length;
  return (
    <>
      <p>{entrySentence({ enabled: true, allowReentry: workflow.allowReentry, trigger })}</p>
      <p className="muted">
        What happened before does not count.{" "}
        {mails === 0
          ? "It sends no mail."
          : `It has ${mails} ${mails === 1 ? "step that sends" : "steps that send"} mail.`}
      </p>
    </>
  );
}
