/**
 * POST /contacts/bulk         start one action on many contacts, run after the response
 * GET  /contacts/bulk/{id}    progress of the action
 */

import { Elysia } from "elysia";
import type { Writer } from "../../../db/writer.ts";
import type { Admission } from "../../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../../http/body-limits.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { ensureChecks } from "../../../http/validation.ts";
import type { Clock } from "../../../lib/clock.ts";
import { newId } from "../../../lib/id.ts";
import type { Bulk } from "./bulk.ts";
import { BulkInput, BulkProgress } from "./model.ts";
import { StartedJob } from "../jobs/model.ts";
import { bulkOperations } from "./operations.ts";

export function bulkRoutes(deps: {
  admission: Admission;
  bulk: Bulk;
  writer: Writer;
  clock: Clock;
  /** Called when a job was stored. */
  wake: () => void;
}) {
  const { admission, bulk, writer, clock, wake } = deps;
  return new Elysia({ name: "bulk-routes", prefix: "/contacts/bulk" })
    .use(admission.secretKey)
    .post(
      "",
      ({ project, body, onceWithoutQuota }) =>
        onceWithoutQuota(() => {
          ensureChecks(BulkInput, body);
          bulk.check(project.seq, body);
          return () => {
            const jobId = newId(clock.now());
            bulk.create(project.seq, jobId, body)();
            writer.afterCommit(wake);
            return { status: 202, body: envelope({ jobId }) };
          };
        }),
      {
        body: limited(BulkInput, BODY_LIMITS.condition),
        response: withErrors({ 202: Envelope(StartedJob) }),
        detail: bulkOperations.startBulkAction,
      },
    )
    .get("/:id", ({ project, params }) => envelope(bulk.progress(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(BulkProgress) }),
      detail: bulkOperations.getBulkAction,
    });
}
