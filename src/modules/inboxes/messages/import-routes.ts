/**
 * POST /inboxes/{id}/messages    store a message that did not arrive over SMTP
 */

import { Elysia, status } from "elysia";
import { Type } from "@sinclair/typebox";
import { refuseEncoded } from "../../../http/body.ts";
import { announcedBytes, emptyBody, tooLarge } from "../../../http/body.ts";
import { described, named } from "../../../http/documented.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { localEnvelope } from "../envelope.ts";
import { inboxOperations } from "../operations.ts";
import type { Arrival } from "./intake.ts";
import type { App } from "../../../core/app.ts";
import { admissionOf } from "../../admission.ts";
import { bodiesOf } from "../../../http/body.ts";
import { messageIntake } from "./intake.ts";
import { inboxReading } from "../reading.ts";

/** The same limit as over SMTP. */
const MAX_BYTES = 50 * 1024 * 1024;
const Imported = named(
  "InboxImported",
  described(Type.Object({ id: Type.String() }), { id: "Id of the message" }),
  { description: "A stored message", example: { id: "4Gq0VxT2hK9sQe7LmZbN3c" } },
);

export function messageImportRoutes(app: App) {
  const admission = admissionOf(app);
  const bodies = bodiesOf(app);
  const intake = messageIntake(app);
  const reading = inboxReading(app);

  async function receive(pieces: AsyncIterable<Uint8Array>, arrival: Arrival): Promise<void> {
    let bytes = 0;
    for await (const piece of pieces) {
      bytes += piece.byteLength;
      if (bytes > MAX_BYTES) throw tooLarge(MAX_BYTES);
      await arrival.add(piece);
    }
    if (bytes === 0) throw emptyBody();
  }

  return new Elysia({ name: "inbox-import-routes", prefix: "/inboxes/:id/messages" })
    .use(admission.inboxKeyStreaming)
    .post(
      "",
      async ({ project, params, request }) => {
        if (request.body === null) throw emptyBody();
        refuseEncoded(request);
        if ((announcedBytes(request) ?? 0) > MAX_BYTES) throw tooLarge(MAX_BYTES);
        const holder = { projectSeq: project.seq, isPublic: false };
        const pieces = await bodies.pieces(request, holder);
        const { seq } = await reading.inbox(project.seq, params.id);
        const arrival = intake.open(seq);
        try {
          await receive(pieces, arrival);
          const { id } = await arrival.complete({
            inboxSeq: seq,
            envelope: localEnvelope("", []),
            username: "",
            emailId: null,
          });
          return status(201, envelope({ id }));
        } catch (error) {
          await arrival.discard();
          throw error;
        }
      },
      {
        params: IdParams,
        response: withErrors({ 201: Envelope(Imported) }),
        detail: {
          ...inboxOperations.importInboxMessage,
          requestBody: { required: true, content: { "message/rfc822": { schema: BODY } } },
        },
      },
    );
}

const BODY = {
  type: "string" as const,
  format: "binary",
  description: "The message, with its header",
  examples: ["From: ada@example.com\r\nSubject: Hello\r\n\r\nText\r\n"],
  "x-max-body-bytes": MAX_BYTES,
};
