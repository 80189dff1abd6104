/** Looks up whether the mail of a domain comes to this server. */

import type { App } from "../../core/app.ts";
import { AppError } from "../../lib/errors.ts";
import { checkDns } from "./dns-check.ts";
import type { Finding } from "./findings.ts";
import { mxRecord } from "./records.ts";

/**
 * `status` is OK if this server is the first host of the domain; `found` has its MX records. Throws 409
 * if the look-up fails.
 */
export async function findMx(
  { dns, config }: Pick<App, "dns" | "config">,
  domain: string,
): Promise<Pick<Finding, "status" | "found">> {
  const [result] = await checkDns(dns, domain, [mxRecord(domain, config.hostname)]);
  if (result === undefined) throw new Error("a DNS check had no result");
  if (result.finding === null) throw notLookedUp(domain, result.reason);
  return result.finding;
}

function notLookedUp(domain: string, reason: string): AppError {
  const message = `The MX record of ${domain} could not be looked up: ${reason}`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Repeat the request when the name servers of the domain answer.",
  });
}
