/**
 * Sign-up forms: people subscribe on a page of this server or in the HTML of any site.
 *
 * 1. This file has the operations; `form-store.ts` creates, changes and deletes forms.
 * 2. `form-routes.ts` has the page and the submission, and `confirm-routes.ts` the page behind the link
 *    of the confirmation mail.
 * 3. `values.ts` checks the values that a person filled in; `limits.ts` limits how often.
 * 4. `submissions.ts` stores a submission with the digest of a token, and sends the link with the token.
 *    The contact is made or changed by the button behind that link, and so are its consents.
 * 5. `html.ts` writes the form for both places, and `embed.ts` is the script for other sites.
 */

import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import type { RequestActor } from "../../http/admitted-writes.ts";
import { BODY_LIMITS, limited } from "../../http/body-limits.ts";
import { Envelope, ListEnvelope, NoContent } from "../../http/envelope.ts";
import { ensureRevision } from "../../http/if-match.ts";
import { operations, read, write } from "../../http/operations.ts";
import { documentResponse } from "../../http/page.ts";
import { brandOf } from "../branding.ts";
import { contactRemoval } from "../contacts/remove.ts";
import { contactService } from "../contacts/service.ts";
import type { Noun } from "../module.ts";
import { documentOwner, keepDocument } from "../template-editor/drafts.ts";
import { confirmRoutes } from "./confirm-routes.ts";
import { formReport, writeViews } from "./counts.ts";
import { EMBED_PATH } from "./embed.ts";
import { formRoutes } from "./form-routes.ts";
import {
  createForm,
  deleteForm,
  formsOfTemplate,
  formsOfTopic,
  formUrl,
  getForm,
  languageOf,
  listForms,
  MAX_FORMS,
  newContent,
  presentForm,
  shownForm,
  updateForm,
} from "./form-store.ts";
import { formCode, pageBody } from "./html.ts";
import {
  Form,
  FormCode,
  FormInput,
  FormPatch,
  FormPreview,
  FormQuery,
  FormReport,
  FormReportQuery,
} from "./model.ts";
import {
  forgetSubmissions,
  purgeSubmissions,
  removeLatest,
  removeSubmissions,
  shiftSubmissions,
} from "./submissions.ts";

const createdForm = { id: "/data/id" };
const etag = ({ revision }: Form): number => revision;
const DEFAULT_REPORT_DAYS = 30;

