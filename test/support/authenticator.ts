/** A passkey in software: makes a key and signs challenges with it, as an authenticator does. */

import { createHash, generateKeyPairSync, randomBytes, sign } from "node:crypto";

type Options = { origin: string; rpId: string };
type Challenge = Partial<Options> & {
  challenge: string;
  /** The flags of the authenticator data: the user is present (1), and verified (4). */
  flags?: number;
  /** The counter of the authenticator; without it, the authenticator counts by itself. */
  counter?: number;
};

const PRESENT_AND_VERIFIED = 0x05;
const HAS_KEY = 0x40;

export type Authenticator = ReturnType<typeof createAuthenticator>;

const KEYS = {
  ec: () => generateKeyPairSync("ec", { namedCurve: "P-256" }),
  ed25519: () => generateKeyPairSync("ed25519"),
  rsa: () => generateKeyPairSync("rsa", { modulusLength: 2_048 }),
};

export function createAuthenticator(defaults: Options, kind: keyof typeof KEYS = "ec") {
  const { publicKey, privateKey } = KEYS[kind]();
  const id = randomBytes(16);
  let counted = 0;

  function clientData(type: string, { challenge, origin = defaults.origin }: Challenge): Buffer {
    return Buffer.from(JSON.stringify({ type, challenge, origin, crossOrigin: false }));
  }

  function authenticatorData(given: Challenge, extraFlags = 0): Buffer {
    const { rpId = defaults.rpId, flags = PRESENT_AND_VERIFIED, counter = ++counted } = given;
    const head = Buffer.alloc(5);
    head.writeUInt8(flags | extraFlags);
    head.writeUInt32BE(counter, 1);
    return Buffer.concat([createHash("sha256").update(rpId).digest(), head]);
  }

  return {
    id: id.toString("base64url"),

    /** The answer to a request for a new passkey. The key in COSE, which is not read, is left out. */
    create(given: Challenge) {
      const idLength = Buffer.from([0, id.byteLength]);
      const data = Buffer.concat([
        authenticatorData(given, HAS_KEY),
        Buffer.alloc(16),
        idLength,
        id,
      ]);
      return {
        id: id.toString("base64url"),
        clientDataJSON: clientData("webauthn.create", given).toString("base64url"),
        authenticatorData: data.toString("base64url"),
        publicKey: publicKey.export({ format: "der", type: "spki" }).toString("base64url"),
        transports: ["internal"],
      };
    },

    /** The answer to a request for a signature. */
    sign(given: Challenge) {
      const client = clientData("webauthn.get", given);
      const data = authenticatorData(given);
      const signed = Buffer.concat([data, createHash("sha256").update(client).digest()]);
      return {
        id: id.toString("base64url"),
        clientDataJSON: client.toString("base64url"),
        authenticatorData: data.toString("base64url"),
        signature: sign(kind === "ed25519" ? null : "sha256", signed, privateKey).toString(
          "base64url",
        ),
      };
    },
  };
}
