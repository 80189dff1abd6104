/**
 * The pages behind the unsubscribe and subscribe links of a mail.
 *
 * GET  /unsubscribe/{token}    shows a page with a button; changes nothing
 * POST /unsubscribe/{token}    the form of that page, or a one-click request (RFC 8058)
 * GET  /subscribe/{token}      shows a page with a button; changes nothing
 * POST /subscribe/{token}      the form of that page
 *
 * 1. The signed token of the link names the mail and so its recipient. It is the only authentication:
 *    no key and no cookie is needed.
 * 2. A POST is parsed to a decision, which is applied to the contact in one change.
 * 3. `view.ts` builds the page that the recipient sees. Every answer is an HTML page.
 */

import { Elysia } from "elysia";
import type { App } from "../../core/app.ts";
import { openSignedId } from "../../core/signed-ids.ts";
import type { TrackingMode } from "../../db/schema/projects.ts";
import { statement } from "../../db/statement.ts";
import { bodiesOf } from "../../http/body.ts";
import { MAX_FORM_BYTES } from "../../http/body-limits.ts";
import { describeOperations, undocumented } from "../../http/documented.ts";
import { clientAddress } from "../../http/client-address.ts";
import { readForm } from "../../http/form.ts";
import type { Brand } from "../../http/brand.ts";
import type { Incoming } from "../../http/incoming.ts";
import { badLinkPage, errorPage, Html, type Page, pageResponse } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError } from "../../lib/log.ts";
import { chooseTexts, type Texts } from "../../render/language.ts";
import { isInTopic } from "../../outbox/topic-state.ts";
import { openToken } from "../../render/links.ts";
import { preferenceTexts } from "../../render/preference-texts.ts";
import { brandOf } from "../branding.ts";
import type { ConsentSource } from "../consents/record.ts";
import { contactLanguage } from "../contacts/language.ts";
import { type ConsentCause, type ContactRow, contactService } from "../contacts/service.ts";
import type { Noun } from "../module.ts";
import { setChoice, topicOfMail, type TopicRow } from "../topics/choices.ts";
import { ensureStorage } from "../quotas.ts";
import { ACTION, ACTIONS, buildPage, type PageName, wordingOf } from "./view.ts";

/** The form of the pages, which mail programs also send for one click (RFC 8058 §3.1). */
const PAGE_FORM = {
  required: true,
  content: {
    "application/x-www-form-urlencoded": {
      schema: {
        "x-name": "SubscriptionForm",
        "x-max-body-bytes": MAX_FORM_BYTES,
        type: "object" as const,
        description: "The button that a recipient pressed; one of both fields",
        additionalProperties: true,
        properties: {
          action: {
            type: "string" as const,
            enum: [...ACTIONS],
            description:
              "The change, from a button of a page; with a topic of the mail, unsubscribe is for this " +
              "topic, and unsubscribe-all for all marketing mail",
          },
          "List-Unsubscribe": {
            type: "string" as const,
            enum: ["One-Click"],
            description: "Unsubscribes, as the action unsubscribe; sent by mail programs",
          },
        },
        examples: [{ action: "unsubscribe" }],
      },
    },
  },
};

const parameters = { token: "The signed token in the link of a mail" };
const SHOWS = "Changes nothing, so that programs that follow links do no harm.";
const ACTS = "The button of the page; it can be pressed again without harm.";

const DETAILS = describeOperations(
  { tag: "Recipients" },
  {
    showUnsubscribePage: {
      role: "ANYONE",
      summary: "Page that offers to unsubscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    unsubscribe: {
      role: "ANYONE",
      summary: "Unsubscribe, or subscribe again",
      description: `${ACTS} Mail programs send the same request for one-click unsubscription.`,
      parameters,
      security: [],
    },
    showSubscribePage: {
      role: "ANYONE",
      summary: "Page that offers to subscribe",
      description: SHOWS,
      parameters,
      security: [],
    },
    subscribe: {
      role: "ANYONE",
      summary: "Subscribe, or unsubscribe again",
      description: ACTS,
      parameters,
      security: [],
    },
  },
);

const PAGES = { 200: Html, 404: Html, 500: Html };
const PAGES_OF_FORM = { ...PAGES, 400: Html, 409: Html, 413: Html, 503: Html };

type Detail = (typeof DETAILS)[keyof typeof DETAILS];
const documented = (detail: Detail) => ({ response: PAGES, detail });
const documentedPost = (detail: Detail) => ({
  response: PAGES_OF_FORM,
  parse: "none" as const,
  detail: { ...detail, requestBody: PAGE_FORM },
});
const hidden = { detail: undocumented("ANYONE") };
const hiddenPost = { ...hidden, parse: "none" as const };

