/** Request and response of POST /v1/verify. */

import { type Static, Type } from "@sinclair/typebox";
import { Nullable } from "../../http/envelope.ts";
import { Input } from "../../http/validation.ts";
import { LONGEST_ADDRESS_TEXT } from "../../protocols/mime/address.ts";

/**
 * Only these rules make a request invalid (docs/interface.md#verify); other errors are in the
 * response.
 */
export const VerifyInput = Input({
  email: Type.String({ maxLength: LONGEST_ADDRESS_TEXT, format: "contains-at" }),
});

/** The result of a verification (docs/specification.md#s2.7 and docs/interface.md#verify). */
export const VerificationMembers = {
  email: Type.String(),
  valid: Type.Boolean(),
  isDisposable: Type.Boolean(),
  isAlias: Type.Boolean({
    description: "The domain belongs to a forwarding service that hides the real address",
  }),
  isTypo: Type.Boolean(),
  isPlusAddressed: Type.Boolean(),
  isPersonalEmail: Type.Boolean(),
  domainExists: Type.Boolean(),
  hasWebsite: Type.Boolean({
    description: "The domain has an A or AAAA record; no website is requested",
  }),
  hasMxRecords: Type.Boolean(),
  suggestedEmail: Nullable(Type.String()),
  reasons: Type.Array(Type.String()),
};
const Verification = Type.Object(VerificationMembers);
export type Verification = Static<typeof Verification>;
