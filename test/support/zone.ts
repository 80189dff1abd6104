/** Puts the records that a domain should have into a test name server, as its owner would. */

import type { TestRecords } from "./dns-server.ts";
import { at, listAt, textAt } from "./json.ts";

/** `records` as the interface shows them. DNS panels cut long texts into strings of 255 octets. */
export function publish(zone: Record<string, TestRecords>, records: readonly unknown[]): void {
  for (const record of records) {
    const name = textAt(record, "name");
    const value = textAt(record, "value");
    const added: TestRecords =
      textAt(record, "type") === "TXT"
        ? { TXT: [value.match(/.{1,255}/g) ?? []] }
        : { MX: [value] };
    zone[name] = { ...zone[name], ...added };
  }
}

/** Status of each record, by purpose and type, in order. */
export function statuses(domain: unknown): string[] {
  return listAt(domain, "records").map((record) =>
    ["purpose", "type", "status"].map((name) => String(at(record, name))).join(" "),
  );
}
