/**
 * Templates that are being written: they are rendered and checked as they would be sent, and nothing is
 * stored. The rendered mail is a document for a frame, which the author may read for some minutes.
 */

import { createLinkCheck } from "../../checks/request-links.ts";
import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope } from "../../http/envelope.ts";
import { operations, read } from "../../http/operations.ts";
import { PreviewDocument, PreviewQuery } from "../../http/preview-query.ts";
import { dataFor } from "../../http/role-views.ts";
import { includesRole, type Role } from "../../http/roles.ts";
import { Input, isLenient, LenientQuery } from "../../http/validation.ts";
import { AppError, type FieldError, validationError } from "../../lib/errors.ts";
import { newId } from "../../lib/id.ts";
import { perApp } from "../../lib/per-app.ts";
import type { DraftError } from "../../render/draft.ts";
import { recipientLinks } from "../../render/links.ts";
import { mergeVariables } from "../../render/variables.ts";
import { parseData, resolvedData } from "../contacts/data.ts";
import { getContact } from "../contacts/service.ts";
import { showDraft } from "../content-work/content-work.ts";
import type { DraftMail } from "../content-work/tasks.ts";
import { EmailCheckQuery, EmailChecks } from "../emails/content/model.ts";
import { layoutIn } from "../layouts.ts";
import type { Noun } from "../module.ts";
import { previewResponse } from "../previews.ts";
import { DraftInput, DraftPreview, type TemplateDraftPreview } from "./draft-model.ts";

const SAMPLE_EMAIL = "ada@example.com";
/** The sender of a draft in a project without one; the checks read the headers of the message. */
const SAMPLE_SENDER = "hello@example.com";

const DraftCheckQuery = Input({ ...EmailCheckQuery.properties, ...LenientQuery.properties });

export const draftNoun: Noun = {
  name: "template drafts",
  operations: operations("Templates", { parameters: { token: "Name of the document" } }, [
    read("POST /templates/preview", {
      id: "previewTemplateDraft",
      role: "VIEWER",
      isAudited: false,
      summary: "Render a template that is not stored",
      description:
        "Renders the fields as a mail that is sent with them, and reports all errors with line and " +
        "column. Stores and sends nothing.",
      query: LenientQuery,
      body: limited(DraftInput, BODY_LIMITS.design),
      answer: Envelope(DraftPreview),
      run: (app, { project, role, actor, body, request }) =>
        previewDraft(app, project, {
          input: body,
          role,
          actor: actor(),
          isLenient: isLenient(request),
        }),
    }),
    read("GET /template-previews/:token", {
      id: "showTemplateDraft",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "A rendered template that is not stored, as a document",
      description:
        "A document for a frame, made by POST /templates/preview less than ten minutes ago by the same " +
        "user or key.",
      query: PreviewQuery,
      answer: PreviewDocument,
      run(app, { project, actor, params, query }) {
        const shown = findDocument(app, params.token, documentOwner(project, actor()));
        return previewResponse(app, project, shown, query);
      },
    }),
    read("POST /templates/checks", {
      id: "checkTemplateDraft",
      role: "VIEWER",
      isAudited: false,
      summary: "Check a template that is not stored",
      description:
        "The checks of GET /emails/{id}/checks for a mail with these fields. A template with errors is " +
        "refused with 422. Stores and sends nothing. `links=true` needs the role EDITOR.",
      query: DraftCheckQuery,
      body: limited(DraftInput, BODY_LIMITS.design),
      answer: Envelope(EmailChecks),
      run(app, { project, role, body, query, request, allowIdle }) {
        const isLinked = query.links === "true";
        // A draft may have any addresses, unlike a mail that was sent.
        if (isLinked && !includesRole(role, "EDITOR")) throw linksRefused();
        if (isLinked) allowIdle();
        const { signal } = request;
        const draft = { input: body, role, isLenient: isLenient(request) };
        return checkDraft(app, project, { ...draft, isLinked, signal });
      },
    }),
  ]),
};

/** `isLenient`: the syntax of other languages is no error. */
type DraftWork = { input: DraftInput; role: Role | null; isLenient: boolean };

async function previewDraft(
  app: App,
  project: Project,
  { actor, ...work }: DraftWork & { actor: RequestActor },
): Promise<TemplateDraftPreview> {
  const draft = draftOf(app, project, work);
  const shown = await showDraft(app, project.seq, { draft, envelope: null });
  const { errors, subject, preheader, html, text } = shown;
  const owner = documentOwner(project, actor);
  return {
    subject,
    preheader,
    html,
    text,
    sizeBytes: html === null ? null : Buffer.byteLength(html),
    errors: errors.map(({ field, line, column, message }) => ({ field, line, column, message })),
    variables: shown.placeholders,
    documentUrl: html === null ? null : keepDocument(app, owner, { html, text: text ?? "" }),
  };
}

