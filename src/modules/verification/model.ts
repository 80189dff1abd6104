/** Request and response of POST /v1/verify. */

import { type Static, Type } from "@sinclair/typebox";
import { described, named } from "../../http/documented.ts";
import { Nullable } from "../../http/envelope.ts";
import { Input } from "../../http/validation.ts";
import { LONGEST_ADDRESS_TEXT } from "../../protocols/mime/address.ts";

/**
 * Only these rules make a request invalid (docs/interface.md#verify); other errors are in the
 * response.
 */
export const VerifyInput = named(
  "VerifyInput",
  described(
    Input({ email: Type.String({ maxLength: LONGEST_ADDRESS_TEXT, format: "contains-at" }) }),
    { email: "The address to check" },
  ),
  { description: "An address to check", example: { email: "ada@example.com" } },
);

/** The result of a verification (docs/specification.md#s2.7 and docs/interface.md#verify). */
export const Verification = named(
  "Verification",
  described(
    Type.Object({
      email: Type.String(),
      valid: Type.Boolean(),
      isDisposable: Type.Boolean(),
      isAlias: Type.Boolean(),
      isTypo: Type.Boolean(),
      isPlusAddressed: Type.Boolean(),
      isPersonalEmail: Type.Boolean(),
      domainExists: Type.Boolean(),
      hasWebsite: Type.Boolean(),
      hasMxRecords: Type.Boolean(),
      suggestedEmail: Nullable(Type.String()),
      reasons: Type.Array(Type.String()),
    }),
    {
      email: "The checked address; in its stored spelling if its syntax is valid",
      valid: "Whether the syntax is right and the domain can receive mail",
      isDisposable: "The domain belongs to a service for temporary addresses",
      isAlias: "The domain belongs to a forwarding service that hides the real address",
      isTypo: "The domain looks like a misspelt well-known domain",
      isPlusAddressed: "The part before the @ has a tag after a +",
      isPersonalEmail: "The domain belongs to a mail provider for the public",
      domainExists: "The domain exists in the DNS",
      hasWebsite: "The domain has an A or AAAA record; no website is requested",
      hasMxRecords: "The domain has MX records",
      suggestedEmail: "The address with the misspelt domain corrected; null if none is known",
      reasons: "The findings in words",
    },
  ),
  {
    description: "The findings about an address",
    example: {
      email: "ada@example.com",
      valid: true,
      isDisposable: false,
      isAlias: false,
      isTypo: false,
      isPlusAddressed: false,
      isPersonalEmail: false,
      domainExists: true,
      hasWebsite: true,
      hasMxRecords: true,
      suggestedEmail: null,
      reasons: [],
    },
  },
);
export type Verification = Static<typeof Verification>;
