/** The columns of the list of mailboxes, and their state. */

import type { ReportMailbox } from "../../../modules/report-mailboxes/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

const number = new Intl.NumberFormat();

export const MAILBOX_COLUMNS: readonly Column<ReportMailbox>[] = [
  { key: "name", title: "Mailbox", render: (mailbox) => <Name {...mailbox} /> },
  {
    key: "last",
    title: "Last read",
    width: "136px",
    render: ({ lastFetchedAt }) =>
      lastFetchedAt === null ? (
        <span className="muted">Never</span>
      ) : (
        <Time at={lastFetchedAt} isPlain />
      ),
  },
  {
    key: "received",
    title: "Read",
    width: "104px",
    isFigure: true,
    render: ({ received }) => number.format(received),
  },
  {
    key: "counted",
    title: "Counted",
    width: "104px",
    isFigure: true,
    render: ({ counted }) => number.format(counted),
  },
  {
    key: "unknown",
    title: "Other mail",
    width: "104px",
    isFigure: true,
    render: ({ unknown }) => number.format(unknown),
  },
  {
    key: "state",
    title: "State",
    width: "196px",
    render: (mailbox) => <MailboxStatus {...mailbox} />,
  },
];

/** The two lines of a row on phones. */
export const mailboxLines = (mailbox: ReportMailbox) => ({
  first: (
    <span className="line">
      <span className="cut">
        <Name {...mailbox} />
      </span>
      <MailboxStatus {...mailbox} />
    </span>
  ),
  second:
    mailbox.lastFetchedAt === null ? (
      mailbox.host
    ) : (
      <>
        {number.format(mailbox.counted)} of {number.format(mailbox.received)} counted ·{" "}
        <Time at={mailbox.lastFetchedAt} isPlain />
      </>
    ),
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
