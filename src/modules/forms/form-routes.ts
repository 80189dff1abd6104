/**
 * The public pages of forms:
 *
 * GET  /f/embed.js       the script for other sites
 * GET  /f/{id}           the form as a page; with ?done the page after it
 * POST /f/{id}           a submission: of that page, of the HTML of another site, or of the script
 * POST /f/{id}/shown     the script counts that it showed the form
 *
 * 1. The form and its project must be enabled, and the client may not ask too often.
 * 2. A page of an origin that the form does not allow is refused.
 * 3. The values are checked; faults are shown at their fields, in the page or as JSON.
 * 4. A robot gets the same answer as a person, and nothing is stored: it fills in the field that people do
 *    not see, or it sends the page faster than a person can.
 * 5. Everything else is stored (submissions.ts), and the browser is led on, so that a page that is
 *    loaded again sends nothing.
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import { bodiesOf } from "../../http/body.ts";
import { MAX_SUBMISSION_BYTES } from "../../http/body-limits.ts";
import { clientAddress, recordRefusal } from "../../http/client-address.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { readForm } from "../../http/form.ts";
import type { Incoming } from "../../http/incoming.ts";
import { documentResponse, errorPage, Html, pageResponse, seeOther } from "../../http/page.ts";
import { deriveKey, hmac, isSameBytes } from "../../lib/crypto.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { perApp } from "../../lib/per-app.ts";
import { parseUrl } from "../../lib/url.ts";
import { chooseFormTexts } from "../../render/form-texts.ts";
import type { PageText } from "../../render/language.ts";
import { brandOf } from "../branding.ts";
import { projectOfObject } from "../projects.ts";
import { countView } from "./counts.ts";
import { embedResponse } from "./embed.ts";
import { findForm, type FormRow, languageOf, originsOf, shownForm } from "./form-store.ts";
import { type FormLanguage, MADE_AT, pageBody, TRAP, consentWording } from "./html.ts";
import { mayRequest, maySubmit } from "./limits.ts";
import { submitForm } from "./submissions.ts";
import { type Faults, type Filled, readValues } from "./values.ts";

const FORM_BODY = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "FormSubmission",
        "x-max-body-bytes": MAX_SUBMISSION_BYTES,
        type: "object" as const,
        description: "The values of the fields by their names",
        additionalProperties: true,
        properties: {
          email: { type: "string" as const, description: "The address of the person" },
          topics: {
            type: "array" as const,
            items: { type: "string" as const },
            description: "Ids of the chosen topics",
          },
          consent: { type: "string" as const, description: "`yes` if the box was ticked" },
        },
        examples: [{ email: "ada@example.com", firstName: "Ada", consent: "yes" }],
      },
    },
  },
};

const parameters = { id: "Id of the form" };

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    showForm: {
      role: "ANYONE",
      summary: "Page of a sign-up form",
      description: "In the language of the form, with the logo and the colour of the project.",
      parameters,
      security: [],
    },
    submitForm: {
      role: "ANYONE",
      summary: "Send a sign-up form",
      description:
        "Leads to the page after the form. With `Accept: application/json`, as the script for other " +
        "sites sends, the answer is JSON. The answer never tells whether an address is known, " +
        "subscribed or suppressed.",
      headers: ["Location"],
      parameters,
      security: [],
    },
  },
);

const redirect = Type.Unsafe<Response>(Type.Any());
const hidden = { detail: undocumented("ANYONE") };
const hiddenPost = { ...hidden, parse: "none" as const };

type Asked = Pick<Incoming, "request" | "server">;

export function formRoutes(app: App) {
  const show = (asked: Asked) => guarded(app, asked, showForm);
  const submit = (asked: Asked) => guarded(app, asked, receiveForm);
  return new Elysia({ name: "form-pages" })
    .get("/f/embed.js", ({ request }) => embedResponse(request), hidden)
    .get("/f/:id", show, {
      response: { 200: Html, 404: Html, 429: Html, 500: Html },
      detail: DETAILS.showForm,
    })
    .post("/f/:id", submit, {
      parse: "none",
      response: {
        200: Html,
        303: redirect,
        403: Html,
        404: Html,
        413: Html,
        422: Html,
        429: Html,
        500: Html,
        503: Html,
      },
      detail: { ...DETAILS.submitForm, requestBody: FORM_BODY },
    })
    .post("/f/:id/shown", (asked) => countShown(app, asked), hiddenPost)
    .get("/f/*", show, hidden)
    .post("/f/*", submit, hiddenPost);
}

/** A form that may be used now, and how its pages are written. */
type OpenForm = { form: FormRow; project: Project; language: FormLanguage };