export const formNoun: Noun = {
  name: "forms",
  routes: (app) => [formRoutes(app), confirmRoutes(app)],
  recurring: [
    { name: "views of forms", pattern: "*/10 * * * * *", run: writeViews },
    { name: "expired submissions", pattern: "23 * * * * *", run: purgeSubmissions },
  ],
  dueTimes: [shiftSubmissions],
  flush: writeViews,
  connect(app) {
    app.references.register("template", (...of) => formsOfTemplate(app, ...of));
    app.references.register("topic", (...of) => formsOfTopic(app, ...of));
    contactRemoval(app).onRemove((contactSeq) => {
      const contact = contactService(app).findBySeq(contactSeq);
      if (contact !== null) forgetSubmissions(app, contact);
    });
  },
  operations: operations("Forms", { parameters: { id: "Id of the form" } }, [
    read("GET /forms", {
      id: "listForms",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "List sign-up forms",
      description: "Forms whose name contains the text, newest first; all without a text.",
      query: FormQuery,
      answer: ListEnvelope(Form),
      run: (app, { project, query }) => listForms(app, project, query),
    }),
    write("POST /forms", {
      id: "createForm",
      role: "EDITOR",
      summary: "Create a sign-up form",
      description:
        `A project has at most ${MAX_FORMS} forms. A template that is not TRANSACTIONAL or has no ` +
        "{{ confirmUrl }} is refused with 422.",
      isIdempotent: true,
      links: { getForm: createdForm, updateForm: createdForm, deleteForm: createdForm },
      body: limited(FormInput, BODY_LIMITS.members),
      answer: Envelope(Form),
      status: 201,
      etag,
      run: (app, { project, body }) => presentForm(app, createForm(app, project.seq, body)),
    }),
    read("GET /forms/:id", {
      id: "getForm",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "Get a sign-up form",
      description: "The form with its figures of all time.",
      answer: Envelope(Form),
      etag,
      run: (app, { project, params }) => presentForm(app, getForm(app, project.seq, params.id)),
    }),
    write("PATCH /forms/:id", {
      id: "updateForm",
      role: "EDITOR",
      summary: "Update a sign-up form",
      description:
        "Changes the given fields. People who have sent the form before confirm as before.",
      isConditional: true,
      body: limited(FormPatch, BODY_LIMITS.members),
      answer: Envelope(Form),
      etag,
      run(app, { project, params, body, request }) {
        const form = getForm(app, project.seq, params.id);
        ensureRevision(request, "form", form.revision);
        return presentForm(app, updateForm(app, form, body));
      },
    }),
    write("DELETE /forms/:id", {
      id: "deleteForm",
      role: "EDITOR",
      summary: "Delete a sign-up form",
      description:
        "Its page and the links of its mails do not work any more: people who have not confirmed are " +
        "not subscribed. Contacts and their consents stay.",
      isWithinQuota: false,
      answer: NoContent,
      // There may be many submissions, and each has a mail whose address is removed.
      prepare: (app, { project, params }) =>
        removeSubmissions(app, getForm(app, project.seq, params.id)),
      run(app, { project, params }) {
        const form = getForm(app, project.seq, params.id);
        removeLatest(app, form);
        deleteForm(app, form);
      },
    }),
    read("GET /forms/:id/report", {
      id: "getFormReport",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The figures of a sign-up form by day",
      description:
        "How often it was shown, submitted and confirmed on each of the latest days, and how many " +
        "submissions were withheld.",
      query: FormReportQuery,
      answer: Envelope(FormReport),
      run(app, { project, params, query }) {
        const days = query.days === undefined ? DEFAULT_REPORT_DAYS : Number(query.days);
        return formReport(app, getForm(app, project.seq, params.id), days);
      },
    }),
    read("GET /forms/:id/code", {
      id: "getFormCode",
      role: "VIEWER",
      scopes: ["READ"],
      summary: "The HTML of a sign-up form for another site",
      description: "A plain form, and the line of a script that answers in place.",
      answer: Envelope(FormCode),
      run: (app, { project, params }) => codeOf(app, project, params.id),
    }),
    read("POST /forms/preview", {
      id: "previewForm",
      role: "VIEWER",
      isAudited: false,
      summary: "Show a sign-up form that is not stored",
      description: "Stores nothing. The document shows the form as its page would.",
      body: limited(FormInput, BODY_LIMITS.members),
      answer: Envelope(FormPreview),
      run: (app, { project, body, actor }) => previewForm(app, project, body, actor()),
    }),
  ]),
};

function codeOf(app: App, project: Project, id: string) {
  const form = getForm(app, project.seq, id);
  const language = languageOf(form, project);
  const action = formUrl(app, form.id);
  const shown = shownForm(app, project.seq, form);
  return {
    html: formCode(shown, language, { action, lang: language.texts.language }),
    script: `<script src="${app.url}${EMBED_PATH}" async></script>`,
  };
}

async function previewForm(app: App, project: Project, input: FormInput, actor: RequestActor) {
  const content = { ...newContent(input), id: "preview" };
  const language = languageOf(content, project);
  const page = documentResponse({
    language: language.texts.language,
    title: content.title,
    brand: brandOf(app, project.seq),
    body: pageBody(shownForm(app, project.seq, content), language, { madeAt: "" }),
  });
  const shown = { html: await page.text(), text: "" };
  return { documentUrl: keepDocument(app, documentOwner(project, actor), shown) };
}
