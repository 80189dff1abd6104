/** The columns of the list of sources of reports, and their state. */

import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";
import { GUIDES } from "./guides.tsx";

const number = new Intl.NumberFormat();

export const SOURCE_COLUMNS: readonly Column<ReportSource>[] = [
  { key: "name", title: "Provider", render: (source) => <Name {...source} /> },
  {
    key: "last",
    title: "Last report",
    width: "136px",
    render: ({ lastReceivedAt }) => <LastReport at={lastReceivedAt} />,
  },
  {
    key: "received",
    title: "Received",
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
    title: "Unknown",
    width: "104px",
    isFigure: true,
    render: ({ unknown }) => number.format(unknown),
  },
  {
    key: "state",
    title: "State",
    width: "196px",
    render: (source) => <SourceStatus {...source} />,
  },
];

/** The two lines of a row on phones. */
export const sourceLines = (source: ReportSource) => ({
  first: (
    <span className="line">
      <span className="cut">
        <Name {...source} />
      </span>
      <SourceStatus {...source} />
    </span>
  ),
  second:
    source.lastReceivedAt === null ? (
      "No report yet"
    ) : (
      <>
        {number.format(source.counted)} of {number.format(source.received)} counted ·{" "}
        <Time at={source.lastReceivedAt} isPlain />
      </>
    ),
});

/** The name of the source, and that of its provider where it is another one. */
function Name({ name, provider }: ReportSource) {
  const { name: known } = GUIDES[provider];
  return (
    <span title={name === known ? name : `${name}, ${known}`}>
      <strong className="report-name">{name}</strong>
      {name !== known && <span className="muted small"> {known}</span>}
    </span>
  );
}

function LastReport({ at }: { at: string | null }) {
  return at === null ? <span className="muted">Never</span> : <Time at={at} isPlain />;
}

export function SourceStatus(source: ReportSource) {
  const { needsSigningKey, refusal, lastReceivedAt } = source;
  if (needsSigningKey) return <Status tone="held">Key missing</Status>;
  if (refusal !== null) return <Status tone="failed">Last one refused</Status>;
  if (lastReceivedAt === null) return <Status tone="waiting">No report yet</Status>;
  return <Status tone="good">Active</Status>;
}
