/** Passkeys in the browser: the Web Authentication API with the JSON of the server. */

import { api } from "./api.ts";

type Descriptor = { id: string; type: "public-key"; transports?: AuthenticatorTransport[] };

/** The options that the server sends before a passkey is made; base64url stands for bytes. */
type CreationOptions = {
  rp: { id: string; name: string };
  user: { id: string; name: string; displayName: string };
  challenge: string;
  pubKeyCredParams: PublicKeyCredentialParameters[];
  timeout: number;
  excludeCredentials: Descriptor[];
  authenticatorSelection: AuthenticatorSelectionCriteria;
  attestation: AttestationConveyancePreference;
};

type RequestOptions = {
  rpId: string;
  challenge: string;
  timeout: number;
  userVerification: UserVerificationRequirement;
  allowCredentials: Descriptor[];
};

/** True if this page may use passkeys: over https or on localhost only. */
export const hasPasskeys = (): boolean => "PublicKeyCredential" in window;

/** The user closed the dialog of the browser, or it took too long. */
export class PasskeyCancelled extends Error {}

/** The browser refused, for a reason that the message tells. */
export class PasskeyFailed extends Error {}

/** Makes a passkey and returns the answer that the server verifies. */
export async function makePasskey() {
  const options = await api.post<CreationOptions>("/app/api/account/passkeys/options", {}, OPEN);
  const { user, challenge, excludeCredentials } = options;
  const credential = await ask(() =>
    navigator.credentials.create({
      publicKey: {
        ...options,
        user: { ...user, id: bytesOf(user.id) },
        challenge: bytesOf(challenge),
        excludeCredentials: excludeCredentials.map(descriptorOf),
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAttestationResponse)) throw new PasskeyCancelled();
  const publicKey = response.getPublicKey();
  if (publicKey === null) {
    throw new PasskeyFailed("This passkey has a key of an unknown kind. Use another one.");
  }
  return {
    id: credential.id,
    clientDataJSON: textOf(response.clientDataJSON),
    authenticatorData: textOf(response.getAuthenticatorData()),
    publicKey: textOf(publicKey),
    transports: response.getTransports(),
  };
}

/** Signs the challenge of a path with a passkey and returns the answer that the server verifies. */
export async function signWithPasskey(path: string) {
  const options = await api.post<RequestOptions>(path, {}, OPEN);
  const credential = await ask(() =>
    navigator.credentials.get({
      publicKey: {
        ...options,
        challenge: bytesOf(options.challenge),
        allowCredentials: options.allowCredentials.map(descriptorOf),
      },
    }),
  );
  const { response } = credential;
  if (!(response instanceof AuthenticatorAssertionResponse)) throw new PasskeyCancelled();
  return {
    id: credential.id,
    clientDataJSON: textOf(response.clientDataJSON),
    authenticatorData: textOf(response.authenticatorData),
    signature: textOf(response.signature),
  };
}

const OPEN = { project: null };

async function ask(run: () => Promise<Credential | null>): Promise<PublicKeyCredential> {
  try {
    const credential = await run();
    if (credential instanceof PublicKeyCredential) return credential;
  } catch (error) {
    if (!(error instanceof DOMException)) throw error;
    if (error.name === "InvalidStateError") {
      throw new PasskeyFailed("This device has a passkey for your account already.");
    }
    if (error.name === "SecurityError") {
      throw new PasskeyFailed("Passkeys work at the address of the setting --url only.");
    }
    if (error.name !== "NotAllowedError" && error.name !== "AbortError") {
      throw new PasskeyFailed(error.message);
    }
  }
  throw new PasskeyCancelled();
}

const descriptorOf = ({ id, ...rest }: Descriptor): PublicKeyCredentialDescriptor => ({
  ...rest,
  id: bytesOf(id),
});

function bytesOf(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

function textOf(bytes: ArrayBuffer): string {
  const binary = String.fromCharCode(...new Uint8Array(bytes));
  return btoa(binary).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}
