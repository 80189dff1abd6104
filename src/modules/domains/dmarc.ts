/** Recognises DMARC records (RFC 7489) and whether receivers find a policy in them. Pure. */

const VERSION = /^v[ \t]*=[ \t]*DMARC1[ \t]*(?:;|$)/;
const POLICY = /^(?:none|quarantine|reject)$/i;
const REPORT_ADDRESS = /^[a-z][a-z0-9+.-]*:\S+$/i;

export function isDmarcRecord(record: string): boolean {
  return VERSION.test(record);
}

/**
 * True if the record has a policy. One without a valid policy counts as p=none if it asks for
 * reports, and is ignored otherwise (RFC 7489 §6.6.3).
 */
export function hasPolicy(record: string): boolean {
  const tags = readTags(record);
  const subdomains = tags.get("sp");
  const isValid =
    POLICY.test(tags.get("p") ?? "") && (subdomains === undefined || POLICY.test(subdomains));
  return isValid || asksForReports(tags.get("rua") ?? "");
}

function asksForReports(addresses: string): boolean {
  return addresses.split(",").some((address) => REPORT_ADDRESS.test(address.trim()));
}

function readTags(record: string): Map<string, string> {
  return new Map(
    record.split(";").map((tag) => {
      const [name = "", ...value] = tag.split("=");
      return [name.trim().toLowerCase(), value.join("=").trim()];
    }),
  );
}
