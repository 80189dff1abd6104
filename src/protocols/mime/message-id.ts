/**
 * The Message-ID `<uuid@sender-domain>` (docs/delivery.md#C3). The uuid is the id of the email, so
 * it is the same in every attempt.
 */

import { domainOf } from "./address.ts";

export function messageIdOf(emailId: string, fromAddress: string): string {
  return `<${emailId}@${domainOf(fromAddress)}>`;
}
