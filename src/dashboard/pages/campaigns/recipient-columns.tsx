/** The columns of the recipients of a campaign. */

import type { Recipient } from "../../../modules/campaigns/results-model.ts";
import type { CsvColumn } from "../../ui/csv.ts";
import { columnsOf } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { latestOf, recipientDetail } from "./recipient-detail.ts";

export const RECIPIENT_COLUMNS: readonly Column<Recipient>[] = [
  { key: "email", title: "Recipient", width: "30%", render: (row) => <Address {...row} /> },
  {
    key: "status",
    title: "Status",
    width: "140px",
    render: ({ status }) => <Status value={status} />,
  },
  {
    key: "detail",
    title: "Links clicked, or why it was not delivered",
    render: (row) => <Detail {...row} />,
  },
  {
    key: "time",
    title: "Latest",
    width: "132px",
    isFigure: true,
    render: (row) => <Time at={latestOf(row)} isPlain />,
  },
];

export const RECIPIENT_CSV: readonly CsvColumn<Recipient>[] = [
  ...columnsOf<Recipient>([
    "email",
    "contactId",
    "emailId",
    "status",
    "sentAt",
    "openedAt",
    "clickedAt",
    "bouncedAt",
    "complainedAt",
  ]),
  { name: "links", value: ({ links }) => links.join(" ") },
  ...columnsOf<Recipient>(["lastError"]),
];

/** The two lines of a row on phones. */
export const recipientLines = (row: Recipient) => ({
  first: (
    <span className="line">
      <span className="cut">
        <Address {...row} />
      </span>
      <Status value={row.status} />
    </span>
  ),
  second: (
    <span className="line">
      <span className="cut">{recipientDetail(row) || "–"}</span>
      <Time at={latestOf(row)} isPlain />
    </span>
  ),
});

function Address({ email }: Pick<Recipient, "email">) {
  return email === null ? (
    <span className="muted">Deleted contact</span>
  ) : (
    <bdi title={email}>{email}</bdi>
  );
}

function Detail(row: Recipient) {
  const text = recipientDetail(row);
  return (
    <span className="muted" title={text}>
      {text}
    </span>
  );
}
