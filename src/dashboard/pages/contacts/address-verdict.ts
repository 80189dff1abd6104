/** The findings about an address in words. */

import type { Verification } from "../../../modules/verification/verification.ts";
import type { Tone } from "../../ui/status.tsx";

export type AddressVerdict = { tone: Tone; word: string; text: string };

/** A finding that does not make mail impossible counts less than one that does. */
export function addressVerdict(found: Verification): AddressVerdict {
  const { valid, isTypo, isDisposable, isAlias, domainExists, hasMxRecords, hasWebsite } = found;
  if (!valid) {
    return { tone: "failed", word: "Invalid", text: "Mail to this address cannot arrive." };
  }
  if (isTypo) {
    return { tone: "held", word: "Probably misspelt", text: "The domain looks like a known one." };
  }
  if (isDisposable) {
    return {
      tone: "held",
      word: "Disposable",
      text: "The mailbox exists for a short time only, so its owner will not read later mail.",
    };
  }
  if (domainExists && !hasMxRecords && !hasWebsite) {
    return { tone: "waiting", word: "Not known", text: "The DNS did not answer. Try again later." };
  }
  if (isAlias) {
    return { tone: "good", word: "Valid", text: "Mail can arrive, by a service that forwards it." };
  }
  return {
    tone: "good",
    word: "Valid",
    text: "The address is well formed and its domain accepts mail. Only a mail shows whether the mailbox exists.",
  };
}
