/** Key pairs for tests: made once a process, since an RSA key takes a tenth of a second. */

import { type DkimKeyPair, generateDkimKeys } from "../../src/mail/dkim-keys.ts";

let pairs: Promise<DkimKeyPair[]> | null = null;

/** The same pairs, RSA first, whenever it is asked. */
export function dkimPairs(): Promise<DkimKeyPair[]> {
  pairs ??= generateDkimKeys();
  return pairs;
}

/** The message without its signatures, which name the time at which they were made. */
export function withoutSignatures(message: string): string {
  return message.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/gim, "");
}
