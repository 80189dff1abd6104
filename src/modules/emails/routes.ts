/**
 * POST /v1/send
 * POST /v1/send/batch
 * GET  /emails
 * GET  /emails/{id}
 * PATCH /emails/{id}       another time for a mail that is sent later
 * POST /emails/{id}/cancel
 * POST /emails/{id}/resend
 * GET  /emails/{id}/raw    the exact message, with --transport capture
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { App } from "../../core/app.ts";
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
import { wakeSending } from "../../outbox/enqueue.ts";
import type { Accept } from "./accept.ts";
import { BATCH_PATH, BatchInput, BatchResult, hasRefusal, prepareBatch } from "./batch.ts";
import { listEmails } from "./list.ts";
import { ensureSendable, SendInput, SendResult } from "./model.ts";
import { emailOperations } from "./operations.ts";
import { Email, EmailQuery } from "./record-model.ts";
import type { EmailRecords } from "./records.ts";
import type { Resend } from "./resend.ts";
import { cancelEmail, rescheduleEmail, RescheduleInput } from "./schedule.ts";

type SendDeps = {
  admission: Admission;
  accept: Accept;
  bodies: Bodies;
};

export function sendRoute(
  app: App,
  deps: SendDeps,
  { path, detail }: { path: string; detail: object },
) {
  const { admission, accept, bodies } = deps;
  return new Elysia({ name: `send: ${path}` }).use(admission.secretKey).post(
    path,
    ({ project, user, senderDomains, request, body, once }) =>
      once(async () => {
        const checked = { project, isLenient: isLenient(request) };
        ensureSendable(body, checked);
        const holder = { projectSeq: project.seq, isPublic: false };
        const reserveCopies = () => bodies.takeCopies(request, holder);
        const commit = await accept(project, body, {
          userEmail: user?.email ?? null,
          senderDomains,
          isLenient: checked.isLenient,
          reserveCopies,
        });
        return () => {
          const accepted = commit();
          wakeSending(app);
          return { status: 200, body: mirroredEnvelope(accepted) };
        };
      }),
    {
      query: LenientQuery,
      body: limited(SendInput, BODY_LIMITS.send),
      response: withErrors({ 200: MirroredEnvelope(SendResult) }),
      detail,
    },
  );
}

export function emailRoutes(deps: SendDeps & { app: App; records: EmailRecords; resend: Resend }) {
  const { app, admission, accept, bodies, records, resend } = deps;
  return new Elysia({ name: "email-routes" })
    .use(admission.secretKey)
    .post(
      BATCH_PATH,
      ({ project, user, senderDomains, request, body, once }) =>
        once(async () => {
          const holder = { projectSeq: project.seq, isPublic: false };
          const end = await prepareBatch(app, accept, body, {
            project,
            userEmail: user?.email ?? null,
            senderDomains,
            isLenient: isLenient(request),
            reserveCopies: () => bodies.takeCopies(request, holder),
            path: BATCH_PATH,
            key: request.headers.get("idempotency-key"),
          });
          return () => {
            const result = end();
            return { status: 200, body: envelope(result), isPartial: hasRefusal(result) };
          };
        }),
      {
        query: LenientQuery,
        body: limited(BatchInput, BODY_LIMITS.send),
        response: withErrors({ 200: Envelope(BatchResult) }),
        detail: emailOperations.sendBatch,
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
    .patch(
      "/emails/:id",
      ({ project, params, body, storeWithoutQuota }) =>
        storeWithoutQuota(() => {
          const target = { records, projectSeq: project.seq, id: params.id };
          const email = rescheduleEmail(app, target, body);
          wakeSending(app);
          return envelope(email);
        }),
      {
        params: IdParams,
        body: limited(RescheduleInput, BODY_LIMITS.settings),
        response: withErrors({ 200: Envelope(Email) }),
        detail: emailOperations.rescheduleEmail,
      },
    )
    .post(
      "/emails/:id/cancel",
      ({ project, params, onceWithoutQuota }) =>
        onceWithoutQuota(() => () => {
          const target = { records, projectSeq: project.seq, id: params.id };
          return { status: 200, body: envelope(cancelEmail(app, target)) };
        }),
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(Email) }),
        detail: emailOperations.cancelEmail,
      },
    )
    .post(
      "/emails/:id/resend",
      ({ project, params, once }) =>
        once(async () => {
          const send = await resend(project.seq, params.id);
          return () => {
            const email = send();
            wakeSending(app);
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