export const subscriptionNoun: Noun = {
  name: "subscription",
  routes: (app) => [subscriptionRoutes(app)],
};

function subscriptionRoutes(app: App) {
  const onGet = (name: PageName) => withErrorPage(app, name, show);
  const onPost = (name: PageName) => withErrorPage(app, name, act);
  return (
    new Elysia({ name: "subscription-routes" })
      .get("/unsubscribe/:token", onGet("unsubscribe"), documented(DETAILS.showUnsubscribePage))
      .post("/unsubscribe/:token", onPost("unsubscribe"), documentedPost(DETAILS.unsubscribe))
      .get("/subscribe/:token", onGet("subscribe"), documented(DETAILS.showSubscribePage))
      .post("/subscribe/:token", onPost("subscribe"), documentedPost(DETAILS.subscribe))
      // Broken links, cut off or with text added, get an HTML page instead of a JSON error.
      .get("/unsubscribe/*", onGet("unsubscribe"), hidden)
      .post("/unsubscribe/*", onPost("unsubscribe"), hiddenPost)
      .get("/subscribe/*", onGet("subscribe"), hidden)
      .post("/subscribe/*", onPost("subscribe"), hiddenPost)
  );
}

type Asked = Pick<Incoming, "request" | "server">;
type Answer = (app: App, name: PageName, asked: Asked) => Response | Promise<Response>;

/** Answers errors with a page that does not describe them; the log gets the description. */
function withErrorPage(app: App, name: PageName, answer: Answer) {
  return async ({ request, server }: Asked): Promise<Response> => {
    try {
      return await answer(app, name, { request, server });
    } catch (error) {
      const status = error instanceof AppError ? error.status : 500;
      app.log.error("a subscription page failed", {
        page: name,
        status,
        error: describeError(error),
      });
      return respond(request, null, errorPage, status);
    }
  };
}

function show(app: App, name: PageName, { request }: Asked): Response {
  const recipient = recipientOf(app, emailIdIn(app, request));
  if (recipient === null) return respond(request, null, badLinkPage, 404);
  return respond(request, recipient, (texts) =>
    buildPage(texts, name, { recipient, hasActed: false }),
  );
}

async function act(app: App, name: PageName, asked: Asked): Promise<Response> {
  const { request } = asked;
  const emailId = emailIdIn(app, request);
  const recipient = recipientOf(app, emailId);
  if (recipient === null) return respond(request, null, badLinkPage, 404);
  const form = await readForm(request, bodiesOf(app).arrivals);
  if (form.isTooLarge) return respond(request, recipient, errorPage, 413);
  const decision = decisionIn(form, name);
  if (decision === null) {
    const view = { recipient, hasActed: false };
    return respond(request, recipient, (texts) => buildPage(texts, name, view), 400);
  }
  const texts = textsFor(request, recipient);
  const consent = {
    source: { type: sourceOf(decision), id: emailId },
    clientAddress: clientAddress(app, asked),
    wording: decision.via === "page" ? wordingOf(texts, name, recipient) : null,
  };
  const decided = await app.writer.write(() => decide(app, emailId, { ...decision, consent }));
  const updated = decided ?? recipient;
  const view = { recipient: updated, hasActed: true };
  return respond(request, updated, (texts) => buildPage(texts, name, view));
}

export function emailIdIn(app: App, request: Request): string | null {
  return openSignedId(app, ({ linkKey }) => openToken(linkKey, tokenIn(request.url)));
}

function respond(
  request: Request,
  recipient: Recipient | null,
  view: (texts: ReturnType<typeof chooseTexts>) => Page,
  status = 200,
): Response {
  const texts = textsFor(request, recipient);
  const page = view(texts);
  if (recipient === null || recipient.contact === null) return pageResponse(page, status);
  const link = { href: `../manage/${tokenIn(request.url)}`, label: preferenceTexts(texts).choose };
  return pageResponse({ ...page, link }, status);
}

/** The language of the contact, else that of the project; without a recipient, that of the browser. */
export function textsFor(request: Request, recipient: Recipient | null): Texts {
  const own = recipient?.contact ? contactLanguage(recipient.contact) : null;
  const accepted = request.headers.get("accept-language");
  return chooseTexts(own ?? recipient?.language ?? null, accepted);
}

