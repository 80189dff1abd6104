/** The columns of the list of sources of reports, and their state. */

import type { ReportSource } from "../../../modules/relay-reports/model.ts";
import { Status } from "../../ui/status.tsx";
import { GUIDES } from "./guides.tsx";
import { reportColumns, reportLines } from "./report-columns.tsx";

export const SOURCE_COLUMNS = reportColumns<ReportSource>({
  nameTitle: "Provider",
  name: (source) => <Name {...source} />,
  lastTitle: "Last report",
  lastAt: ({ lastReceivedAt }) => lastReceivedAt,
  receivedTitle: "Received",
  unknownTitle: "Unknown",
  state: (source) => <SourceStatus {...source} />,
});

export const sourceLines = (source: ReportSource) =>
  reportLines(source, {
    name: <Name {...source} />,
    state: <SourceStatus {...source} />,
    lastAt: source.lastReceivedAt,
    before: "No report yet",
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

export function SourceStatus(source: ReportSource) {
  const { needsSigningKey, refusal, lastReceivedAt } = source;
  if (needsSigningKey) return <Status tone="held">Key missing</Status>;
  if (refusal !== null) return <Status tone="failed">Last one refused</Status>;
  if (lastReceivedAt === null) return <Status tone="waiting">No report yet</Status>;
  return <Status tone="good">Active</Status>;
}
