/** The error for a sender whose domain is not verified. */

import { AppError } from "../../lib/errors.ts";

export function senderNotVerified(domain: string): AppError {
  const message = `The sender's domain ${domain} is not a verified domain of this project.`;
  return new AppError(403, "DOMAIN_NOT_VERIFIED", message, {
    suggestion:
      `Add it with: mailstead domain add ${domain} — or, if it was added already, list its ` +
      `missing DNS records: mailstead domain verify ${domain}`,
  });
}
