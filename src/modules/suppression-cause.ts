/** The mail whose bounce or complaint is the cause of a suppression, and the report about it. */

import type { App } from "../core/app.ts";
import { statement } from "../db/statement.ts";
import { isoTimeOrNull } from "../lib/clock.ts";

type CauseRow = {
  emailId: string;
  reportedAt: number | null;
  reportReason: string | null;
  lastError: string | null;
};

const findCause = statement<CauseRow, [string, number]>(`
  SELECT emails.id AS emailId, reports.received_at AS reportedAt, reports.reason AS reportReason,
         emails.last_error AS lastError
  FROM emails
  LEFT JOIN email_reports AS reports ON reports.email_seq = emails.seq AND reports.kind = +?
  WHERE emails.seq = +?`);

/** Null if a caller suppressed the address, or if the mail is not stored any more. */
export function suppressionCause(
  app: App,
  { reason, emailSeq }: { reason: string; emailSeq: number | null },
) {
  if (emailSeq === null) return null;
  const found = findCause(app).get(reason === "COMPLAINT" ? "COMPLAINT" : "BOUNCE", emailSeq);
  if (found === null) return null;
  const { emailId, reportedAt, reportReason, lastError } = found;
  const words = reportReason ?? lastError;
  return { emailId, reportedAt: isoTimeOrNull(reportedAt), reason: words === "" ? null : words };
}
