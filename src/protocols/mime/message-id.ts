/** Message-ID `<uuid@sender-domain>` (docs/delivery.md#C3), fixed at acceptance: it is the email's id. */

import { domainOf } from "./address.ts";

export function messageIdOf(emailId: string, fromAddress: string): string {
  return `<${emailId}@${domainOf(fromAddress)}>`;
}
