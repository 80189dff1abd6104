/** What whoever may not send from a domain is told. */

import { AppError } from "../../lib/errors.ts";

export function senderNotVerified(domain: string): AppError {
  const message = `The sender's domain ${domain} is not a verified domain of this project.`;
  return new AppError(403, "DOMAIN_NOT_VERIFIED", message, {
    suggestion:
      `Add it with: mailstead domain add ${domain} — or, if it is there already, see what its ` +
      `DNS lacks: mailstead domain verify ${domain}`,
  });
}
