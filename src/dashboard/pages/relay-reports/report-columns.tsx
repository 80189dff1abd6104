/** Columns of both lists: that of the sources of reports and that of the mailboxes. */

import type { ReactNode } from "react";
import type { Column } from "../../ui/data-table.tsx";
import { Time } from "../../ui/time.tsx";

const number = new Intl.NumberFormat();

type Counts = { received: number; counted: number; unknown: number };

/** The titles and cells in which the two lists differ. */
type Shown<Row> = Record<"nameTitle" | "lastTitle" | "receivedTitle" | "unknownTitle", string> & {
  name: (row: Row) => ReactNode;
  lastAt: (row: Row) => string | null;
  state: (row: Row) => ReactNode;
};

export function reportColumns<Row extends Counts>(shown: Shown<Row>): readonly Column<Row>[] {
  const figure = (key: keyof Counts, title: string, width: string): Column<Row> => ({
    key,
    title,
    width,
    isFigure: true,
    render: (row) => number.format(row[key]),
  });
  return [
    { key: "name", title: shown.nameTitle, render: shown.name },
    {
      key: "last",
      title: shown.lastTitle,
      width: "116px",
      render: (row) => <LastTime at={shown.lastAt(row)} />,
    },
    figure("received", shown.receivedTitle, "92px"),
    figure("counted", "Counted", "92px"),
    figure("unknown", shown.unknownTitle, "104px"),
    { key: "state", title: "State", width: "196px", render: shown.state },
  ];
}

function LastTime({ at }: { at: string | null }) {
  return at === null ? <span className="muted">Never</span> : <Time at={at} isPlain />;
}

/** The two lines of a row on phones. `before` stands in the second one until there was a first time. */
export const reportLines = (
  { received, counted }: Counts,
  parts: { name: ReactNode; state: ReactNode; lastAt: string | null; before: string },
) => ({
  first: (
    <span className="line">
      <span className="cut">{parts.name}</span>
      {parts.state}
    </span>
  ),
  second:
    parts.lastAt === null ? (
      parts.before
    ) : (
      <>
        {number.format(counted)} of {number.format(received)} counted ·{" "}
        <Time at={parts.lastAt} isPlain />
      </>
    ),
});
