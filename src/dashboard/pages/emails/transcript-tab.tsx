/** Each attempt to deliver an email: its time, its server, and the lines of both sides. */

import type { Attempt, Email, EmailReport } from "../../../modules/emails/record-model.ts";
import { ConversationView, msText } from "../../ui/message/conversation.tsx";
import { explainClass, OUTCOMES } from "../../ui/message/explain.ts";
import { Status } from "../../ui/status.tsx";
import { exactTime, Time } from "../../ui/time.tsx";
import { hasOutcome } from "./outcome.tsx";

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
          isExplained={
            attempt !== attempts.at(-1) || attempt.outcome === "accepted" || !hasOutcome(email)
          }
        />
      ))}
      {email.reports.map((report, i) => (
        <ReportView key={i} report={report} />
      ))}
      {nextAttemptAt !== null && attempts.length > 0 && (
        <p className="next-attempt">
          The next attempt is due <Time at={nextAttemptAt} as="due" />, at{" "}
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
  const { title, text } = isCaptured(attempt) ? CAPTURED : explainClass(attempt.class);
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

const REPORT_STATES = {
  BOUNCE: { tone: "failed", word: "Bounce" },
  COMPLAINT: { tone: "complained", word: "Complaint" },
  DELIVERY: { tone: "good", word: "Delivery" },
} as const;

/** Reports of another server after it had accepted the mail. */
function ReportView({ report }: { report: EmailReport }) {
  const { kind, receivedAt, class: cause, reportingMta, excerpt } = report;
  const { tone, word } = REPORT_STATES[kind];
  return (
    <section className="attempt" aria-label="Report">
      <header className="attempt-head">
        <h3>Report</h3>
        <Status tone={tone}>{word}</Status>
        <span className="muted small attempt-time">{exactTime(new Date(receivedAt))}</span>
      </header>
      <p className="attempt-text">
        {cause !== null && <strong>{explainClass(cause).title}. </strong>}
        {reportText(report)}
        {reportingMta !== null && <span className="muted"> Reported by {reportingMta}.</span>}
      </p>
      {excerpt !== "" && (
        <pre className="excerpt" tabIndex={0} role="region" aria-label="Excerpt of the report">
          {excerpt}
        </pre>
      )}
    </section>
  );
}

/** The reason, with the status code unless the reason names it. */
function reportText({ statusCode, reason }: EmailReport): string {
  if (statusCode === null || reason.includes(statusCode)) return reason;
  return `${statusCode} ${reason}`.trim();
}

/** The transport that captures mail talks to no server. */
const isCaptured = ({ outcome, conversations }: Attempt): boolean =>
  outcome === "accepted" && conversations.length === 0;

const CAPTURED = {
  title: "Captured",
  text: "The mail was captured: it is stored here and did not leave this server.",
};
