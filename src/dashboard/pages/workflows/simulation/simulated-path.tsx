/** The steps of a simulation in their order: when, with which result, and the mail or request of each. */

import { Button } from "@mantine/core";
import { Mail } from "lucide-react";
import type { Simulation } from "../../../../modules/workflows/simulation/model.ts";
import { Timeline, type TimelineItem } from "../../../ui/timeline.tsx";
import { exactTime } from "../../../ui/time.tsx";
import type { DraftStep } from "../editor/draft.ts";
import { branchWord, stepName } from "../step-texts.ts";

type Step = Simulation["executions"][number]["steps"][number];
type Props = {
  found: Simulation;
  steps: readonly DraftStep[];
  onMail: (number: number) => void;
};

const TONES = { COMPLETED: "good", SKIPPED: "held", FAILED: "failed" } as const;

export function SimulatedPath({ found, steps, onMail }: Props) {
  const { hindrance, executions } = found;
  let mails = 0;
  return (
    <>
      {hindrance !== null && <p className="try-hindrance">{hindrance}</p>}
      {executions.map((execution, i) => {
        const first = mails;
        mails += execution.steps.filter(({ mail }) => mail !== null).length;
        const title = executions.length === 1 ? "Steps" : `Steps of execution ${i + 1}`;
        return (
          <section key={execution.startedAt + String(i)} className="try-steps">
            <h2>{title}</h2>
            <Timeline label={title} items={itemsOf(execution.steps, { steps, first, onMail })} />
          </section>
        );
      })}
    </>
  );
}

function itemsOf(
  taken: readonly Step[],
  { steps, first, onMail }: Pick<Props, "steps" | "onMail"> & { first: number },
): TimelineItem[] {
  let mails = first;
  return taken.map((step, i) => {
    const number = step.mail === null ? null : mails++;
    const known = steps.find(({ id }) => id === step.stepId);
    const word = branchWord(step.branch);
    return {
      key: `${i} ${step.stepId}`,
      tone: TONES[step.outcome],
      title: (
        <span data-simulated={step.stepId}>
          {known === undefined ? step.stepId : stepName(known)}
          {word !== null && <span className="muted"> → {word}</span>}
        </span>
      ),
      at: step.completedAt,
      when: exactTime(new Date(step.completedAt)),
      detail: <Detail step={step} onMail={number === null ? null : () => onMail(number)} />,
    };
  });
}

function Detail({ step, onMail }: { step: Step; onMail: (() => void) | null }) {
  const { mail, request, changes, detail } = step;
  const reason = detail?.["reason"] ?? detail?.["error"];
  return (
    <>
      {typeof reason === "string" && <p className="small">{reason}</p>}
      {mail !== null && (
        <div className="try-mail">
          <span className="small">
            <strong>{mail.subject === "" ? "No subject" : mail.subject}</strong>{" "}
            <span className="muted">
              from {mail.from} to {mail.to}
            </span>
          </span>
          {mail.suppressed !== null && (
            <span className="small try-hindrance">
              It would not leave: the address is suppressed ({mail.suppressed}).
            </span>
          )}
          {mail.error !== null && <span className="small try-hindrance">{mail.error}</span>}
          {mail.html !== null && (
            <Button
              size="compact-xs"
              variant="default"
              leftSection={<Mail size={13} aria-hidden />}
              aria-label={`Show the mail “${mail.subject}”`}
              onClick={() => onMail?.()}
            >
              Show the mail
            </Button>
          )}
        </div>
      )}
      {request !== null && (
        <details className="small">
          <summary>
            {request.method} {request.url}
          </summary>
          <pre className="try-json">
            {[
              ...Object.entries(request.headers).map(([name, value]) => `${name}: ${value}`),
              "",
              request.body ?? "",
            ].join("\n")}
          </pre>
        </details>
      )}
      {changes !== null && <Changes changes={changes} />}
    </>
  );
}

function Changes({ changes }: { changes: NonNullable<Step["changes"]> }) {
  const { subscribed, data } = changes;
  const members = Object.entries(data).map(([name, value]) =>
    value === null ? `${name} removed` : `${name} = ${JSON.stringify(value)}`,
  );
  const subscription =
    subscribed === null ? [] : [subscribed ? "is subscribed" : "is unsubscribed"];
  const all = [...subscription, ...members];
  return (
    <p className="small">
      {all.length === 0 ? "Nothing changes." : `The contact: ${all.join(", ")}`}
    </p>
  );
}
