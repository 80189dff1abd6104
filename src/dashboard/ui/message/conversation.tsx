/** The conversation with a mail server: what both sides said, and when. */

import type { Attempt } from "../../../modules/emails/record-model.ts";
import { Status } from "../status.tsx";
import { explainReply } from "./explain.ts";

type Conversation = Attempt["conversations"][number];
type Step = Conversation["steps"][number];

export function ConversationView({ conversation }: { conversation: Conversation }) {
  const { host, address, port, tls, reused, steps } = conversation;
  const failed = causeOf(steps);
  return (
    <div className="conversation">
      <div className="conversation-head">
        <strong>{host}</strong>
        <span className="muted">
          {address === null ? `port ${port}, not reached` : `${address} port ${port}`}
        </span>
        <span className="muted" title={tls?.cipher}>
          {tlsText(conversation)}
        </span>
        {tls !== null && !tls.verified && <Status tone="held">Certificate not verified</Status>}
        {reused && <span className="muted">open connection reused</span>}
      </div>
      <ConversationSteps steps={steps} />
      {failed !== undefined && <p className="explained">{explainReply(failed)}</p>}
    </div>
  );
}

/**
 * The step that decided the end. Commands are sent in groups, so a refused recipient is followed by
 * a refused DATA: of failures that follow each other, the first one is the cause.
 */
function causeOf(steps: readonly Step[]): Step | undefined {
  const isFailure = (i: number): boolean => {
    const step = steps[i];
    return step !== undefined && isFailed(step, i === steps.length - 1);
  };
  let i = steps.findLastIndex((_, index) => isFailure(index));
  while (i > 0 && isFailure(i - 1)) i--;
  return steps[i];
}

function tlsText({ tls, address }: Conversation): string {
  if (address === null) return "";
  if (tls === null) return "not encrypted";
  return tls.verified ? `${tls.version}, certificate verified` : tls.version;
}

/** `isFailed` says it where the server knows; otherwise it follows from the codes of the replies. */
type ShownStep = Pick<Step, "step" | "command" | "code" | "enhanced" | "text" | "ms"> & {
  isFailed?: boolean;
};

/** Each line with the time since the conversation began. */
export function ConversationSteps({ steps }: { steps: readonly ShownStep[] }) {
  let elapsedMs = 0;
  return (
    <ol className="steps">
      {steps.map((step, i) => {
        elapsedMs += step.ms;
        return (
          <li key={i} data-tone={toneOf(step, i === steps.length - 1)}>
            <span className="step-time">{msText(elapsedMs)}</span>
            <span className="step-lines">
              {step.command !== null && (
                <span className="step-line">
                  <span className="step-side">C</span>
                  <code>{step.command}</code>
                </span>
              )}
              <span className="step-line">
                <span className="step-side">{step.code === null ? "" : "S"}</span>
                <code>
                  {step.code !== null && <b>{step.code} </b>}
                  {hasOwnText(step) ? "" : `${step.enhanced} `}
                  <ReplyText step={step} />
                </code>
              </span>
            </span>
          </li>
        );
      })}
    </ol>
  );
}

/** The extensions of a server are on one line, because they are seldom what is looked for. */
function ReplyText({ step: { step, text } }: { step: Pick<Step, "step" | "text"> }) {
  const [first = "", ...extensions] = text.split("\n");
  if (text === "") return step;
  if (step !== "ehlo" || extensions.length === 0) return text;
  return (
    <>
      {first} <span className="step-more">{extensions.join(", ")}</span>
    </>
  );
}

/** Whether the enhanced status code, if there is one, is part of the text. */
const hasOwnText = ({ enhanced, text }: Pick<Step, "enhanced" | "text">): boolean =>
  enhanced === null || text.startsWith(enhanced);

/** A step without a code, such as the connection, failed only if the conversation ended with it. */
const isFailed = ({ code }: Pick<Step, "code">, isLast: boolean): boolean =>
  code === null ? isLast : code >= 400;

function toneOf(step: ShownStep, isLast: boolean): string | undefined {
  if (step.isFailed !== undefined) return step.isFailed ? "failed" : undefined;
  if (!isFailed(step, isLast)) return undefined;
  return step.code !== null && step.code < 500 ? "held" : "failed";
}

export function msText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
