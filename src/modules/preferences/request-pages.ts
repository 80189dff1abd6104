/**
 * The pages behind the links in the mails of requests.ts. GET shows a page with a button and changes
 * nothing, because programs that check mail follow links. POST, the button, carries out the request,
 * and takes the use of the link in the same change, so that this happens once.
 */

import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { bodiesOf } from "../../http/body.ts";
import { MAX_FORM_BYTES } from "../../http/body-limits.ts";
import type { Brand } from "../../http/brand.ts";
import { clientAddress } from "../../http/client-address.ts";
import { describeOperations } from "../../http/documented.ts";
import { readForm } from "../../http/form.ts";
import { errorPage, type Page, pageResponse } from "../../http/page.ts";
import { chooseTexts, fillPlaceholders, type PageText, type Texts } from "../../render/language.ts";
import { type PreferenceTexts, preferenceTexts } from "../../render/preference-texts.ts";
import { brandOf } from "../branding.ts";
import { contactLanguage } from "../contacts/language.ts";
import { type ContactRow, contactService } from "../contacts/service.ts";
import { erasePerson } from "../privacy/erasures.ts";
import { exportPerson } from "../privacy/export.ts";
import { projectBySeq } from "../projects.ts";
import { changeAddress } from "./change-address.ts";
import { answering, PAGES, PAGES_OF_FORM, type Asked } from "./page-errors.ts";
import { dayText } from "./preference-page.ts";
import { findRequest, type PreferenceRequest, requestByMail, useRequest } from "./requests.ts";

/** The field of the buttons, and their values: `view` shows the data instead of a file with them. */
const FIELD = "action";
const ACTIONS = ["confirm", "view"] as const;
type Action = (typeof ACTIONS)[number];

const FORM = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "PreferenceRequestForm",
        "x-max-body-bytes": MAX_FORM_BYTES,
        type: "object" as const,
        description: "The button of the page",
        required: ["action"],
        additionalProperties: true,
        properties: {
          action: { type: "string" as const, enum: [...ACTIONS], description: "The button" },
        },
        examples: [{ action: "confirm" }],
      },
    },
  },
};

const parameters = { token: "The random token in the link of a mail" };

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    showPreferenceRequest: {
      role: "ANYONE",
      summary: "Page that asks a recipient to confirm a request",
      description: "Changes nothing, so that programs that follow links do no harm.",
      parameters,
      security: [],
    },
    confirmPreferenceRequest: {
      role: "ANYONE",
      summary: "Confirm the request of a recipient",
      description: "What the mail with the link was about. The link works for a day.",
      parameters,
      security: [],
    },
  },
);

export function requestPages(app: App) {
  return new Elysia({ name: "preference-request-routes" })
    .get("/preference-requests/:token", answering(app, show), {
      response: PAGES,
      detail: DETAILS.showPreferenceRequest,
    })
    .post("/preference-requests/:token", answering(app, confirm), {
      response: PAGES_OF_FORM,
      parse: "none",
      detail: { ...DETAILS.confirmPreferenceRequest, requestBody: FORM },
    });
}

/** A request with the data that its pages show. */
type Opened = {
  request: PreferenceRequest;
  contact: ContactRow;
  brand: Brand;
  texts: Texts;
  words: PreferenceTexts;
};

function open(app: App, { request: asked }: Asked): Opened | null {
  const request = findRequest(app, tokenIn(asked.url));
  const contact = request === null ? null : contactService(app).findBySeq(request.contactSeq);
  const brand = request === null ? null : brandOf(app, request.projectSeq);
  if (request === null || contact === null || brand === null) return null;
  const { language } = projectBySeq(app, request.projectSeq);
  const accepted = asked.headers.get("accept-language");
  const texts = chooseTexts(contactLanguage(contact) ?? language, accepted);
  return { request, contact, brand, texts, words: preferenceTexts(texts) };
}

