/** The public form of a domain: its expected DNS records and the findings of the latest check. */

import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { adviceFor, type Finding, findingFor, parseFindings } from "./findings.ts";
import type { Domain } from "./model.ts";
import type { ExpectedRecord } from "./records.ts";
import type { DomainRow } from "./domains.ts";

/** The reason why a domain is not verified although its records are in the DNS. */
const TAKEN = " Another project of this server has this domain verified: remove it there first.";

type Shown = {
  records: readonly ExpectedRecord[];
  /** Another project has the domain verified. */
  isTaken: boolean;
};

type PresentDomain = (row: DomainRow, shown: Shown) => Domain;

/** Returns `presentDomain`. The list of public suffixes, which takes 4 ms and 6 MiB, is loaded now. */
export async function loadPresentDomain(): Promise<PresentDomain> {
  const { hostInZone } = await import("./name.ts");
  return (row, shown) => presentDomain(row, shown, hostInZone);
}

/** The host of a record in the zone of its domain. */
type HostInZone = (name: string, domain: string) => string;

function presentDomain(
  row: DomainRow,
  { records, isTaken }: Shown,
  hostInZone: HostInZone,
): Domain {
  const findings = parseFindings(row.findings);
  return {
    id: row.id,
    domain: row.domain,
    status: row.status,
    verified: row.status === "VERIFIED",
    records: records.map((record) => {
      const host = hostInZone(record.name, row.domain);
      const shown = presentRecord(record, findingFor(record, findings), host);
      return isTaken && record.required ? { ...shown, note: shown.note + TAKEN } : shown;
    }),
    verifiedAt: isoTimeOrNull(row.verifiedAt),
    lastCheckedAt: isoTimeOrNull(row.lastCheckedAt),
    failingSince: isoTimeOrNull(row.failingSince),
    createdAt: isoTime(row.createdAt),
  };
}

function presentRecord(
  record: ExpectedRecord,
  finding: Finding | undefined,
  host: string,
): Domain["records"][number] {
  const { purpose, type, name, required } = record;
  const { value, note } = adviceFor(record, finding);
  return {
    purpose,
    type,
    name,
    host,
    value,
    required,
    status: finding?.status ?? "PENDING",
    found: finding?.found ?? [],
    note,
  };
}
