/** Checks that a project may receive the mail of a domain, before a route is added. */

import type { Config } from "../../config/settings.ts";
import { AppError } from "../../lib/errors.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import type { Domains } from "../domains/service.ts";

export type CheckRoute = (projectSeq: number, address: string) => Promise<void>;

/**
 * Returns a function that throws 409 unless the domain of the address, or a domain above it, is
 * verified in the project, and its mail goes to this server first.
 */
export function createRouteCheck(deps: {
  config: Pick<Config, "inbound" | "hostname">;
  domains: Pick<Domains, "ownerOf" | "isBounceHost">;
  findMx: (domain: string) => Promise<{ status: string; found: readonly string[] }>;
}): CheckRoute {
  const { config, domains } = deps;

  return async (projectSeq, address) => {
    const domain = domainOf(address);
    if (config.inbound === null) throw notListening();
    if (domain === config.hostname.toLowerCase() || domains.isBounceHost(domain)) {
      throw reserved(domain);
    }
    if (domains.ownerOf(domain)?.projectSeq !== projectSeq) throw notVerified(domain);
    const { status, found } = await deps.findMx(domain);
    if (status !== "OK") throw mxElsewhere({ domain, found, hostname: config.hostname });
  };
}

function notListening(): AppError {
  return new AppError(409, "CONFLICT", "This server receives no mail from other servers.", {
    suggestion: "Start it with --inbound HOST:PORT, usually --inbound 0.0.0.0:25.",
  });
}

function reserved(domain: string): AppError {
  const message = `${domain} is reserved for bounces and for the postmaster of this server.`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: "Choose another host name below your domain, such as in.<domain>.",
  });
}

function notVerified(domain: string): AppError {
  const message = `Neither ${domain} nor a domain above it is a verified domain of this project.`;
  return new AppError(403, "DOMAIN_NOT_VERIFIED", message, {
    suggestion:
      "Add it with POST /domains, and publish its DKIM record, which proves that it is yours.",
  });
}

function mxElsewhere(mx: { domain: string; found: readonly string[]; hostname: string }): AppError {
  const { domain, found, hostname } = mx;
  const published = found.length === 0 ? "it has no MX record" : `found: ${found.join(", ")}`;
  const message = `The mail of ${domain} does not come to this server first (${published}).`;
  return new AppError(409, "CONFLICT", message, {
    suggestion: `Publish this record, then add the route again: ${domain}. MX 10 ${hostname}.`,
  });
}
