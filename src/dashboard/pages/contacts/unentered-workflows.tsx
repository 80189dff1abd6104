/** The workflows that a contact never entered, each with the reason. */

import { Button } from "@mantine/core";
import { useState } from "react";
import type { UnenteredWorkflow } from "../../../modules/workflows/unentered-model.ts";
import { api } from "../../api.ts";
import { useMay } from "../../state.ts";
import { Confirm } from "../../ui/confirm.tsx";
import { PathLink } from "../../ui/path-link.tsx";
import { Time } from "../../ui/time.tsx";
import { useContactRefresh, useUnenteredWorkflows } from "./use-contact.ts";

type Props = { id: string; email: string; project: string };

export function UnenteredWorkflows({ id, email, project }: Props) {
  const { data: workflows = [] } = useUnenteredWorkflows(id);
  const mayStart = useMay("EDITOR");
  const refresh = useContactRefresh(id);
  const [starting, setStarting] = useState<UnenteredWorkflow | null>(null);
  const [isAsking, setIsAsking] = useState(false);
  if (workflows.length === 0) return null;
  async function start(): Promise<void> {
    await api.post(`/workflows/${starting?.id ?? ""}/executions`, { contactId: id });
    await refresh();
  }
  return (
    <>
      <h3 className="contact-subhead">Never entered</h3>
      <ul className="contact-list" aria-label="Workflows that the contact never entered">
        {workflows.map((workflow) => (
          <li key={workflow.id}>
            <PathLink path={`/p/${project}/workflows/${workflow.id}`}>{workflow.name}</PathLink>
            {mayStart && workflow.enabled && (
              <Button
                size="compact-xs"
                variant="default"
                aria-label={`Start ${workflow.name} for this contact`}
                onClick={() => {
                  setStarting(workflow);
                  setIsAsking(true);
                }}
              >
                Start
              </Button>
            )}
            <p className="muted small contact-reason">
              <Reason workflow={workflow} />
            </p>
          </li>
        ))}
      </ul>
      <Confirm
        isOpen={isAsking}
        onClose={() => setIsAsking(false)}
        title={`Start ${starting?.name ?? "the workflow"}?`}
        text={
          <p>
            The workflow begins at once for <strong className="contact-address">{email}</strong>
            {starting?.triggerType === "EVENT" && `, without the event ${starting.eventName}`}. It
            may send mail.
          </p>
        }
        action="Start the workflow"
        color="brand"
        onConfirm={start}
      />
    </>
  );
}

function Reason({ workflow }: { workflow: UnenteredWorkflow }) {
  const { enabled, triggerType, eventName, createdAt, lastEventAt } = workflow;
  const event = <code>{eventName}</code>;
  if (!enabled) return "The workflow is disabled, so it starts for nobody. Enable it on its page.";
  if (triggerType === "MANUAL") return "It starts only by hand. Start it here.";
  if (triggerType === "SCHEDULE") {
    return (
      "Its schedule lets contacts enter. This one was not among them at its times so far. Wait for " +
      "the next time, or start the workflow here."
    );
  }
  if (lastEventAt === null) {
    return (
      <>
        It starts with the event {event}, which never happened for this contact. The contact enters
        when it happens; you can also start the workflow here.
      </>
    );
  }
  return (
    <>
      Its event {event} last happened <Time at={lastEventAt} />,{" "}
      {lastEventAt < createdAt
        ? "before the workflow was created."
        : "when the workflow was disabled or started with another event."}{" "}
      The contact enters when it happens again; you can also start the workflow here.
    </>
  );
}
