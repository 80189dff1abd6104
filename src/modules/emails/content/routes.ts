/**
 * The content of a mail, below /emails/{id}:
 *
 * GET …/content    the rendered parts and headers
 * GET …/preview    a document to be shown in a frame
 * GET …/source     the message as it leaves
 * GET …/checks     the checks of its structure, HTML and links
 */

import { Elysia } from "elysia";
import { Type } from "@sinclair/typebox";
import type { Admission } from "../../../http/admission.ts";
import { Envelope, envelope, IdParams, withErrors } from "../../../http/envelope.ts";
import { allowIdle } from "../../../http/long-requests.ts";
import { PreviewDocument, PreviewQuery } from "../../../http/preview-query.ts";
import { jsonFor, seesSecrets } from "../../../http/role-views.ts";
import { mayReadBody, type Role } from "../../../http/roles.ts";
import { AppError } from "../../../lib/errors.ts";
import type { App } from "../../../core/app.ts";
import type { StoredMail } from "../../../outbox/copies.ts";
import { previewResponse } from "../../previews.ts";
import { emailOperations } from "../operations.ts";
import type { CheckEmail } from "./check.ts";
import { type EmailContents, presentContent } from "./contents.ts";
import { hideRecipientLinks } from "./hidden-links.ts";
import { EmailCheckQuery, EmailChecks, EmailContent } from "./model.ts";

const SOURCE_HEADERS = {
  "Content-Type": "text/plain; charset=utf-8",
  "Content-Security-Policy": "sandbox; default-src 'none'; frame-ancestors 'self'",
  "X-Content-Type-Options": "nosniff",
  "Cache-Control": "no-store",
};

export function emailContentRoutes(deps: {
  app: App;
  admission: Admission;
  contents: EmailContents;
  check: CheckEmail;
}) {
  const { app, admission, contents, check } = deps;

  /**
   * A mail whose body the role may read, with the variables and links as the role sees them. Throws 403 for
   * another one.
   */
  function find(projectSeq: number, id: string, role: Role | null): StoredMail {
    const stored = contents.findShown(projectSeq, id);
    if (!mayReadBody(role, stored.mail.isMarketing)) throw bodyRefused();
    const mail = seesSecrets(role) ? stored.mail : hideRecipientLinks(stored.mail);
    return { ...stored, mail: { ...mail, variables: jsonFor(role, mail.variables) } };
  }

  return new Elysia({ name: "email-content-routes", prefix: "/emails/:id" })
    .use(admission.secretKey)
    .get(
      "/content",
      async ({ project, role, params }) => {
        const stored = find(project.seq, params.id, role);
        return envelope(presentContent(await contents.open(stored)));
      },
      {
        params: IdParams,
        response: withErrors({ 200: Envelope(EmailContent) }),
        detail: emailOperations.getEmailContent,
      },
    )
    .get(
      "/preview",
      async ({ project, role, params, query }) => {
        const opened = await contents.open(find(project.seq, params.id, role));
        const images = query.part === "text" ? [] : await contents.images(opened);
        return previewResponse(app, project, opened.detail, query, images);
      },
      {
        params: IdParams,
        query: PreviewQuery,
        response: withErrors({ 200: PreviewDocument }),
        detail: emailOperations.previewEmail,
      },
    )
    .get(
      "/source",
      async ({ project, role, params }) => {
        const message = await contents.source(find(project.seq, params.id, role));
        return new Response(Buffer.from(message), { headers: SOURCE_HEADERS });
      },
      {
        params: IdParams,
        response: withErrors({
          200: document(
            "text/plain",
            "The message",
            "Subject: Your order 1001\r\n\r\nThank you, Ada.\r\n",
          ),
        }),
        detail: emailOperations.getEmailSource,
      },
    )
    .get(
      "/checks",
      async ({ project, role, params, query, request, server }) => {
        const { id } = params;
        const stored = await contents.withSubject(find(project.seq, id, role));
        allowIdle({ request, server }, 0);
        const isLinked = query.links === "true";
        const options = { projectSeq: project.seq, id, isLinked, signal: request.signal };
        return envelope(await check(() => contents.read(stored), options));
      },
      {
        params: IdParams,
        query: EmailCheckQuery,
        response: withErrors({ 200: Envelope(EmailChecks) }),
        detail: emailOperations.checkEmail,
      },
    );
}

function bodyRefused(): AppError {
  return new AppError(403, "FORBIDDEN", "The body of this mail needs the role EDITOR.", {
    suggestion: "Viewers may read the bodies of marketing mail only.",
  });
}

function document(contentMediaType: string, description: string, example: string) {
  const shown = { type: "string", contentMediaType, description, examples: [example] };
  return Type.Unsafe<Response>(Type.Any(shown));
}
