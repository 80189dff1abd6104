/** The columns of the list of mailboxes, and their state. */

import type { ReportMailbox } from "../../../modules/report-mailboxes/model.ts";
import { Status } from "../../ui/status.tsx";
import { reportColumns, reportLines } from "./report-columns.tsx";

export const MAILBOX_COLUMNS = reportColumns<ReportMailbox>({
  nameTitle: "Mailbox",
  name: (mailbox) => <Name {...mailbox} />,
  lastTitle: "Last read",
  lastAt: ({ lastFetchedAt }) => lastFetchedAt,
  receivedTitle: "Read",
  unknownTitle: "Other mail",
  state: (mailbox) => <MailboxStatus {...mailbox} />,
});

export const mailboxLines = (mailbox: ReportMailbox) =>
  reportLines(mailbox, {
    name: <strong className="report-name">{mailbox.name}</strong>,
    state: <MailboxStatus {...mailbox} />,
    lastAt: mailbox.lastFetchedAt,
    before: mailbox.host,
  });

function Name({ name, host }: ReportMailbox) {
  return (
    <span title={`${name}, ${host}`}>
      <strong className="report-name">{name}</strong> <span className="muted small">{host}</span>
    </span>
  );
}

/** Whether neither a success nor a failure of reading it is known. */
export const isNew = ({ failure, lastFetchedAt }: ReportMailbox): boolean =>
  failure === null && lastFetchedAt === null;

export function MailboxStatus(mailbox: ReportMailbox) {
  if (mailbox.failure !== null) return <Status tone="failed">Cannot be read</Status>;
  if (isNew(mailbox)) return <Status tone="waiting">Being read</Status>;
  return <Status tone="good">Active</Status>;
}
