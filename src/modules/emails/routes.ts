/**
 * POST /v1/send
 * GET  /emails
 * GET  /emails/{id}
 * POST /emails/{id}/resend
 * GET  /emails/{id}/raw    the exact message, with --transport capture
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
import type { Writer } from "../../db/writer.ts";
import type { Admission } from "../../http/admission.ts";
import type { Bodies } from "../../http/body.ts";
import { isLenient, LenientQuery } from "../../http/validation.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import {
  Envelope,
  envelope,
  IdParams,
  MirroredEnvelope,
  mirroredEnvelope,
  SearchEnvelope,
  withErrors,
} from "../../http/envelope.ts";
import type { createAccept } from "./accept.ts";
import { listEmails } from "./list.ts";
import { ensureSendable, SendInput, SendResult } from "./model.ts";
import { emailOperations } from "./operations.ts";
import { Email, EmailQuery } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";
import type { Resend } from "./resend.ts";

export function emailRoutes(deps: {
  admission: Admission;
  accept: ReturnType<typeof createAccept>;
  bodies: Bodies;
  app: App;
  records: EmailRecords;
  resend: Resend;
  writer: Writer;
  /** Wakes the dispatcher, because there is mail to send. */
  wake: () => void;
}) {
  const { app, admission, accept, bodies, records, resend, writer, wake } = deps;
  return new Elysia({ name: "email-routes" })
    .use(admission.secretKey)
    .post(
      "/v1/send",
      ({ project, user, request, body, once }) =>
        once(async () => {
          const checked = { project, isLenient: isLenient(request) };
          ensureSendable(body, checked);
          const holder = { projectSeq: project.seq, isPublic: false };
          const reserveCopies = () => bodies.takeCopies(request, holder);
          const commit = await accept(project, body, {
            userEmail: user?.email ?? null,
            isLenient: checked.isLenient,
            reserveCopies,
          });
          return () => {
            const accepted = commit();
            writer.afterCommit(wake);
            return { status: 200, body: mirroredEnvelope(accepted) };
          };
        }),
      {
        query: LenientQuery,
        body: limited(SendInput, BODY_LIMITS.send),
        response: withErrors({ 200: MirroredEnvelope(SendResult) }),
        detail: emailOperations.sendEmail,
      },
    )
    .get(
      "/emails",
      async ({ project, query }) => envelope(await listEmails(app, records, project.seq, query)),
      {
        query: EmailQuery,
        response: withErrors({ 200: SearchEnvelope(Email) }),
        detail: emailOperations.listEmails,
      },
    )
    .get("/emails/:id", ({ project, params }) => envelope(records.get(project.seq, params.id)), {
      params: IdParams,
      response: withErrors({ 200: Envelope(Email) }),
      detail: emailOperations.getEmail,
    })
    .post(
      "/emails/:id/resend",
      ({ project, params, once }) =>
        once(async () => {
          const send = await resend(project.seq, params.id);
          return () => {
            const email = send();
            writer.afterCommit(wake);
            return { status: 201, body: envelope(email) };
          };
        }),
      {
        params: IdParams,
        response: withErrors({ 201: Envelope(Email) }),
        detail: emailOperations.resendEmail,
      },
    )
    .get(
      "/emails/:id/raw",
      ({ project, params }) =>
        new Response(records.raw(project.seq, params.id), {
          headers: {
            "Content-Type": "message/rfc822",
            "Content-Disposition": `inline; filename="${params.id}.eml"`,
            "X-Content-Type-Options": "nosniff",
            "Content-Security-Policy": "sandbox",
          },
        }),
      {
        params: IdParams,
        response: withErrors({
          200: Type.Unsafe<Response>(
            Type.Any({
              type: "string",
              contentMediaType: "message/rfc822",
              description: "A message as it would leave",
              examples: ["Subject: Your order 1001\r\n\r\nThank you, Ada.\r\n"],
            }),
          ),
        }),
        detail: emailOperations.getRawEmail,
      },
    );
}
