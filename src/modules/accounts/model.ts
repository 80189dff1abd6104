/** Schemas of the requests about accounts. The dashboard sends them; they are not documented. */

import { type Static, Type } from "@sinclair/typebox";
import { BareAddress } from "../../http/formats.ts";
import { Input } from "../../http/validation.ts";
import { PasskeyAnswer } from "./factor-model.ts";
import { LONGEST_PASSWORD } from "./passwords.ts";

const LONGEST_NAME = 100;
const LONGEST_TOKEN = 200;

const Token = Type.String({ minLength: 1, maxLength: LONGEST_TOKEN });
/** The rules for new passwords are in `passwords.ts`. */
const Password = Type.String({ minLength: 1, maxLength: LONGEST_PASSWORD });
/** Any text, so that an invalid address gets the same answer as an unknown one. */
const AnyAddress = Type.String({ minLength: 1, maxLength: 320 });
export const UserName = Type.String({
  minLength: 1,
  maxLength: LONGEST_NAME,
  format: "header-text",
});

export const SetupInput = Input({
  token: Token,
  name: UserName,
  email: BareAddress,
  password: Password,
});
export const LoginInput = Input({ email: AnyAddress, password: Password });
export const TokenInput = Input({ token: Token });
export const ConfirmInput = Input({
  password: Type.Optional(Password),
  passkey: Type.Optional(PasskeyAnswer),
});
export const ResetInput = Input({ token: Token, password: Password });
export const ResetRequestInput = Input({ email: AnyAddress });
export const AcceptInput = Input({
  token: Token,
  name: Type.Optional(UserName),
  password: Type.Optional(Password),
});
export const PasswordInput = Input({ current: Type.Optional(Password), password: Password });

/** Largest preferences of a user, as JSON. */
export const MAX_PREFERENCES_BYTES = 16 * 1024;

export const AccountInput = Input({
  name: Type.Optional(UserName),
  preferences: Type.Optional(
    Type.Unsafe<Record<string, unknown>>(Type.Object({}, { additionalProperties: true })),
  ),
});
export type AccountInput = Static<typeof AccountInput>;
