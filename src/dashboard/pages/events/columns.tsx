/** The columns of the list of events, on the page and in CSV. */

import type { Event } from "../../../modules/events/model.ts";
import { columnsOf, type CsvColumn } from "../../ui/csv.ts";
import type { Column } from "../../ui/data-table.tsx";
import { jsonLine } from "../../ui/json-nodes.ts";
import { Time } from "../../ui/time.tsx";

export const EVENT_COLUMNS: readonly Column<Event>[] = [
  {
    key: "name",
    title: "Event",
    width: "26%",
    render: ({ name }) => <span title={name}>{name}</span>,
  },
  {
    key: "contact",
    title: "Contact",
    width: "26%",
    render: ({ contactEmail }) => <span title={contactEmail ?? ""}>{contactEmail ?? "–"}</span>,
  },
  {
    key: "data",
    title: "Data",
    render: ({ data }) => <span className="muted event-data">{jsonLine(data)}</span>,
  },
  {
    key: "time",
    title: "Time",
    width: "136px",
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const eventLines = ({ name, contactEmail, createdAt }: Event) => ({
  first: name,
  second: (
    <>
      <Time at={createdAt} isPlain />
      {contactEmail !== null && ` · ${contactEmail}`}
    </>
  ),
});

export const EVENT_CSV: readonly CsvColumn<Event>[] = columnsOf<Event>([
  "id",
  "name",
  "contactId",
  "contactEmail",
  "emailId",
  "data",
  "createdAt",
]);
