/**
 * GET    /keys         list the keys of the project
 * POST   /keys         create a key, which is shown once
 * DELETE /keys/{id}    revoke a key
 */

import { Elysia, status } from "elysia";
import type { Admission } from "../../http/admission.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  ListEnvelope,
  NoContent,
  withErrors,
} from "../../http/envelope.ts";
import { PageQuery } from "../../http/pagination.ts";
import type { Clock } from "../../lib/clock.ts";
import { fieldError, notFound } from "../../lib/errors.ts";
import { parseWebOrigin } from "../../lib/web-origin.ts";
import { type KeyList, presentKey } from "./list.ts";
import { ApiKey, ApiKeyInput, CreatedApiKey } from "./model.ts";
import { keyOperations } from "./operations.ts";
import type { Keys } from "./service.ts";

export function keyRoutes(deps: { admission: Admission; clock: Clock; keys: Keys; list: KeyList }) {
  const { admission, clock, keys, list } = deps;

  return new Elysia({ name: "key-routes", prefix: "/keys" })
    .use(admission.projectSession)
    .get("", async ({ project, query }) => envelope(await list(project.seq, query)), {
      query: PageQuery,
      response: withErrors({ 200: ListEnvelope(ApiKey) }),
      detail: keyOperations.listKeys,
    })
    .post(
      "",
      ({ project, body, once }) =>
        once(() => {
          const { name, kind = "SECRET" } = body;
          const origins = originsIn(body);
          const expiresAt = momentIn(body, clock.now());
          const create = keys.create(project.seq, { name, kind, origins, expiresAt });
          return () => {
            const { key, text } = create();
            return { status: 201, body: envelope({ ...presentKey(key), text }), isSecret: true };
          };
        }),
      {
        body: limited(ApiKeyInput, BODY_LIMITS.settings),
        response: withErrors({ 201: Envelope(CreatedApiKey) }),
        detail: keyOperations.createKey,
      },
    )
    .delete(
      "/:id",
      async ({ project, params, storeWithoutQuota }) => {
        await storeWithoutQuota(() => {
          const isKnown = keys.list(project.seq).some(({ id }) => id === params.id);
          if (!isKnown) throw notFound("KEY");
          keys.revoke(params.id)();
        });
        return status(204, undefined);
      },
      {
        params: IdParams,
        response: withErrors({ 204: NoContent }),
        detail: keyOperations.revokeKey,
      },
    );
}

function originsIn({ kind, origins = [] }: ApiKeyInput): string[] {
  if (origins.length > 0 && kind !== "PUBLIC") {
    throw fieldError("origins", "invalid_value", "is for public keys only");
  }
  return origins.map((text, index) => {
    const origin = parseWebOrigin(text);
    if (origin !== null) return origin;
    const message = "must be a web origin such as https://shop.example";
    throw fieldError(`origins.${index}`, "invalid_format", message);
  });
}

function momentIn({ expiresAt }: ApiKeyInput, nowMs: number): number | null {
  if (expiresAt === undefined || expiresAt === null) return null;
  const moment = Date.parse(expiresAt);
  if (moment > nowMs) return moment;
  throw fieldError("expiresAt", "invalid_value", "must be in the future");
}
