/** GET /system    the state of the installation */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { Envelope, envelope, withErrors } from "../../http/envelope.ts";
import { System } from "./model.ts";
import { systemOperations } from "./operations.ts";

export function systemRoutes(deps: { admission: Admission; read: () => Promise<System> }) {
  const { admission, read } = deps;
  return new Elysia({ name: "system-routes" })
    .use(admission.session)
    .get("/system", async () => envelope(await read()), {
      response: withErrors({ 200: Envelope(System) }),
      detail: systemOperations.getSystem,
    });
}
