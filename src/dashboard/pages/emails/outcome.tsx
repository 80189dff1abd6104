/** Why an email was not accepted, above its tabs: the class of the failure and what happens next. */

import type { Email } from "../../../modules/emails/record-model.ts";
import type { Tone } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { explainClass } from "../../ui/message/explain.ts";

export function Outcome({ email }: { email: Email }) {
  const { status, lastError, attempts, nextAttemptAt } = email;
  const last = attempts.at(-1);
  const isDeferred = isWaiting(email);
  if (!hasOutcome(email)) return null;
  const tone = isDeferred ? "held" : TONES[status];
  const { title, text } = last === undefined ? (PLAIN[status] ?? OTHER) : explainClass(last.class);
  return (
    <div className="outcome" data-tone={tone}>
      <p>
        <strong>{title}.</strong> {text}
      </p>
      {lastError !== null && <p className="outcome-reply">{lastError}</p>}
      {isDeferred && nextAttemptAt !== null && (
        <p>
          Next attempt: <Time at={nextAttemptAt} />.
        </p>
      )}
    </div>
  );
}

/** Whether the email was refused, or deferred and is tried again. */
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

/** For mails without an attempt. */
const PLAIN: Readonly<Record<string, { title: string; text: string }>> = {
  SUPPRESSED: {
    title: "Suppressed",
    text: "The project sends no mail to this address; see Suppressions for the reason.",
  },
};
const OTHER = { title: "Not sent", text: "No mail server was asked." };
