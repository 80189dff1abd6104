/** The module of `POST /v1/verify`: it checks an email address without sending mail to it. */

import type { Admission } from "../../http/admission.ts";
import type { Dns } from "../../protocols/dns/client.ts";
import type { Module } from "../module.ts";
import { verificationRoutes } from "./routes.ts";
import { createVerify } from "./verify.ts";

export function createVerificationModule(deps: { admission: Admission; dns: Dns }): Module {
  const { admission, dns } = deps;
  const verify = createVerify({ dns });
  return { name: "verification", routes: [verificationRoutes({ admission, verify })] };
}