function sourceOf({ isSubscribed, via }: Decision): ConsentSource["type"] {
  if (via === "one-click") return "ONE_CLICK";
  return isSubscribed ? "SUBSCRIBE_LINK" : "UNSUBSCRIBE_LINK";
}

/**
 * Returns the token after the page's name, without a full stop or bracket that a mail program
 * included in the link.
 */
function tokenIn(url: string): string {
  return /^[^/]+\/\/[^/]+\/[a-z]+\/([\w-]*)/.exec(url)?.[1] ?? "";
}

/**
 * Returns the decision that a form holds; null if it holds none. A request without a body is one of a
 * mail program, because the buttons of the page have a value.
 */
function decisionIn(
  { fields, isEmpty }: { fields: ReadonlyMap<string, string>; isEmpty: boolean },
  name: PageName,
): Decision | null {
  const given = fields.get(ACTION);
  const action = ACTIONS.find((each) => each === given);
  if (action !== undefined) {
    const isForAll = action === "unsubscribe-all";
    return { isSubscribed: action === "subscribe", isForAll, via: "page" };
  }
  const isOneClick = isEmpty || fields.get("List-Unsubscribe") === "One-Click";
  return isOneClick && name === "unsubscribe"
    ? { isSubscribed: false, isForAll: false, via: "one-click" }
    : null;
}

/** The mail that a link belongs to, with its project and the contact whom the link changes. */
export type Recipient = {
  emailSeq: number;
  emailId: string;
  brand: Brand;
  /** BCP 47 tag of the project's language. */
  language: string;
  /** The mail in which the project records opens and clicks. */
  tracking: TrackingMode;
  /** The address to which the mail was sent; null if its contact was deleted. */
  to: string | null;
  /** It has another address than the mail if its address was changed. Null if there is none. */
  contact: ContactRow | null;
  /** The topic of the mail, and whether the contact is in it; null for none. */
  topic: { row: TopicRow; name: string; isIn: boolean } | null;
};

type Decision = {
  isSubscribed: boolean;
  /** True for all marketing mail, false for the topic of the mail if it has one. */
  isForAll: boolean;
  /** The button of our page, or the one-click request of a mail program (RFC 8058). */
  via: "page" | "one-click";
};

type Mail = Omit<Recipient, "contact" | "brand" | "topic"> & {
  projectSeq: number;
  contactSeq: number | null;
};

const findMail = statement<Mail, [string]>(`
  SELECT e.seq AS emailSeq, e.id AS emailId, e.project_seq AS projectSeq, e.contact_seq AS contactSeq,
         e.to_address AS "to", p.language, p.tracking
  FROM emails e JOIN projects p ON p.seq = e.project_seq WHERE e.id = +?`);

export function recipientOf(app: App, emailId: string | null): Recipient | null {
  const mail = emailId === null ? null : findMail(app).get(emailId);
  const brand = mail === null ? null : brandOf(app, mail.projectSeq);
  if (mail === null || brand === null) return null;
  const contact = contactService(app).findRecipient(mail);
  const row = topicOfMail(app, mail.emailSeq);
  if (row === null) return { ...mail, brand, contact, topic: null };
  const isIn = contact !== null && isInTopic(app, { topicSeq: row.seq, contactSeq: contact.seq });
  return { ...mail, brand, contact, topic: { row, name: row.name, isIn } };
}

/**
 * Part of a change: returns the recipient after the decision. To unsubscribe is to leave the topic of
 * the mail, or all marketing mail if it has none; to subscribe is to join both. A decision that the
 * contact already has changes nothing. Null if the mail does not exist. An unsubscription is always
 * stored; a subscription is refused with 409 if strangers have filled their part of the storage quota,
 * because a person with the link could change between both for ever.
 */
function decide(
  app: App,
  emailId: string | null,
  { isSubscribed, isForAll, via, consent }: Decision & { consent: ConsentCause },
): Recipient | null {
  const recipient = recipientOf(app, emailId);
  if (recipient === null || recipient.contact === null) return recipient;
  const { contact, emailSeq } = recipient;
  const topic = isForAll ? null : (recipient.topic?.row ?? null);
  if (isSubscribed) ensureStorage(app, contact.projectSeq, true);
  const cause = { emailSeq, data: { via }, consent };
  if (topic !== null) setChoice(app, contact, { topic, isSubscribed, cause });
  if (topic === null || isSubscribed) {
    contactService(app).setSubscription(contact, isSubscribed, cause);
  }
  return recipientOf(app, emailId);
}
