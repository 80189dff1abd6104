/** Says who will enter a workflow when it is enabled. */

import { useQuery } from "@tanstack/react-query";
import type { EntryForecast } from "../../../modules/workflows/entry-model.ts";
import type { Workflow } from "../../../modules/workflows/model.ts";
import { api } from "../../api.ts";
import { exactTime } from "../../ui/time.tsx";
import { type Config, graphBody, type WorkflowDraft } from "./editor/draft.ts";
import { entrySentence } from "./trigger-texts.ts";
import { workflowPath } from "./use-workflow.ts";

const number = new Intl.NumberFormat();

export function Forecast(props: {
  project: string;
  workflow: Workflow;
  /** The workflow as it is edited, which is saved before it is enabled. */
  draft: WorkflowDraft;
}) {
  const { project, workflow, draft } = props;
  const trigger: Config = graphBody(draft).trigger ?? workflow.trigger;
  // The server counts for the trigger that is stored.
  const isStored = JSON.stringify(trigger) === JSON.stringify(workflow.trigger);
  const { data } = useQuery({
    queryKey: ["workflow-forecast", project, workflow.id, workflow.revision],
    queryFn: ({ signal }) =>
      api.get<EntryForecast>(`${workflowPath(workflow.id)}/entry-forecast`, { signal }),
    enabled: isStored,
  });
  const mails = draft.steps.filter(({ type }) => type === "SEND_EMAIL").length;
  const { allowReentry } = draft;
  return (
    <>
      <p>{entrySentence({ enabled: true, allowReentry, trigger })}</p>
      {isStored && data !== undefined && <Numbers forecast={data} />}
      <p className="muted">
        {mails === 0
          ? "It sends no mail."
          : `It has ${number.format(mails)} ${mails === 1 ? "step that sends" : "steps that send"} mail.`}
      </p>
    </>
  );
}

function Numbers({ forecast }: { forecast: EntryForecast }) {
  const { recentContacts, recentDays, members, nextTimes } = forecast;
  if (recentContacts !== null) {
    return (
      <p>
        <strong>{contactsText(recentContacts)}</strong> had this event in the last {recentDays}{" "}
        days. Events from now on count, and not those before.
      </p>
    );
  }
  if (members === null) return null;
  return (
    <>
      <p>
        <strong>{contactsText(members)}</strong> would enter if it were now.
      </p>
      <p>The next times:</p>
      <ul className="next-times">
        {nextTimes.map((at) => (
          <li key={at}>{exactTime(new Date(at))}</li>
        ))}
      </ul>
    </>
  );
}

const contactsText = (count: number): string =>
  count === 1 ? "1 contact" : `${number.format(count)} contacts`;
