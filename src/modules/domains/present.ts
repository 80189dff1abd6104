/** The public form of a domain: its expected DNS records and the findings of the latest check. */

import { isoTime, isoTimeOrNull } from "../../lib/clock.ts";
import { adviceFor, type Finding, findingFor, parseFindings } from "./findings.ts";
import type { Domain } from "./model.ts";
import type { ExpectedRecord } from "./records.ts";
import type { DomainRow } from "./service.ts";

export function presentDomain(row: DomainRow, records: readonly ExpectedRecord[]): Domain {
  const findings = parseFindings(row.findings);
  return {
    id: row.id,
    domain: row.domain,
    status: row.status,
    verified: row.status === "VERIFIED",
    records: records.map((record) => presentRecord(record, findingFor(record, findings))),
    verifiedAt: isoTimeOrNull(row.verifiedAt),
    lastCheckedAt: isoTimeOrNull(row.lastCheckedAt),
    failingSince: isoTimeOrNull(row.failingSince),
    createdAt: isoTime(row.createdAt),
  };
}

function presentRecord(
  record: ExpectedRecord,
  finding: Finding | undefined,
): Domain["records"][number] {
  const { purpose, type, name, required } = record;
  const { value, note } = adviceFor(record, finding);
  return {
    purpose,
    type,
    name,
    value,
    required,
    status: finding?.status ?? "PENDING",
    found: finding?.found ?? [],
    note,
  };
}
