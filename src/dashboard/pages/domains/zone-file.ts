/** The DNS records of a domain as lines of a zone file (RFC 1035 §5.1). */

import type { DnsRecord } from "./record-texts.ts";

/** The longest character string of a TXT record in bytes (RFC 1035 §3.3). */
const LONGEST_STRING = 255;

/** Records without a value, for which none can be advised, are left out. */
export function zoneFile(records: readonly Pick<DnsRecord, "type" | "name" | "value">[]): string {
  return records
    .filter(({ value }) => value !== "")
    .map(({ type, name, value }) => {
      const content = type === "TXT" ? quoted(value) : absolute(value);
      return `${name}. 3600 IN ${type} ${content}`;
    })
    .join("\n");
}

/** A text of any length as quoted strings of at most 255 bytes. The values are ASCII. */
function quoted(text: string): string {
  const strings: string[] = [];
  for (let start = 0; start < text.length; start += LONGEST_STRING) {
    strings.push(`"${text.slice(start, start + LONGEST_STRING).replace(/["\\]/g, "\\$&")}"`);
  }
  return strings.join(" ");
}

/** `10 mail.example.com` with the dot that ends a full name. */
const absolute = (value: string): string => (value.endsWith(".") ? value : `${value}.`);
