/**
 * GET  /unsubscribe/{token}    asks; changes nothing, whoever fetches it
 * POST /unsubscribe/{token}    that page's form, or one-click (RFC 8058)
 * GET  /subscribe/{token}      likewise
 * POST /subscribe/{token}
 * GET  /manage/{token}         shows how it is, and offers to change it
 * POST /manage/{token}
 *
 * The token in the address is all it takes: no key, no cookie. Every answer is a page for people.
 */

import { Elysia } from "elysia";
import type { Writer } from "../../db/writer.ts";
import type { Arrivals } from "../../http/body-arrival.ts";
import { readForm } from "../../http/form.ts";
import { badLinkPage, Html, type Page, pageResponse, troublePage } from "../../http/page.ts";
import { AppError } from "../../lib/errors.ts";
import { describeError, type Log } from "../../lib/log.ts";
import { chooseTexts } from "../../mail/language.ts";
import { openToken } from "../../mail/links.ts";
import type { Decision, Holder, Subscriptions } from "./service.ts";
import { ACTION, type PageName, viewOf } from "./view.ts";

const detail = (summary: string) => ({
  response: { 200: Html, 404: Html, 500: Html },
  detail: { tags: ["Recipients"], summary, security: [] },
});
const postDetail = (summary: string) => ({
  ...detail(summary),
  parse: "none" as const,
  response: { ...detail(summary).response, 400: Html, 413: Html, 503: Html },
});
const hidden = { detail: { hide: true } };
const hiddenPost = { ...hidden, parse: "none" as const };

export function subscriptionRoutes(deps: {
  subscriptions: Subscriptions;
  linkKey: Uint8Array;
  writer: Writer;
  arrivals: Arrivals;
  log: Log;
}) {
  const { subscriptions, linkKey, writer, arrivals, log } = deps;

  /** Answers with a page whatever happens; what went wrong is for the log. */
  function answering(
    name: PageName,
    answer: (name: PageName, request: Request) => Response | Promise<Response>,
  ) {
    return async ({ request }: { request: Request }): Promise<Response> => {
      try {
        return await answer(name, request);
      } catch (error) {
        const status = error instanceof AppError ? error.status : 500;
        log.error("a page failed", { page: name, status, error: describeError(error) });
        return respond(request, null, (texts) => troublePage(texts), status);
      }
    };
  }

  function show(name: PageName, request: Request): Response {
    const holder = holderOf(request);
    if (holder === null) return respond(request, null, badLinkPage, 404);
    return respond(request, holder, (texts) => viewOf(texts, name, { holder, hasActed: false }));
  }

  async function act(name: PageName, request: Request): Promise<Response> {
    const emailId = emailIdIn(request);
    const holder = emailId === null ? null : subscriptions.find(emailId);
    if (emailId === null || holder === null) return respond(request, null, badLinkPage, 404);
    const form = await readForm(request, arrivals);
    if (form.isTooLarge) return respond(request, holder, troublePage, 413);
    const decision = decisionIn(form.fields, name);
    const view = { holder, hasActed: decision !== null };
    if (decision === null) {
      return respond(request, holder, (texts) => viewOf(texts, name, view), 400);
    }
    const after = await writer.write(subscriptions.decide(emailId, decision));
    const now = after ?? holder;
    return respond(request, now, (texts) => viewOf(texts, name, { ...view, holder: now }));
  }

  function holderOf(request: Request): Holder | null {
    const emailId = emailIdIn(request);
    return emailId === null ? null : subscriptions.find(emailId);
  }

  function emailIdIn(request: Request): string | null {
    return openToken(linkKey, tokenIn(request.url));
  }

  const onGet = (name: PageName) => answering(name, show);
  const onPost = (name: PageName) => answering(name, act);

  return (
    new Elysia({ name: "subscription-routes" })
      .get("/unsubscribe/:token", onGet("unsubscribe"), detail("Page: unsubscribe?"))
      .post(
        "/unsubscribe/:token",
        onPost("unsubscribe"),
        postDetail("Unsubscribe, or take it back"),
      )
      .get("/subscribe/:token", onGet("subscribe"), detail("Page: subscribe?"))
      .post("/subscribe/:token", onPost("subscribe"), postDetail("Subscribe, or take it back"))
      .get("/manage/:token", onGet("manage"), detail("Page: the subscription as it is"))
      .post("/manage/:token", onPost("manage"), postDetail("Subscribe or unsubscribe"))
      // Links that were cut off or had something added: people read a page, not JSON.
      .get("/unsubscribe/*", onGet("unsubscribe"), hidden)
      .post("/unsubscribe/*", onPost("unsubscribe"), hiddenPost)
      .get("/subscribe/*", onGet("subscribe"), hidden)
      .post("/subscribe/*", onPost("subscribe"), hiddenPost)
      .get("/manage/*", onGet("manage"), hidden)
      .post("/manage/*", onPost("manage"), hiddenPost)
  );
}

/** The language is the project's; without one, the reader's. */
function respond(
  request: Request,
  holder: Holder | null,
  view: (texts: ReturnType<typeof chooseTexts>) => Page,
  status = 200,
): Response {
  const accepted = request.headers.get("accept-language");
  return pageResponse(view(chooseTexts(holder?.language ?? null, accepted)), status);
}

/** What follows the page's name; a full stop or bracket that a mail program took along is not part. */
function tokenIn(url: string): string {
  return /^[^/]+\/\/[^/]+\/[a-z]+\/([\w-]*)/.exec(url)?.[1] ?? "";
}

/** What a form asks for; null where it asks for nothing that we know. */
function decisionIn(fields: ReadonlyMap<string, string>, name: PageName): Decision | null {
  const action = fields.get(ACTION);
  if (action === "subscribe" || action === "unsubscribe") {
    return { isSubscribed: action === "subscribe", via: "page" };
  }
  const isOneClick = name === "unsubscribe" && fields.get("List-Unsubscribe") === "One-Click";
  return isOneClick ? { isSubscribed: false, via: "one-click" } : null;
}
