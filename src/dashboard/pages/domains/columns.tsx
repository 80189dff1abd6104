/** The columns of the list of domains. */

import type { Domain } from "../../../modules/domains/model.ts";
import type { Column } from "../../ui/data-table.tsx";
import { Status } from "../../ui/status.tsx";
import { Time } from "../../ui/time.tsx";

export const DOMAIN_COLUMNS: readonly Column<Domain>[] = [
  { key: "domain", title: "Domain", render: ({ domain }) => <span title={domain}>{domain}</span> },
  {
    key: "status",
    title: "State",
    width: "150px",
    render: (domain) => <DomainStatus {...domain} />,
  },
  {
    key: "records",
    title: "Records found",
    width: "130px",
    isFigure: true,
    render: (domain) => recordsText(domain),
  },
  {
    key: "checked",
    title: "Last check",
    width: "120px",
    render: ({ lastCheckedAt }) => <Time at={lastCheckedAt} isPlain />,
  },
  {
    key: "created",
    title: "Added",
    width: "144px",
    render: ({ createdAt }) => <Time at={createdAt} isPlain />,
  },
];

/** The two lines of a row on phones. */
export const domainLines = (domain: Domain) => ({
  first: (
    <span className="line">
      <span className="cut">{domain.domain}</span>
      <DomainStatus {...domain} />
    </span>
  ),
  second: `${recordsText(domain)} records found`,
});

/** "3 of 4". */
export function recordsText({ records }: Pick<Domain, "records">): string {
  const found = records.filter(({ status }) => status === "OK").length;
  return `${found} of ${records.length}`;
}

/** A verified domain whose key is missing now still sends for a while, and says so. */
export function DomainStatus({ status, failingSince }: Pick<Domain, "status" | "failingSince">) {
  if (status === "VERIFIED" && failingSince !== null) {
    return <Status tone="held">Key missing</Status>;
  }
  return <Status value={status} />;
}
