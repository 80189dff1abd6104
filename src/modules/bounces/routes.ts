/**
 * POST /v1/bounces    process a report that another mail server received
 */

import { Elysia } from "elysia";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import { refuseEncoded } from "../../http/body.ts";
import { announcedBytes, emptyBody, tooLarge } from "../../http/body.ts";
import { MirroredEnvelope, mirroredEnvelope, withErrors } from "../../http/envelope.ts";
import { freeMemory } from "../../lib/free-memory.ts";
import { MAX_READ_BYTES } from "../../protocols/mime/read-parts.ts";
import { ReportQuery, ReportResult } from "./model.ts";
import { bounceOperations } from "./operations.ts";
import type { Bounces } from "./service.ts";

/** The same limit as over SMTP. */
const MAX_BYTES = 25 * 1024 * 1024;

export function bounceRoutes(deps: { admission: Admission; bodies: Bodies; bounces: Bounces }) {
  const { admission, bodies, bounces } = deps;
  return new Elysia({ name: "bounce-routes" }).use(admission.secretKeyStreaming).post(
    "/v1/bounces",
    async ({ project, request, query }) => {
      if (request.body === null) throw emptyBody();
      refuseEncoded(request);
      if ((announcedBytes(request) ?? 0) > MAX_BYTES) throw tooLarge(MAX_BYTES);
      const holder = { projectSeq: project.seq, isPublic: false };
      const raw = await firstBytes(await bodies.pieces(request, holder));
      return mirroredEnvelope(
        await bounces.processReport(raw, query.recipient ?? null, {
          projectSeq: project.seq,
        }),
      );
    },
    {
      query: ReportQuery,
      response: withErrors({ 200: MirroredEnvelope(ReportResult) }),
      detail: {
        ...bounceOperations.processReport,
        requestBody: { required: true, content: { "message/rfc822": { schema: BODY } } },
      },
    },
  );
}

/** The part of the message that is read; the rest is received and left out. */
async function firstBytes(pieces: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const kept: Uint8Array[] = [];
  let bytes = 0;
  for await (const piece of pieces) {
    if (bytes < MAX_READ_BYTES) kept.push(piece.slice(0, MAX_READ_BYTES - bytes));
    bytes += piece.byteLength;
    freeMemory(piece);
    if (bytes > MAX_BYTES) throw tooLarge(MAX_BYTES);
  }
  if (bytes === 0) throw emptyBody();
  const raw = Buffer.concat(kept);
  for (const piece of kept) freeMemory(piece);
  return raw;
}

const BODY = {
  type: "string" as const,
  format: "binary",
  description: "The report, with its header",
  examples: [
    "From: MAILER-DAEMON@mx.example.net\r\nSubject: Undelivered Mail Returned to Sender\r\n\r\n…\r\n",
  ],
  "x-max-body-bytes": MAX_BYTES,
};
