/**
 * The reason why an email did not arrive, above its tabs: the class of the failure and the next
 * step.
 */

import type { Email } from "../../../modules/emails/record-model.ts";
import type { Tone } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { adviceFor, explainClass, type Explained } from "../../ui/message/explain.ts";
import { waitWords } from "../../ui/message/wait-texts.ts";
import { PathLink } from "../../ui/path-link.tsx";
import { useProject } from "../../state.ts";
import { reasonLabel } from "../suppressions/reasons.ts";

export function Outcome({ email }: { email: Email }) {
  const project = useProject()?.id ?? "";
  if (!hasOutcome(email)) return <WaitNotice email={email} />;
  const { status, nextAttemptAt } = email;
  const isDeferred = isWaiting(email);
  const { title, text } = explain(email);
  const reply = reasonLabel(email.reports.at(-1)?.reason ?? email.lastError ?? "");
  return (
    <div className="outcome" data-tone={isDeferred ? "held" : TONES[status]}>
      <p>
        <strong>{title}.</strong> {text}
      </p>
      {reply !== "" && <p className="outcome-reply">{reply}</p>}
      {status === "BOUNCED" && <p>{adviceFor(causeOf(email) ?? "")}</p>}
      {status === "SUPPRESSED" && email.to !== null && (
        <PathLink path={`/p/${project}/suppressions?address=${encodeURIComponent(email.to)}`}>
          Why the address is suppressed
        </PathLink>
      )}
      {isDeferred && nextAttemptAt !== null && (
        <p>
          Next attempt: <Time at={nextAttemptAt} as="due" />.
        </p>
      )}
    </div>
  );
}

/** The reason why an email waits that was not attempted yet. */
function WaitNotice({ email: { wait, source } }: { email: Email }) {
  if (wait === null) return null;
  if (wait.cause === "QUEUE") {
    // Any other mail leaves before a reader would have read the notice.
    if (source !== "CAMPAIGN") return null;
    return (
      <div className="outcome" data-tone="waiting">
        <strong>It waits in the queue.</strong> The mails of a campaign leave one after another, at
        the rate of the campaign and behind all other mail.
      </div>
    );
  }
  const { waits, text } = waitWords(wait);
  return (
    <div className="outcome" data-tone="held">
      <p>
        <strong>
          <bdi>{`It waits ${waits}.`}</bdi>
        </strong>{" "}
        <bdi>{text}</bdi>
      </p>
      {wait.until !== null && (
        <p>
          Next attempt: <Time at={wait.until} as="due" />.
        </p>
      )}
    </div>
  );
}

/** Whether the email was refused or reported, or was deferred and is tried again. */
export const hasOutcome = (email: Email): boolean =>
  TONES[email.status] !== undefined || isWaiting(email);

const isWaiting = ({ status, attempts }: Email): boolean =>
  status === "QUEUED" && attempts.at(-1)?.outcome === "deferred";

const TONES: Readonly<Record<string, Tone | undefined>> = {
  BOUNCED: "failed",
  FAILED: "failed",
  SUPPRESSED: "held",
  COMPLAINED: "complained",
};

const causeOf = ({ reports, attempts }: Email): string | undefined =>
  reports.at(-1)?.class ?? attempts.at(-1)?.class;

/** A report that arrived later says more than the attempt, which was accepted. */
function explain(email: Email): Explained {
  const { status } = email;
  const cause = causeOf(email);
  const plain = PLAIN[status];
  if (plain !== undefined) return plain;
  return cause === undefined ? OTHER : explainClass(cause);
}

const PLAIN: Readonly<Record<string, Explained>> = {
  SUPPRESSED: {
    title: "Suppressed",
    text: "The project sends no mail to this address.",
  },
  COMPLAINED: {
    title: "Reported as spam",
    text: "The recipient reported the mail, so the project sends no further mail to the address.",
  },
};
const OTHER = { title: "Not sent", text: "No mail server was asked." };
