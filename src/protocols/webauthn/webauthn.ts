/**
 * The checks of a relying party in the Web Authentication API (Web Authentication Level 3), for passkeys
 * without attestation. In order:
 *
 * 1. The client data, which the browser wrote, has the expected type, challenge and origin.
 * 2. The authenticator data is for the domain of this server, and its flags say that the user was
 *    present and verified.
 * 3. The public key of a new passkey is taken as the browser read it (`getPublicKey`). Without
 *    attestation nothing signs the registration, so its form in CBOR would prove no more.
 * 4. At a sign-in the signature over both is verified with the stored public key.
 */

import { createHash, createPublicKey, type KeyObject, verify } from "node:crypto";
import { isSameBytes } from "../../lib/crypto.ts";

/** The domain and origin to which a passkey is bound, and the check of its challenge. */
export type RelyingParty = {
  /** The domain of the server. */
  id: string;
  origin: string;
  /** True once for a challenge that was issued for this answer. */
  takeChallenge: (challenge: string) => boolean;
};

/** The base64url texts of an answer of the browser. */
type Registration = {
  id: string;
  clientDataJSON: string;
  authenticatorData: string;
  /** SubjectPublicKeyInfo in DER. */
  publicKey: string;
};
type Assertion = {
  clientDataJSON: string;
  authenticatorData: string;
  signature: string;
};

/** An answer that is not accepted. The message is for the log. */
export class WebAuthnError extends Error {}

/** The flags of the authenticator data (§6.1). */
const USER_PRESENT = 0x01;
const USER_VERIFIED = 0x04;
const HAS_CREDENTIAL = 0x40;

const RP_HASH_BYTES = 32;
/** The hash of the domain, the flags and the counter. */
const HEAD_BYTES = 37;
const AAGUID_BYTES = 16;
const MIN_RSA_BITS = 2_048;

/** §7.1: returns the public key in DER and the counter of a new passkey. */
export function verifyRegistration(
  { id, ...given }: Registration,
  party: RelyingParty,
): { publicKey: Buffer; counter: number } {
  requireClientData(given.clientDataJSON, "webauthn.create", party);
  const data = readAuthenticatorData(given.authenticatorData, party);
  if (data.credentialId?.toString("base64url") !== id) {
    throw new WebAuthnError("the id is not that of the authenticator data");
  }
  const publicKey = Buffer.from(given.publicKey, "base64url");
  readPublicKey(publicKey);
  return { publicKey, counter: data.counter };
}

/** §7.2: returns the counter of the authenticator after the signature was verified. */
export function verifyAssertion(
  given: Assertion,
  party: RelyingParty,
  publicKey: Uint8Array,
): { counter: number } {
  requireClientData(given.clientDataJSON, "webauthn.get", party);
  const data = readAuthenticatorData(given.authenticatorData, party);
  const clientHash = createHash("sha256")
    .update(Buffer.from(given.clientDataJSON, "base64url"))
    .digest();
  const signed = Buffer.concat([data.bytes, clientHash]);
  const key = readPublicKey(publicKey);
  const digest = key.asymmetricKeyType === "ed25519" ? null : "sha256";
  if (!verify(digest, signed, key, Buffer.from(given.signature, "base64url"))) {
    throw new WebAuthnError("the signature is wrong");
  }
  return { counter: data.counter };
}

function requireClientData(text: string, type: string, party: RelyingParty): void {
  const data = parseObject(Buffer.from(text, "base64url").toString());
  if (data["type"] !== type) throw new WebAuthnError(`the type is not ${type}`);
  const challenge = data["challenge"];
  if (typeof challenge !== "string" || !party.takeChallenge(challenge)) {
    throw new WebAuthnError("the challenge is unknown, was used before, or is too old");
  }
  if (data["origin"] !== party.origin) throw new WebAuthnError("the origin is another one");
  // A page of another site may have this one in a frame.
  if (data["crossOrigin"] === true)
    throw new WebAuthnError("the page is in a frame of another site");
}

function parseObject(text: string): Readonly<Record<string, unknown>> {
  const value = parseJson(text);
  if (typeof value === "object" && value !== null) return { ...value };
  throw new WebAuthnError("the client data is no object");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new WebAuthnError("the client data is no JSON", { cause });
  }
}

/** §6.1. `credentialId` is null if there is no new credential in it. */
function readAuthenticatorData(text: string, { id }: RelyingParty) {
  const bytes = Buffer.from(text, "base64url");
  if (bytes.byteLength < HEAD_BYTES) throw new WebAuthnError("the authenticator data is too short");
  const expected = createHash("sha256").update(id).digest();
  if (!isSameBytes(bytes.subarray(0, RP_HASH_BYTES), expected)) {
    throw new WebAuthnError("the passkey is for another domain");
  }
  const flags = bytes.readUInt8(RP_HASH_BYTES);
  if ((flags & USER_PRESENT) === 0) throw new WebAuthnError("the user was not present");
  if ((flags & USER_VERIFIED) === 0) throw new WebAuthnError("the user was not verified");
  const counter = bytes.readUInt32BE(RP_HASH_BYTES + 1);
  const credentialId = (flags & HAS_CREDENTIAL) === 0 ? null : readCredentialId(bytes);
  return { bytes, counter, credentialId };
}

/** §6.5.1: the id stands behind the model of the authenticator and its length. */
function readCredentialId(bytes: Buffer): Buffer {
  const lengthAt = HEAD_BYTES + AAGUID_BYTES;
  const from = lengthAt + 2;
  const length = bytes.byteLength < from ? 0 : bytes.readUInt16BE(lengthAt);
  const id = bytes.subarray(from, from + length);
  if (length === 0 || id.byteLength < length) throw new WebAuthnError("the id is cut off");
  return id;
}

/** Keys of ECDSA with P-256, Ed25519 and RSA, which are those that the options ask for. */
function readPublicKey(der: Uint8Array): KeyObject {
  let key: KeyObject;
  try {
    key = createPublicKey({ key: Buffer.from(der), format: "der", type: "spki" });
  } catch (cause) {
    throw new WebAuthnError("the public key cannot be read", { cause });
  }
  const { asymmetricKeyType: type, asymmetricKeyDetails: details } = key;
  if (type === "ed25519") return key;
  if (type === "ec" && details?.namedCurve === "prime256v1") return key;
  if (type === "rsa" && (details?.modulusLength ?? 0) >= MIN_RSA_BITS) return key;
  throw new WebAuthnError(`keys of the type ${type} are not accepted`);
}