/** Makes the answer of a route: a page or JSON, as the client asked for. */
type Reply = (status: number, text: PageText, more?: { errors?: Faults; url?: string }) => Response;

type Handler = (
  app: App,
  open: OpenForm,
  asked: Asked & { client: string | null; reply: Reply },
) => Response | Promise<Response>;

/** Finds the form and counts the request. An error is answered without its description. */
async function guarded(app: App, asked: Asked, handler: Handler): Promise<Response> {
  const { request } = asked;
  const open = openForm(app, idIn(request.url));
  const language = open?.language ?? chooseFormTexts(null, request.headers.get("accept-language"));
  const reply = replyOf(app, open, { request, language });
  if (open === null) return reply(404, language.form.closed);
  const client = clientAddress(app, asked);
  if (!mayRequest(app, open.project.seq, client)) {
    recordRefusal(app, asked);
    return reply(429, language.form.tooMany);
  }
  try {
    return await handler(app, open, { ...asked, client, reply });
  } catch (error) {
    app.log.error("a form failed", { form: open.form.id, error: describeError(error) });
    // A project without a sender, or at its quota: nothing that the person can change.
    const isRefused = error instanceof AppError && error.status < 500;
    return reply(isRefused ? 503 : 500, language.texts.serverError);
  }
}

function openForm(app: App, id: string): OpenForm | null {
  const form = findForm(app, { id });
  const found = form === null ? null : projectOfObject(app, form.projectSeq);
  if (form === null || found === null || !form.isEnabled || !found.isEnabled) return null;
  const { project } = found;
  return { form, project, language: languageOf(form, project) };
}

/** The id after `/f/`, without a full stop or bracket that a mail program included in the link. */
const idIn = (url: string): string => /^[^/]+\/\/[^/]+\/f\/([\w-]{0,64})/.exec(url)?.[1] ?? "";

function replyOf(
  app: App,
  open: OpenForm | null,
  { request, language }: { request: Request; language: FormLanguage },
): Reply {
  const isJson = (request.headers.get("accept") ?? "").includes("application/json");
  if (isJson) {
    const headers = corsHeaders(app, open?.form ?? null, request);
    return (status, { title, text }, { errors, url } = {}) =>
      Response.json(
        status < 400
          ? { success: true, data: { title, message: text, url: url ?? null } }
          : { success: false, error: { message: text, ...(errors && { errors: listed(errors) }) } },
        { status, headers },
      );
  }
  const brand = open === null ? null : brandOf(app, open.project.seq);
  const shared = { language: language.texts.language, brand, button: null, note: null };
  return (status, { title, text }) => pageResponse({ ...shared, title, text }, status);
}

const listed = (faults: Faults) => [...faults].map(([field, message]) => ({ field, message }));

/** Scripts of pages of other origins read the answer only if the form allows their origin. */
function corsHeaders(app: App, form: FormRow | null, request: Request): Record<string, string> {
  const base = { "Cache-Control": "no-store", Vary: "Origin, Accept" };
  const origin = request.headers.get("origin");
  if (origin === null || form === null || !isAllowed(app, form, request)) return base;
  return { ...base, "Access-Control-Allow-Origin": origin };
}

