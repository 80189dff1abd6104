/** DKIM key pairs for tests. They are stored, because to generate an RSA key may take seconds. */

import type { DkimKeyPair } from "../../src/protocols/dkim/keys.ts";
import stored from "../fixtures/dkim-keys.json";

const ALGORITHMS = ["rsa-sha256", "ed25519-sha256"] as const;
const PAIRS: DkimKeyPair[] = ALGORITHMS.map((algorithm, i) => ({
  algorithm,
  publicKey: stored[i]?.publicKey ?? "",
  privateKey: Buffer.from(stored[i]?.privateKey ?? "", "base64"),
}));

/** Returns the key pairs, RSA first. */
export function dkimPairs(): Promise<DkimKeyPair[]> {
  return Promise.resolve(PAIRS);
}

/** Returns the message without its DKIM signatures, which contain the time of signing. */
export function withoutSignatures(message: string): string {
  return message.replace(/^DKIM-Signature:.*\r\n(?:[ \t].*\r\n)*/gim, "");
}
