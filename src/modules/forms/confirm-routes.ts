/**
 * The page behind the link of a confirmation mail:
 *
 * GET  /confirm/{token}    shows a button; changes nothing, because programs that check mail follow links
 * POST /confirm/{token}    the button: subscribes the person, once
 */

import { Type } from "@sinclair/typebox";
import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import type { Project } from "../../http/admission.ts";
import { bodiesOf } from "../../http/body.ts";
import { MAX_FORM_BYTES } from "../../http/body-limits.ts";
import { clientAddress } from "../../http/client-address.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { readForm } from "../../http/form.ts";
import type { Incoming } from "../../http/incoming.ts";
import { documentResponse, Html, pageResponse, seeOther } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { chooseFormTexts } from "../../render/form-texts.ts";
import { fillPlaceholders, type PageText } from "../../render/language.ts";
import { brandOf } from "../branding.ts";
import { projectOfObject } from "../projects.ts";
import { maskAddress } from "../subscription/view.ts";
import { brokenPage } from "./form-routes.ts";
import { findForm, type FormRow, languageOf } from "./form-store.ts";
import type { FormLanguage } from "./html.ts";
import { confirmSubmission, findSubmission, type LinkState } from "./submissions.ts";

const BUTTON = { name: "action", value: "confirm" } as const;

const CONFIRM_BODY = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "ConfirmationForm",
        "x-max-body-bytes": MAX_FORM_BYTES,
        type: "object" as const,
        description: "The button of the page",
        additionalProperties: true,
        properties: {
          action: { type: "string" as const, enum: [BUTTON.value], description: "The button" },
        },
        examples: [{ action: BUTTON.value }],
      },
    },
  },
};

const parameters = { token: "The token in the link of a confirmation mail" };

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    showConfirmation: {
      role: "ANYONE",
      summary: "Page that offers to confirm a subscription",
      description: "Changes nothing, so that programs that follow links confirm nothing.",
      parameters,
      security: [],
    },
    confirmSubscription: {
      role: "ANYONE",
      summary: "Confirm a subscription",
      description: "The button of the page. It subscribes once, also if it is pressed twice.",
      headers: ["Location"],
      parameters,
      security: [],
    },
  },
);

const PAGES = { 200: Html, 404: Html, 410: Html, 500: Html };

export function confirmRoutes(app: App) {
  const show = ({ request }: Asked) => answer(app, request, () => showState(app, request));
  const confirm = (asked: Asked) => answer(app, asked.request, () => act(app, asked));
  return new Elysia({ name: "confirmation-pages" })
    .get("/confirm/:token", show, { response: PAGES, detail: DETAILS.showConfirmation })
    .post("/confirm/:token", confirm, {
      parse: "none",
      response: {
        ...PAGES,
        303: Type.Unsafe<Response>(Type.Any()),
        400: Html,
        413: Html,
        503: Html,
      },
      detail: { ...DETAILS.confirmSubscription, requestBody: CONFIRM_BODY },
    })
    .get("/confirm/*", show, { detail: undocumented("ANYONE") })
    .post("/confirm/*", confirm, { detail: undocumented("ANYONE"), parse: "none" });
}

type Asked = Pick<Incoming, "request" | "server">;

async function answer(
  app: App,
  request: Request,
  run: () => Response | Promise<Response>,
): Promise<Response> {
  try {
    return await run();
  } catch (error) {
    const status = error instanceof AppError && error.status < 500 ? 503 : 500;
    app.log.error("the confirmation of a form failed", { status, error: describeError(error) });
    return brokenPage(browserLanguage(request), status);
  }
}

const browserLanguage = (request: Request): FormLanguage =>
  chooseFormTexts(null, request.headers.get("accept-language"));

const tokenIn = (url: string): string =>
  /^[^/]+\/\/[^/]+\/confirm\/(\w{0,64})/.exec(url)?.[1] ?? "";

