/** DKIM key pairs for tests, generated once per process: an RSA key takes a tenth of a second. */

import { type DkimKeyPair, generateDkimKeys } from "../../src/protocols/dkim/keys.ts";

let pairs: Promise<DkimKeyPair[]> | null = null;

/** Returns the key pairs, RSA first; every call returns the same pairs. */
export function dkimPairs(): Promise<DkimKeyPair[]> {
  pairs ??= generateDkimKeys();
  return pairs;
}

/** Returns the message without its DKIM signatures, which contain the time of signing. */
export function withoutSignatures(message: string): string {
  return message.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/gim, "");
}
