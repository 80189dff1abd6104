/** Looks up whether the mail of a domain comes to this server. */

import { AppError } from "../../lib/errors.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import { createDnsCheck } from "./dns-check.ts";
import type { Finding } from "./findings.ts";
import { mxRecord } from "./records.ts";

/** `status` is OK if this server is the first host of the domain; `found` has its MX records. */
type FindMx = (domain: string) => Promise<Pick<Finding, "status" | "found">>;

/** Returns the function. It throws 409 if the look-up fails. */
export function createMxLookup(dns: Dns, hostname: string): FindMx {
  const check = createDnsCheck(dns);
  return async (domain) => {
    const [result] = await check(domain, [mxRecord(domain, hostname)]);
    if (result === undefined) throw new Error("a DNS check had no result");
    if (result.finding === null) throw notLookedUp(domain, result.reason);
    return result.finding;
  };
}

function notLookedUp(domain: string, reason: string): AppError {
  const message = `The MX record of ${domain} could not be looked up: ${reason}`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Repeat the request when the name servers of the domain answer.",
  });
}