/** The form of a link, its project and its language; null if it cannot be used any more. */
function formBehind(app: App, state: LinkState) {
  if (state.kind === "unknown") return null;
  const form = findForm(app, { seq: state.row.formSeq });
  const found = form === null ? null : projectOfObject(app, form.projectSeq);
  if (form === null || found === null) return null;
  const { project, isEnabled } = found;
  return { form, project, isEnabled, language: languageOf(form, project) };
}

type Behind = { form: FormRow; project: Project; language: FormLanguage };

function showState(app: App, request: Request, status = 200): Response {
  const state = findSubmission(app, tokenIn(request.url));
  const behind = formBehind(app, state);
  if (behind === null) return plainPage(app, null, request, { ...NOT_FOUND, of: "expired" });
  const { form, language, isEnabled } = behind;
  if (!isEnabled) return plainPage(app, behind, request, { ...NOT_FOUND, of: "closed" });
  if (state.kind === "expired") {
    return plainPage(app, behind, request, { status: 410, of: "expired" });
  }
  if (state.kind !== "waiting") {
    return plainPage(app, behind, request, { status: 200, of: "alreadyConfirmed" });
  }
  const { title, text } = filled(language.form.askConfirm, behind, state.email);
  const { name, value } = BUTTON;
  return documentResponse({
    language: language.texts.language,
    title,
    brand: brandOf(app, behind.project.seq),
    body:
      `<h1>${Bun.escapeHTML(title)}</h1>\n<p>${Bun.escapeHTML(text)}</p>\n` +
      `<form method="post"><button name="${name}" value="${value}">` +
      `${Bun.escapeHTML(language.form.confirm)}</button></form>\n`,
    status,
    mayLeave: form.confirmedUrl !== null,
  });
}

const NOT_FOUND = { status: 404 } as const;

function plainPage(
  app: App,
  behind: Behind | null,
  request: Request,
  {
    status,
    of,
    email = "",
  }: {
    status: number;
    of: "expired" | "closed" | "alreadyConfirmed" | "confirmed";
    email?: string;
  },
): Response {
  const language = behind?.language ?? browserLanguage(request);
  const page = behind === null ? language.form[of] : filled(language.form[of], behind, email);
  const brand = behind === null ? null : brandOf(app, behind.project.seq);
  const shown = { language: language.texts.language, brand, button: null, note: null };
  return pageResponse({ ...shown, ...page }, status);
}

function filled({ title, text }: PageText, { project }: Behind, email: string): PageText {
  const values = { project: project.name, email: email === "" ? "" : maskAddress(email) };
  return { title, text: fillPlaceholders(text, values) };
}

/**
 * The text above the button, for the ledger. The address stays a placeholder, so that the wording is the
 * same for all people.
 */
function wordingOf({ language, project }: Behind): string {
  const { askConfirm, confirm } = language.form;
  const text = fillPlaceholders(askConfirm.text, { project: project.name });
  return [askConfirm.title, text, `[${confirm}]`].join("\n\n");
}

async function act(app: App, asked: Asked): Promise<Response> {
  const { request } = asked;
  const token = tokenIn(request.url);
  const behind = formBehind(app, findSubmission(app, token));
  if (behind === null || !behind.isEnabled) return showState(app, request);
  const posted = await readForm(request, bodiesOf(app).arrivals);
  if (posted.isTooLarge) return brokenPage(behind.language, 413);
  if (posted.fields.get(BUTTON.name) !== BUTTON.value) return showState(app, request, 400);
  const by = {
    form: (seq: number) => findForm(app, { seq }),
    wording: wordingOf(behind),
    clientAddress: clientAddress(app, asked),
  };
  const before = await app.writer.write(() => confirmSubmission(app, token, by));
  const { confirmedUrl } = behind.form;
  const isDone = before.kind === "waiting" || before.kind === "confirmed";
  if (isDone && confirmedUrl !== null) return seeOther(confirmedUrl);
  if (before.kind !== "waiting") return showState(app, request);
  return plainPage(app, behind, request, { status: 200, of: "confirmed", email: before.email });
}
