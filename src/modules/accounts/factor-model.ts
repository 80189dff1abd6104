/** Schemas of the requests about second factors. The dashboard sends them; they are not documented. */

import { type Static, Type } from "@sinclair/typebox";
import { Input } from "../../http/validation.ts";
import { LONGEST_PASSWORD } from "./passwords.ts";

const Base64Url = (maxLength: number) =>
  Type.String({ minLength: 1, maxLength, pattern: "^[A-Za-z0-9_-]+$" });
/** Web Authentication allows ids of 1,023 bytes. */
const CredentialId = Base64Url(1_364);
const ClientData = Base64Url(4_000);
const PasskeyName = Type.String({ minLength: 1, maxLength: 100, format: "header-text" });

export const CodeInput = Input({ code: Type.String({ pattern: "^[0-9]{6}$" }) });

/** The signed answer of a passkey, as the browser returns it. */
export const PasskeyAnswer = Input({
  id: CredentialId,
  clientDataJSON: ClientData,
  authenticatorData: Base64Url(4_000),
  signature: Base64Url(4_000),
});
export type PasskeyAnswer = Static<typeof PasskeyAnswer>;

export const PasskeyInput = Input({
  name: PasskeyName,
  id: CredentialId,
  clientDataJSON: ClientData,
  authenticatorData: Base64Url(8_000),
  publicKey: Base64Url(2_000),
  transports: Type.Optional(
    Type.Array(Type.String({ pattern: "^[a-z-]{1,32}$" }), { maxItems: 10 }),
  ),
});
export type PasskeyInput = Static<typeof PasskeyInput>;

export const PasskeyPatch = Input({ name: PasskeyName });

/** Six digits of the app, a recovery code, or the signature of a passkey. */
export const SecondFactorInput = Input({
  code: Type.Optional(Type.String({ minLength: 6, maxLength: 40 })),
  passkey: Type.Optional(PasskeyAnswer),
});
export type SecondFactorInput = Static<typeof SecondFactorInput>;

export const TurnOffInput = Input({
  password: Type.Optional(Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD })),
  code: Type.String({ minLength: 6, maxLength: 40 }),
});
export type TurnOffInput = Static<typeof TurnOffInput>;