/** Programs that are no browsers send no Origin, or any: this keeps other sites out, not programs. */
function isAllowed({ url }: App, form: FormRow, { headers }: Request): boolean {
  const origin = headers.get("origin");
  const origins = originsOf(form);
  if (origin === null || origins.length === 0 || origins.includes(origin)) return true;
  const host = headers.get("host");
  return origin === parseUrl(url)?.origin || origin.replace(/^https?:\/\//, "") === host;
}

function showForm(app: App, open: OpenForm, { request, reply }: Parameters<Handler>[2]): Response {
  const { form, language } = open;
  if (new URL(request.url).searchParams.has("done")) return reply(200, textAfter(form, language));
  countView(app, form.seq);
  return formPage(app, open, { status: 200, filled: null, faults: new Map() });
}

function formPage(
  app: App,
  { form, project, language }: OpenForm,
  { status, filled, faults }: { status: number; filled: Filled | null; faults: Faults },
): Response {
  const madeAt = signTime(app, app.clock.now());
  return documentResponse({
    language: language.texts.language,
    title: form.title,
    brand: brandOf(app, project.seq),
    body: pageBody(shownForm(app, project.seq, form), language, { filled, faults, madeAt }),
    status,
    // Without a referrer, browsers would not say that the form is sent by this page.
    headers: { "Referrer-Policy": "same-origin" },
    mayLeave: form.successUrl !== null,
  });
}

function textAfter({ successMessage, confirmation }: FormRow, { form }: FormLanguage): PageText {
  const usual = confirmation === "DOUBLE" ? form.checkInbox : form.thanks;
  return successMessage === null ? usual : { title: usual.title, text: successMessage };
}

async function receiveForm(
  app: App,
  open: OpenForm,
  asked: Parameters<Handler>[2],
): Promise<Response> {
  const { request, client, reply } = asked;
  const { form, project, language } = open;
  if (!isAllowed(app, form, request)) return reply(403, language.form.foreign);
  const posted = await readForm(request, bodiesOf(app).arrivals, MAX_SUBMISSION_BYTES);
  if (posted.isTooLarge) return reply(413, language.texts.serverError);
  const filled = posted.all;
  const shown = shownForm(app, project.seq, form);
  const read = readValues(
    {
      fields: form.fields,
      topicIds: shown.topics.map(({ id }) => id),
      hasConsentBox: form.hasConsentBox,
    },
    filled,
    language.form.errors,
  );
  const isJson = (request.headers.get("accept") ?? "").includes("application/json");
  if (!read.ok) {
    const { faults } = read;
    const summary = { title: form.title, text: language.form.summary };
    if (isJson) return reply(422, summary, { errors: faults });
    return formPage(app, open, { status: 422, filled, faults });
  }
  if (!isRobot(app, filled)) {
    if (!maySubmit(app, form, client)) {
      recordRefusal(app, asked);
      return reply(429, language.form.tooMany);
    }
    await submitForm(app, {
      project,
      form,
      values: read.values,
      texts: language.form,
      language: language.texts.language,
      wording: consentWording(shown, language),
      clientAddress: client,
    });
  }
  const after = textAfter(form, language);
  if (isJson) {
    return reply(200, after, form.successUrl === null ? {} : { url: form.successUrl });
  }
  // Without the host, because the page may be read by another one, such as a loopback address.
  return seeOther(form.successUrl ?? `/f/${form.id}?done`);
}

/** A person needs longer to fill in a page. */
const FASTEST_PERSON_MS = 1_000;
/** The signature of an older page tells nothing. */
const OLDEST_PAGE_MS = 24 * 60 * 60_000;

function isRobot(app: App, filled: Filled): boolean {
  if ((filled.get(TRAP) ?? "") !== "") return true;
  const madeAt = readTime(app, filled.get(MADE_AT) ?? "");
  const age = madeAt === null ? null : app.clock.now() - madeAt;
  return age !== null && age >= 0 && age <= OLDEST_PAGE_MS && age < FASTEST_PERSON_MS;
}

const timeKey = perApp(({ secret }: App) => deriveKey(secret, "form-times"));

const SIGNATURE_BYTES = 12;
const signatureOf = (app: App, text: string): Buffer =>
  hmac(timeKey(app), text).subarray(0, SIGNATURE_BYTES);

function signTime(app: App, at: number): string {
  const text = at.toString(36);
  return `${text}.${signatureOf(app, text).toString("base64url")}`;
}

/** Null for a text that this server did not sign. Plain HTML of other sites has none. */
function readTime(app: App, signed: string): number | null {
  const [, text = "", signature = ""] = /^([0-9a-z]{1,12})\.([\w-]{16})$/.exec(signed) ?? [];
  const isOurs = isSameBytes(Buffer.from(signature, "base64url"), signatureOf(app, text));
  return text !== "" && isOurs ? Number.parseInt(text, 36) : null;
}

/** The script sends this without reading an answer. */
function countShown(app: App, asked: Asked): Response {
  const open = openForm(app, idIn(asked.request.url));
  if (open !== null && mayRequest(app, open.project.seq, clientAddress(app, asked))) {
    countView(app, open.form.seq);
  }
  return new Response(null, { status: 204 });
}

/** The page for an error that a page behind a link has. */
export const brokenPage = (language: FormLanguage, status: number): Response =>
  pageResponse(errorPage(language.texts), status);
