/** Each attempt to deliver an email: when, with which server, and what both sides said. */

import type { Attempt, Email } from "../../../modules/emails/record-model.ts";
import { Status } from "../../ui/status.tsx";
import { exactTime, Time } from "../../ui/time.tsx";
import { hasOutcome } from "./outcome.tsx";
import { explainClass, explainReply, OUTCOMES } from "./explain.ts";

type Conversation = Attempt["conversations"][number];
type Step = Conversation["steps"][number];

export function TranscriptTab({ email }: { email: Email }) {
  const { attempts, nextAttemptAt, status } = email;
  return (
    <>
      {attempts.length === 0 && (
        <p className="muted">{NO_ATTEMPT[status] ?? NO_ATTEMPT["QUEUED"]}</p>
      )}
      {attempts.map((attempt) => (
        <AttemptView
          key={attempt.number}
          attempt={attempt}
          isExplained={attempt !== attempts.at(-1) || !hasOutcome(email)}
        />
      ))}
      {nextAttemptAt !== null && attempts.length > 0 && (
        <p className="next-attempt">
          The next attempt is due <Time at={nextAttemptAt} />, at{" "}
          <time dateTime={nextAttemptAt}>{exactTime(new Date(nextAttemptAt))}</time>.
        </p>
      )}
    </>
  );
}

const NO_ATTEMPT: Readonly<Record<string, string>> = {
  QUEUED: "No attempt yet: the email waits in the queue.",
  SENDING: "The first attempt is under way.",
  SUPPRESSED: "No server was asked, because the address is suppressed.",
  CANCELLED: "No server was asked: the email was cancelled before its first attempt.",
  FAILED: "No server was asked: the email could not be prepared.",
};

/** The outcome of the last attempt may be explained above the tabs. */
function AttemptView({ attempt, isExplained }: { attempt: Attempt; isExplained: boolean }) {
  const { number, startedAt, durationMs, outcome, reason, conversations } = attempt;
  const { tone, word } = OUTCOMES[outcome] ?? { tone: "waiting" as const, word: outcome };
  const { title, text } = explainClass(attempt.class);
  return (
    <section className="attempt" aria-label={`Attempt ${number}`}>
      <header className="attempt-head">
        <h3>Attempt {number}</h3>
        <Status tone={tone}>{word}</Status>
        <span className="muted small attempt-time">
          {exactTime(new Date(startedAt))}, took {msText(durationMs)}
        </span>
      </header>
      {isExplained && (
        <p className="attempt-text">
          {outcome !== "accepted" && <strong>{title}. </strong>}
          {text}
        </p>
      )}
      {conversations.length === 0 && reason !== null && <p className="attempt-reason">{reason}</p>}
      {conversations.map((conversation, i) => (
        <ConversationView key={i} conversation={conversation} />
      ))}
    </section>
  );
}

function ConversationView({ conversation }: { conversation: Conversation }) {
  const { host, address, port, tls, reused, steps } = conversation;
  const failed = steps.findLast((step, i) => isFailed(step, i === steps.length - 1));
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
      <Steps steps={steps} />
      {failed !== undefined && <p className="explained">{explainReply(failed)}</p>}
    </div>
  );
}

function tlsText({ tls, address }: Conversation): string {
  if (address === null) return "";
  if (tls === null) return "not encrypted";
  return tls.verified ? `${tls.version}, certificate verified` : tls.version;
}

/** Each line with the time since the conversation began. */
function Steps({ steps }: { steps: readonly Step[] }) {
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
function ReplyText({ step: { step, text } }: { step: Step }) {
  const [first = "", ...extensions] = text.split("\n");
  if (text === "") return step;
  if (step !== "ehlo" || extensions.length === 0) return text;
  return (
    <>
      {first} <span className="step-more">{extensions.join(", ")}</span>
    </>
  );
}

/** A step without a code, such as the connection, failed only if the conversation ended with it. */
const isFailed = ({ code }: Step, isLast: boolean): boolean =>
  code === null ? isLast : code >= 400;

function toneOf(step: Step, isLast: boolean): string | undefined {
  if (!isFailed(step, isLast)) return undefined;
  return step.code !== null && step.code < 500 ? "held" : "failed";
}

function msText(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  return ms < 60_000 ? `${(ms / 1_000).toFixed(1)} s` : `${Math.round(ms / 60_000)} min`;
}