const tokenIn = (url: string): string =>
  /^[^/]+\/\/[^/]+\/preference-requests\/(\w*)/.exec(url)?.[1] ?? "";

function show(app: App, asked: Asked): Response {
  const opened = open(app, asked);
  return opened === null ? linkOver(asked) : question(opened);
}

/** A link that was used up, is too old, or belongs to a person whose data was deleted. */
function linkOver({ request }: Asked): Response {
  const texts = chooseTexts(null, request.headers.get("accept-language"));
  const { title, text } = preferenceTexts(texts).linkOver;
  const page = { language: texts.language, title, text, brand: null, button: null, note: null };
  return pageResponse(page, 404);
}

function question(opened: Opened, status = 200): Response {
  const { words, request } = opened;
  const { text, label } = {
    EXPORT: { text: words.askExport, label: words.download },
    ERASURE: { text: words.askErasure, label: words.erase },
    ADDRESS: { text: words.askAddress, label: words.acceptAddress },
    NEW_ADDRESS: { text: words.askNewAddress, label: words.confirmAddress },
  }[request.kind];
  const button = { name: FIELD, value: "confirm", label, isMain: true };
  const page = pageOf(opened, text, button);
  if (request.kind !== "EXPORT") return pageResponse(page, status);
  const secondButton = { name: FIELD, value: "view", label: words.view };
  return pageResponse({ ...page, secondButton }, status);
}

/** In these texts, the address is the new one: the person has entered or confirmed it. */
function pageOf(
  { texts, brand, request }: Opened,
  { title, text }: PageText,
  button: Page["button"] = null,
  more: Readonly<Record<string, string>> = {},
): Page {
  const values = { project: brand.name, email: request.newAddress ?? "", ...more };
  const filled = fillPlaceholders(text, values);
  return { language: texts.language, title, text: filled, brand, button, note: null };
}

async function confirm(app: App, asked: Asked): Promise<Response> {
  const opened = open(app, asked);
  if (opened === null) return linkOver(asked);
  const form = await readForm(asked.request, bodiesOf(app).arrivals);
  if (form.isTooLarge) {
    return pageResponse({ ...errorPage(opened.texts), brand: opened.brand }, 413);
  }
  const action = ACTIONS.find((one) => one === form.fields.get(FIELD));
  if (action === undefined) return question(opened, 400);
  const answer = await app.writer.write(() => perform(app, asked, action));
  return answer ?? linkOver(asked);
}

/** Part of a change: carries out the request. Null if the link does not work any more. */
function perform(app: App, asked: Asked, action: Action): Response | null {
  const opened = open(app, asked);
  if (opened === null) return null;
  const { request, contact, words, brand, texts } = opened;
  const { newAddress } = request;
  useRequest(app, request);
  if (request.kind === "EXPORT") {
    return exportPerson(
      app,
      contact,
      action === "view" ? { format: "html", texts } : { format: "json" },
    );
  }
  if (request.kind === "ERASURE") return erase(app, opened);
  if (newAddress === null) throw new Error("a change of address has no address");
  if (request.kind === "ADDRESS") {
    requestByMail(app, { contact, kind: "NEW_ADDRESS", newAddress }, { brand, texts });
    return pageResponse(pageOf(opened, words.addressAccepted), 200);
  }
  const consent = {
    source: { type: "PREFERENCES" as const },
    clientAddress: clientAddress(app, asked),
  };
  changeAddress(app, contact, newAddress, { consent, page: { brand, texts } });
  return pageResponse(pageOf(opened, words.addressChanged), 200);
}

/** Part of a change: erases the person, and shows the number of the receipt. */
function erase(app: App, opened: Opened): Response {
  const { contact, words, texts } = opened;
  const { projectSeq, email } = contact;
  const receipt = erasePerson(app, { projectSeq, email }, { kind: "PERSON" });
  const date = dayText(texts.language, receipt.requestedAt);
  return pageResponse(pageOf(opened, words.erased, null, { date, receipt: receipt.id }), 200);
}
