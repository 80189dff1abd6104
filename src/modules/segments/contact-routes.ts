/** GET    /contacts/{id}/segments   list the segments of a contact */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { envelope, IdParams, ListEnvelope, withErrors } from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import { ContactSegment } from "./model.ts";
import { contactSegmentOperations } from "./operations.ts";
import type { Segments } from "./service.ts";

export function contactSegmentRoutes(deps: { admission: Admission; segments: Segments }) {
  const { admission, segments } = deps;
  return new Elysia({ name: "contact-segment-routes", prefix: "/contacts/:id" })
    .use(admission.secretKey)
    .get(
      "/segments",
      async ({ project, params, query }) =>
        envelope(await segments.ofContact(project.seq, params.id, query)),
      {
        params: IdParams,
        query: PageQuery,
        response: withErrors({ 200: ListEnvelope(ContactSegment) }),
        detail: contactSegmentOperations.listContactSegments,
      },
    );
}
