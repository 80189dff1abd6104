/** Publishes the DNS records of a domain in a test name server, as its owner would. */

import type { TestRecords } from "./dns-server.ts";
import { valueAt, listAt, stringAt } from "./json.ts";

/**
 * Adds `records`, in the format of the API, to `zone`. TXT values are split into strings of 255 octets,
 * as the web interfaces of DNS providers do.
 */
export function publish(zone: Record<string, TestRecords>, records: readonly unknown[]): void {
  for (const record of records) {
    const name = stringAt(record, "name");
    const value = stringAt(record, "value");
    const added: TestRecords =
      stringAt(record, "type") === "TXT"
        ? { TXT: [value.match(/.{1,255}/g) ?? []] }
        : { MX: [value] };
    zone[name] = { ...zone[name], ...added };
  }
}

/** Returns `purpose type status` of each record of a domain, in order. */
export function statuses(domain: unknown): string[] {
  return listAt(domain, "records").map((record) =>
    ["purpose", "type", "status"].map((name) => String(valueAt(record, name))).join(" "),
  );
}
