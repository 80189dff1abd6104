/** Checks that a project may receive the mail of a domain, before a route is added. */

import type { App } from "../../core/app.ts";
import { AppError } from "../../lib/errors.ts";
import { domainOf } from "../../protocols/mime/address.ts";
import { findDomainOwner, isBounceHost } from "../domains/domains.ts";
import { findMx } from "../domains/mx-lookup.ts";

/**
 * Throws 409 unless the domain of the address, or a domain above it, is verified in the project, and its
 * mail goes to this server first.
 */
export async function ensureMailComesHere(
  app: App,
  projectSeq: number,
  address: string,
): Promise<void> {
  const { config } = app;
  const domain = domainOf(address);
  if (config.inbound === null) throw notListening();
  if (domain === config.hostname.toLowerCase() || isBounceHost(app, domain)) {
    throw reserved(domain);
  }
  if (findDomainOwner(app, domain)?.projectSeq !== projectSeq) throw notVerified(domain);
  const { status, found } = await findMx(app, domain);
  if (status !== "OK") throw mxElsewhere({ domain, found, hostname: config.hostname });
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
