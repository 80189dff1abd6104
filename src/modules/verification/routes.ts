/**
 * POST /v1/verify    checks an address by its syntax, by lists and by DNS; sends no mail
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { MirroredEnvelope, mirroredEnvelope, withErrors } from "../../http/envelope.ts";
import { Verification, VerifyInput } from "./model.ts";
import { verificationOperations } from "./operations.ts";
import type { Verify } from "./verify.ts";

export function verificationRoutes(deps: { admission: Admission; verify: Verify }) {
  const { admission, verify } = deps;
  return new Elysia({ name: "verification-routes" })
    .use(admission.secretKey)
    .post("/v1/verify", async ({ body }) => mirroredEnvelope(await verify(body.email)), {
      body: limited(VerifyInput, BODY_LIMITS.settings),
      response: withErrors({ 200: MirroredEnvelope(Verification) }),
      detail: verificationOperations.verifyAddress,
    });
}
