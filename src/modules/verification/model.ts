import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { Input } from "../../http/validation.ts";
import { LONGEST_ADDRESS_TEXT } from "../../protocols/mime/address.ts";

/** docs/interface.md#verify: only this much is demanded; what is wrong beyond it is the answer. */
export const VerifyInput = Input({
  email: Type.String({ maxLength: LONGEST_ADDRESS_TEXT, format: "contains-at" }),
});

/** docs/specification.md#s2.7 and docs/interface.md#verify. */
export const VerificationMembers = {
  email: Type.String(),
  valid: Type.Boolean(),
  isDisposable: Type.Boolean(),
  isAlias: Type.Boolean({ description: "A forwarding service hides the real address" }),
  isTypo: Type.Boolean(),
  isPlusAddressed: Type.Boolean(),
  isPersonalEmail: Type.Boolean(),
  domainExists: Type.Boolean(),
  hasWebsite: Type.Boolean({ description: "The domain has an address; nothing is fetched" }),
  hasMxRecords: Type.Boolean(),
  suggestedEmail: Nullable(Type.String()),
  reasons: Type.Array(Type.String()),
};
const Verification = Type.Object(VerificationMembers);
export type Verification = Static<typeof Verification>;