const linkCheck = perApp(({ fetchGuarded }: App) => createLinkCheck(fetchGuarded));

async function checkDraft(
  app: App,
  project: Project,
  work: DraftWork & { isLinked: boolean; signal: AbortSignal },
): Promise<EmailChecks> {
  const draft = draftOf(app, project, work);
  const from = project.sender ?? { address: SAMPLE_SENDER, name: null };
  const envelope = { from, at: app.clock.now() };
  const { errors, checks } = await showDraft(app, project.seq, { draft, envelope });
  if (checks === null) throw validationError(errors.map(asFieldError));
  const own: string[] = Object.values(draft.recipient.links);
  const urls = checks.urls.filter((url) => !own.includes(url));
  const links = work.isLinked ? await linkCheck(app)(urls, work.signal) : null;
  return { ...checks, urls, links };
}

function asFieldError({ field, line, column, message, code }: DraftError): FieldError {
  const place = line === null ? "" : `has an error in line ${line}, column ${column}: `;
  return { field, message: place + message, code };
}

function linksRefused(): AppError {
  const message = "Requesting the links of a template needs the role EDITOR.";
  return new AppError(403, "FORBIDDEN", message, {
    suggestion: "Leave out links=true, or ask an admin of the project for the role.",
  });
}

function draftOf(
  app: App,
  project: Project,
  { input, role, isLenient: isForeignAllowed }: DraftWork,
): DraftMail {
  const { subject, preheader, body, layoutId = null, contactId = null, data = {} } = input;
  const contact = contactId === null ? null : getContact(app, project.seq, contactId);
  const own = contact === null ? {} : dataFor(role, parseData(contact.data));
  const emailId = newId(app.clock.now());
  return {
    source: {
      subject,
      body,
      preheader: preheader === undefined || preheader === "" ? null : preheader,
      layout: layoutId === null ? null : layoutIn(app, project.seq, layoutId).body,
    },
    emailId,
    isLenient: isForeignAllowed,
    isMarketing: input.type === "MARKETING",
    project: { name: project.name, language: project.language },
    recipient: {
      id: contact?.id ?? "",
      email: contact?.email ?? SAMPLE_EMAIL,
      data: JSON.stringify(mergeVariables(own, resolvedData(data))),
      links: recipientLinks(app.url, app.linkKey, emailId),
    },
  };
}

/** The user or the key that made a document, in its project. */
export const documentOwner = ({ seq }: Project, { kind, id }: RequestActor): string =>
  `${seq} ${kind} ${id}`;

type Shown = { html: string; text: string };
type Document = Shown & { owner: string; bytes: number; madeAt: number };

const KEPT_MS = 10 * 60_000;
/** Documents of one author: the frame of an editor shows the latest, and another tab may have one. */
const MAX_OF_OWNER = 4;
const MAX_BYTES = 64 * 1024 * 1024;

/** The oldest first. */
const documents = perApp(() => new Map<string, Document>());

/** Keeps a document for a frame. Returns its path. */
export function keepDocument(app: App, owner: string, shown: Shown): string {
  const kept = documents(app);
  const madeAt = app.clock.elapsed();
  const bytes = 2 * (shown.html.length + shown.text.length);
  const token = randomName();
  kept.set(token, { ...shown, owner, bytes, madeAt });
  const own = [...kept].filter(([, document]) => document.owner === owner);
  for (const [name] of own.slice(0, -MAX_OF_OWNER)) kept.delete(name);
  let total = 0;
  for (const document of kept.values()) total += document.bytes;
  for (const [name, document] of kept) {
    const isExpired = madeAt - document.madeAt >= KEPT_MS;
    if (!isExpired && total <= MAX_BYTES) break;
    total -= document.bytes;
    kept.delete(name);
  }
  return `/template-previews/${token}`;
}

const randomName = (): string =>
  Buffer.from(crypto.getRandomValues(new Uint8Array(16))).toString("hex");

/** Throws 404 without such a document of this author. */
function findDocument(app: App, token: string, owner: string): Shown {
  const document = documents(app).get(token);
  const isKept = document !== undefined && app.clock.elapsed() - document.madeAt < KEPT_MS;
  if (!isKept || document.owner !== owner) throw previewGone();
  return document;
}

function previewGone(): AppError {
  return new AppError(404, "PREVIEW_NOT_FOUND", "No such preview.", {
    suggestion: "Render the template again: a preview is kept for ten minutes, for its author.",
  });
}
